import { shardOf } from '../../domain/shard';
import type { Page, PageQuery } from '../../ports';
import { readCursor, writeCursor } from './cursor';
import type { Database, Key, TextTable } from './database';

/** What waits for an instant. `ids` begin with the job's, by which the shard is chosen. */
interface DueEntry {
  ids: readonly string[];
  dueAt: number;
}

/**
 * A sparse index over a table: what is due, by shard and instant. Holds nothing for rows that wait for nothing.
 * `set` is for use inside a change, next to the row's own write.
 */
export class DueIndex {
  readonly #name: string;
  readonly #table: TextTable;
  readonly #shards: number;
  readonly #shape: readonly ('string' | 'number')[];

  /** `entries` gives the whole content anew, for when the number of shards is not that of the last time. */
  constructor(database: Database, name: string, shards: number, idsEach: number, entries: () => Iterable<DueEntry>) {
    this.#name = name;
    this.#table = database.table(name);
    this.#shards = shards;
    this.#shape = ['number', ...Array.from({ length: idsEach }, () => 'string' as const)];
    const settings = database.table('settings');
    const setting = `${name}-shards`;
    if (settings.get(setting) === String(shards)) return;
    settings.transactionSync(() => {
      this.#table.clearSync();
      for (const { ids, dueAt } of entries()) this.#table.putSync(this.#key(ids, dueAt), '');
      settings.putSync(setting, String(shards));
    });
  }

  set(ids: readonly string[], before: number | undefined, after: number | undefined): void {
    if (before === after) return;
    if (before !== undefined) this.#table.removeSync(this.#key(ids, before));
    if (after !== undefined) this.#table.putSync(this.#key(ids, after), '');
  }

  page(query: PageQuery & { shard: number; until: number }): Page<DueEntry> {
    const { shard, until, limit } = query;
    const list = `${this.#name}#${shard}`;
    const from = query.cursor === undefined ? undefined : readCursor(list, this.#shape, query.cursor);
    const items: DueEntry[] = [];
    // One beyond the page tells whether there is a next.
    for (const key of this.#table.getKeys({
      start: from === undefined ? [shard] : [shard, ...from],
      exclusiveStart: from !== undefined,
      end: [shard, until, LAST],
      limit: limit + 1,
    })) {
      const [, dueAt, ...ids] = key as [number, number, ...string[]];
      items.push({ dueAt, ids });
    }
    if (items.length <= limit) return { items };
    items.length = limit;
    const last = items[limit - 1]!;
    return { items, cursor: writeCursor(list, [last.dueAt, ...last.ids]) };
  }

  #key(ids: readonly string[], dueAt: number): Key {
    return [shardOf(ids[0]!, this.#shards), dueAt, ...ids];
  }
}

/** Sorts after every id. */
export const LAST = '\u{10ffff}';
