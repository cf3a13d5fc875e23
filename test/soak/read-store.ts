import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import type { Key, TextTable } from '../../src/adapters/local/database';

export interface StoreTables {
  names: readonly string[];
  table: (name: string) => TextTable;
}

export function storeFile(directory: string): string {
  return join(directory, 'store.mdb');
}

/** Reads the store beside the process that holds it, and lets go of it at once: an old reader keeps old pages. */
export async function readStore<Seen>(directory: string, look: (tables: StoreTables) => Seen): Promise<Seen> {
  const root: RootDatabase<string, Key> = open({
    path: storeFile(directory),
    readOnly: true,
    maxDbs: 64,
    encoding: 'string',
  });
  try {
    const names = [...root.getKeys()].map(String).filter((name) => name !== 'format');
    return look({ names, table: (name) => root.openDB<string, Key>(name, { encoding: 'string' }) });
  } finally {
    await root.close();
  }
}
