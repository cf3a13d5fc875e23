import { cachedSubscriptions } from '../../src/operations/cached-subscriptions';
import { STATES_OF_ALL, statesSubscribedOfAll } from '../../src/operations/subscriptions';
import type { ControlEntry, ControlStore } from '../../src/ports';
import { NOON } from '../support/builders';
import { HandClock } from '../support/hand-clock';

const entryOf = (value: string, name = STATES_OF_ALL): ControlEntry => ({ name, value, expiresAt: Infinity });

let clock: HandClock;
let entries: Map<string, ControlEntry>;
let reads: string[];
let fails: boolean;
let control: ControlStore;

beforeEach(() => {
  clock = new HandClock(NOON);
  entries = new Map();
  reads = [];
  fails = false;
  const store: ControlStore = {
    async read(name) {
      reads.push(name);
      if (fails) throw new Error('throttled');
      return entries.get(name);
    },
    async put(entry, seen) {
      if (fails) throw new Error('throttled');
      if (entries.get(entry.name)?.value !== seen?.value) return false;
      entries.set(entry.name, entry);
      return true;
    },
  };
  control = cachedSubscriptions(store, clock);
});

test('the states of all jobs are read once in five seconds, also where nobody subscribed, and by many at once', async () => {
  const asked = await Promise.all([1, 2, 3].map(() => statesSubscribedOfAll({ control })));
  expect(asked).toEqual([[], [], []]);
  await clock.advance(4_999);
  await statesSubscribedOfAll({ control });
  expect(reads).toHaveLength(1);
  entries.set(STATES_OF_ALL, entryOf('{"writes":1,"states":["FAILED"]}'));
  await clock.advance(1);
  expect(await statesSubscribedOfAll({ control })).toEqual(['FAILED']);
  expect(reads).toHaveLength(2);
});

test('every other entry is read each time, and written through', async () => {
  const lock = entryOf('me', 'unique:key');
  expect(await control.read(lock.name)).toBeUndefined();
  expect(await control.put(lock)).toBe(true);
  expect(await control.read(lock.name)).toEqual(lock);
  expect(await control.put(entryOf('other', lock.name))).toBe(false);
  expect(reads).toEqual([lock.name, lock.name]);
});

test('who writes the states reads them anew afterwards, whether the write was won, lost or failed', async () => {
  expect(await control.read(STATES_OF_ALL)).toBeUndefined();
  entries.set(STATES_OF_ALL, entryOf('["DONE"]'));
  expect(await control.put(entryOf('["FAILED"]'))).toBe(false);
  const seen = await control.read(STATES_OF_ALL);
  expect(seen?.value).toBe('["DONE"]');
  expect(await control.put(entryOf('["DONE","FAILED"]'), seen)).toBe(true);
  expect((await control.read(STATES_OF_ALL))?.value).toBe('["DONE","FAILED"]');
  fails = true;
  await expect(control.put(entryOf('[]'), seen)).rejects.toThrow('throttled');
  fails = false;
  entries.set(STATES_OF_ALL, entryOf('[]'));
  expect((await control.read(STATES_OF_ALL))?.value).toBe('[]');
});

test('a read that failed is not remembered', async () => {
  fails = true;
  await expect(control.read(STATES_OF_ALL)).rejects.toThrow('throttled');
  fails = false;
  entries.set(STATES_OF_ALL, entryOf('["DONE"]'));
  expect((await control.read(STATES_OF_ALL))?.value).toBe('["DONE"]');
});
