import type { ControlEntry, ControlStore } from '../../src/ports';
import { freshId, type Adapter } from './contract';

export type ControlStoreAdapter = Adapter & { store: ControlStore };

/** An entry's end is looked at in whole seconds by some stores, so these tests pass it by more than a second. */
const LIFE_MS = 1_000;
const WELL_PAST_MS = 2_500;

export function describeControlStoreContract(name: string, makeAdapter: () => Promise<ControlStoreAdapter>): void {
  describe(`the control store contract, ${name}`, () => {
    let adapter: ControlStoreAdapter;
    let store: ControlStore;
    beforeAll(async () => {
      adapter = await makeAdapter();
      store = adapter.store;
    });
    afterAll(() => adapter.close());

    const anEntry = (fields: Partial<ControlEntry> = {}): ControlEntry => ({
      name: freshId('control'),
      value: 'one',
      expiresAt: adapter.clock.now() + 3_600_000,
      ...fields,
    });

    test('an entry that was never written is absent', async () => {
      expect(await store.read(freshId('control'))).toBeUndefined();
    });

    test('an entry comes back as it was written, whatever its name and value hold', async () => {
      const entry = anEntry({ name: `${freshId('name')}#/ 'ü' 👩‍👧`, value: '{"a":[1,"ü\\u0000 👩‍👧"]}' });
      expect(await store.put(entry)).toBe(true);
      expect(await store.read(entry.name)).toEqual(entry);
    });

    test('an empty value is a value', async () => {
      const entry = anEntry({ value: '' });
      expect(await store.put(entry)).toBe(true);
      expect(await store.read(entry.name)).toEqual(entry);
      expect(await store.put({ ...entry, value: 'two' })).toBe(false);
      expect(await store.put({ ...entry, value: 'two' }, entry)).toBe(true);
    });

    test('a put without a predecessor is lost where an entry stands', async () => {
      const entry = anEntry();
      await store.put(entry);
      expect(await store.put({ ...entry, value: 'two' })).toBe(false);
      expect(await store.read(entry.name)).toEqual(entry);
    });

    test('a put replaces what has the value that was seen, and nothing else', async () => {
      const entry = anEntry();
      expect(await store.put({ ...entry, value: 'two' }, entry)).toBe(false);
      expect(await store.read(entry.name)).toBeUndefined();
      await store.put(entry);
      expect(await store.put({ ...entry, value: 'three' }, { ...entry, value: 'two' })).toBe(false);
      expect(await store.put({ ...entry, value: 'two' }, entry)).toBe(true);
      expect((await store.read(entry.name))?.value).toBe('two');
    });

    test('only the value that was seen counts, not its end', async () => {
      const entry = anEntry();
      await store.put(entry);
      const longer = { ...entry, expiresAt: entry.expiresAt + 60_000 };
      expect(await store.put(longer, { ...entry, expiresAt: 1 })).toBe(true);
      expect(await store.read(entry.name)).toEqual(longer);
    });

    test('of many that want an absent name at once, exactly one gets it', async () => {
      const entry = anEntry();
      const won = await Promise.all(
        Array.from({ length: 12 }, (_, index) => store.put({ ...entry, value: `rival ${index}` })),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect((await store.read(entry.name))?.value).toBe(`rival ${won.indexOf(true)}`);
    });

    test('of many that saw the same value, exactly one replaces it', async () => {
      const entry = anEntry();
      await store.put(entry);
      const won = await Promise.all(
        Array.from({ length: 12 }, (_, index) => store.put({ ...entry, value: `rival ${index}` }, entry)),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    test('an entry past its end reads as absent and can be taken anew, but not replaced', async () => {
      const entry = anEntry({ expiresAt: adapter.clock.now() + LIFE_MS });
      const untouched = anEntry();
      await Promise.all([store.put(entry), store.put(untouched)]);
      await adapter.advance(WELL_PAST_MS);
      expect(await store.read(entry.name)).toBeUndefined();
      expect(await store.read(untouched.name)).toEqual(untouched);
      const next = anEntry({ name: entry.name, value: 'two' });
      expect(await store.put(next, entry)).toBe(false);
      expect(await store.put(next)).toBe(true);
      expect(await store.read(entry.name)).toEqual(next);
    });
  });
}
