import { InvalidCursorError } from '../../ports';

/** The longest that is given out has about 300 characters. A key of the store has at most 1,978 bytes, and this keeps any within. */
const LONGEST_CURSOR = 1_000;

/** Where a page ended: the key of its last item, and of what list. Opaque to callers. */
export function writeCursor(list: string, key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url');
}

/**
 * The key at which a page ended.
 * @param shape one `typeof` per part of the key
 * @throws InvalidCursorError for anything that `writeCursor` did not give out for this list
 */
export function readCursor(list: string, shape: readonly ('string' | 'number')[], cursor: string): (string | number)[] {
  let parts: unknown;
  try {
    if (cursor.length <= LONGEST_CURSOR) parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    parts = undefined;
  }
  if (Array.isArray(parts) && parts.length === shape.length + 1 && parts[0] === list) {
    const key = parts.slice(1) as (string | number)[];
    if (key.every((part, index) => typeof part === shape[index]) && writeCursor(list, key) === cursor) return key;
  }
  throw new InvalidCursorError(`The cursor ${JSON.stringify(cursor.slice(0, 60))} was not given out for this list`);
}
