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

/** The longest that is given out has about 800 characters; what nests deeper than this lets would overflow the stack below. */
const LONGEST_CURSOR = 2_000;
/** DynamoDB refuses a key that is empty or longer, and calls the request wrong that brings it. */
const LONGEST_KEY_BYTES = 1_024;

/**
 * @param types the key attributes that this list's cursors have, each with its type
 * @param fixed those of them that are the same in the whole list: beyond it DynamoDB does not begin
 * @throws InvalidCursorError for anything that is not a cursor of this list
 */
function decodeCursor(
  scope: readonly unknown[],
  types: Record<string, 'string' | 'number'>,
  fixed: PageKey,
  cursor: string,
): PageKey {
  const invalid = new InvalidCursorError('this cursor was not given out by this list');
  if (cursor.length > LONGEST_CURSOR || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw invalid;
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
  const fits = entries.every(
    ([name, value]) =>
      Object.hasOwn(types, name) &&
      typeof value === types[name] &&
      isKeyPart(value as PageKey[string]) &&
      (!Object.hasOwn(fixed, name) || value === fixed[name]),
  );
  if (!fits || entries.length !== Object.keys(types).length) throw invalid;
  return key as PageKey;
}

function isKeyPart(value: string | number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return value !== '' && value.isWellFormed() && Buffer.byteLength(value) <= LONGEST_KEY_BYTES;
}

/** The parts of a request and of an answer that make pages. */
export function startOf(
  cursor: string | undefined,
  scope: readonly unknown[],
  types: Record<string, 'string' | 'number'>,
  fixed: PageKey = {},
) {
  return cursor === undefined ? {} : { ExclusiveStartKey: decodeCursor(scope, types, fixed, cursor) };
}

export function pageOf<Item>(items: Item[], scope: readonly unknown[], lastKey: Record<string, unknown> | undefined) {
  return lastKey === undefined ? { items } : { items, cursor: encodeCursor(scope, lastKey as PageKey) };
}
