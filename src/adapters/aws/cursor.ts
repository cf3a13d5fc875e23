import { InvalidCursorError } from '../../ports';

/** The key that a page ended at. */
type PageKey = Record<string, string | number>;

/**
 * A cursor is the key that the page ended at, bound to the list that it belongs to (`scope`: the list's name and what it was
 * asked for), so that nobody can walk on in another list with it.
 */
export function encodeCursor(scope: readonly unknown[], key: PageKey): string {
  return Buffer.from(JSON.stringify([scope, key])).toString('base64url');
}

/**
 * @param types the key attributes that this list's cursors have, each with its type
 * @throws InvalidCursorError for anything that is not a cursor of this list
 */
function decodeCursor(scope: readonly unknown[], types: Record<string, 'string' | 'number'>, cursor: string): PageKey {
  const invalid = new InvalidCursorError('this cursor was not given out by this list');
  if (!/^[A-Za-z0-9_-]+$/.test(cursor)) throw invalid;
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw invalid;
  }
  if (!Array.isArray(decoded) || decoded.length !== 2) throw invalid;
  const [seenScope, key] = decoded as [unknown, unknown];
  if (JSON.stringify(seenScope) !== JSON.stringify(scope)) throw invalid;
  if (typeof key !== 'object' || key === null) throw invalid;
  const entries = Object.entries(key);
  const fits = entries.every(([name, value]) => Object.hasOwn(types, name) && typeof value === types[name]);
  if (!fits || entries.length !== Object.keys(types).length) throw invalid;
  return key as PageKey;
}

/** The parts of a request and of an answer that make pages. */
export function startOf(
  cursor: string | undefined,
  scope: readonly unknown[],
  types: Record<string, 'string' | 'number'>,
) {
  return cursor === undefined ? {} : { ExclusiveStartKey: decodeCursor(scope, types, cursor) };
}

export function pageOf<Item>(items: Item[], scope: readonly unknown[], lastKey: Record<string, unknown> | undefined) {
  return lastKey === undefined ? { items } : { items, cursor: encodeCursor(scope, lastKey as PageKey) };
}
