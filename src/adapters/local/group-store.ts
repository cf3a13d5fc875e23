import type { Group, GroupKind, GroupPart } from '../../domain/group';
import type { GroupStore, Page, PageQuery } from '../../ports';
import { readCursor, writeCursor } from './cursor';
import type { Database, TextTable } from './database';
import { LAST } from './due-index';

/** Heads that one page of a list looks at, at most. */
const HEADS_PER_PAGE = 1_000;

export class LocalGroupStore implements GroupStore {
  readonly #database: Database;
  readonly #heads: TextTable;
  readonly #parts: TextTable;

  constructor(database: Database) {
    this.#database = database;
    this.#heads = database.table('groups');
    this.#parts = database.table('group-parts');
  }

  async read(groupId: string): Promise<Group | undefined> {
    const text = this.#heads.get(groupId);
    return text === undefined ? undefined : (JSON.parse(text) as Group);
  }

  put(group: Group, seen?: Group): Promise<boolean> {
    return this.#write(this.#heads, group.groupId, group, seen);
  }

  async readPart(groupId: string, partId: string): Promise<GroupPart | undefined> {
    const text = this.#parts.get([groupId, partId]);
    return text === undefined ? undefined : (JSON.parse(text) as GroupPart);
  }

  async readParts(groupId: string): Promise<GroupPart[]> {
    const range = this.#parts.getRange({ start: [groupId], end: [groupId, LAST] });
    return [...range].map(({ value }) => JSON.parse(value) as GroupPart);
  }

  putPart(part: GroupPart, seen?: GroupPart): Promise<boolean> {
    return this.#write(this.#parts, [part.groupId, part.partId], part, seen);
  }

  async list(query: PageQuery & { kind?: GroupKind }): Promise<Page<Group>> {
    const from = query.cursor === undefined ? undefined : readCursor('groups', ['string'], query.cursor);
    const items: Group[] = [];
    let lookedAt = 0;
    let last = '';
    for (const { key, value } of this.#heads.getRange(
      from === undefined ? {} : { start: from[0] as string, exclusiveStart: true },
    )) {
      if (items.length === query.limit || lookedAt === HEADS_PER_PAGE)
        return { items, cursor: writeCursor('groups', [last]) };
      const head = JSON.parse(value) as Group;
      if (query.kind === undefined || head.kind === query.kind) items.push(head);
      lookedAt += 1;
      last = key as string;
    }
    return { items };
  }

  #write(
    table: TextTable,
    key: string | string[],
    row: { revision: number },
    seen: { revision: number } | undefined,
  ): Promise<boolean> {
    const text = JSON.stringify(row);
    return this.#database.change(() => {
      const stands = table.get(key);
      const revision = stands === undefined ? undefined : (JSON.parse(stands) as { revision: number }).revision;
      if (revision !== seen?.revision) return false;
      table.putSync(key, text);
      return true;
    });
  }
}
