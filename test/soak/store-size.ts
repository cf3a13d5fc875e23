import { statSync } from 'node:fs';
import { readStore, storeFile } from './read-store';

export interface StoreSize {
  /** the file, in bytes */
  fileBytes: number;
  /** pages that hold something, in bytes; the rest of the file is free for what comes next */
  usedBytes: number;
  /** by table */
  entries: Record<string, number>;
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
    const entries: Record<string, number> = {};
    let usedBytes = 0;
    for (const name of names) {
      const stats = (table(name) as unknown as { getStats(): TreeStats }).getStats();
      entries[name] = stats.entryCount;
      usedBytes += (stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages) * stats.pageSize;
    }
    return { fileBytes: statSync(storeFile(directory)).size, usedBytes, entries };
  });
}
