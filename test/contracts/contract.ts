import type { Clock, Page } from '../../src/ports';

/** What every adapter brings to a contract test. A contract looks only at ids of its own, so one adapter may serve all its tests. */
export interface Adapter {
  /** the clock that the adapter was given: hand-moved, or the real one */
  clock: Clock;
  /** lets this much time pass on that clock; an adapter under real time really waits */
  advance: (ms: number) => Promise<void>;
  /** until the assertion holds: once for a store whose indexes never lag, for a while with others */
  eventually: (assertion: () => Promise<void>) => Promise<void>;
  close: () => Promise<void>;
}

let drawn = 0;

/** An id that no other test, file or earlier run against the same tables uses. Sorts by drawing within a test file. */
export function freshId(prefix: string): string {
  drawn += 1;
  return `${prefix}-${process.pid.toString(36)}${STARTED_AT.toString(36)}-${drawn.toString().padStart(5, '0')}`;
}

const STARTED_AT = Date.now();

/** Every item of every page; refuses to go round for ever. */
export async function allPages<Item>(page: (cursor?: string) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 10_000; pages += 1) {
    const got = await page(cursor);
    items.push(...got.items);
    if (got.cursor === undefined) return items;
    if (got.cursor === cursor) throw new Error(`The cursor ${cursor} leads to itself`);
    cursor = got.cursor;
  }
  throw new Error('A list without an end');
}

/** `{ cursor }`, or nothing where there is none: for options that know no undefined. */
export function after(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

/** JSON texts that a careless store would change: every digit and every character has to come back. */
export const DELICATE_TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['null', 'null'],
  ['a number beyond 2^53', '{"id":123456789012345678901234567890,"n":9007199254740993}'],
  ['a negative zero and trailing zeros', '[-0.0,-0,1.50,1E+2,0.1000000000000000055511151231257827]'],
  ['emoji and their joiners', '"👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 \u00e9"'],
  ['the last characters of planes 0 and 16', '"\uffff\u{10ffff}"'],
  ['an escaped NUL', '"a\\u0000b"'],
  ['an escaped lone surrogate', '"\\ud800"'],
  ['a byte order mark within', '["\ufeff"]'],
  ['white space as written', ' {\t"a" :\r\n 1 ,"a":2 } '],
  ['an empty string', '""'],
  ['256 KiB of three-byte characters', `"${'€'.repeat((256 * 1024 - 2) / 3)}"`],
];
