import { statSync } from 'node:fs';
import type { Counts } from './counts';
import { readStore, storeFile } from './read-store';

export interface StoreSize {
  /** the file, in bytes */
  fileBytes: number;
  /** by table, in bytes: pages that hold something; the rest of the file is free for what comes next */
  usedBytes: Counts;
  /** by table */
  entries: Counts;
}

interface TreeStats {
  pageSize: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
  entryCount: number;
}

export async function sizeOfStore(directory: string): Promise<StoreSize> {
  return readStore(directory, ({ names, table }) => {
    const entries: Counts = {};
    const usedBytes: Counts = {};
    for (const name of names) {
      const stats = (table(name) as unknown as { getStats(): TreeStats }).getStats();
      entries[name] = stats.entryCount;
      usedBytes[name] = (stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages) * stats.pageSize;
    }
    return { fileBytes: statSync(storeFile(directory)).size, usedBytes, entries };
  });
}
