import type { Group } from '../../src/domain/group';
import { InvalidCursorError, type GroupStore } from '../../src/ports';
import { after, allPages, freshId, type Adapter } from './contract';
import { aGroup, aPart, NOON } from './rows';

export type GroupStoreAdapter = Adapter & { store: GroupStore };

export function describeGroupStoreContract(name: string, makeAdapter: () => Promise<GroupStoreAdapter>): void {
  describe(`the group store contract, ${name}`, () => {
    let adapter: GroupStoreAdapter;
    let store: GroupStore;
    beforeAll(async () => {
      adapter = await makeAdapter();
      store = adapter.store;
    });
    afterAll(() => adapter.close());

    test('what was never written is absent', async () => {
      const groupId = freshId('group');
      expect(await store.read(groupId)).toBeUndefined();
      expect(await store.readPart(groupId, '0')).toBeUndefined();
      expect(await store.readParts(groupId)).toEqual([]);
    });

    test('a head comes back as it was written, with every optional field', async () => {
      const group = aGroup({
        kind: 'chain',
        state: 'FAILED',
        name: 'state',
        callbacks: { then: 'arn:then', catch: 'arn:catch', finally: 'arn:finally', progress: 'arn:progress' },
        allowFailures: true,
        parts: { '0': 7, '1': -3, 'abc#1': 0 },
        finishedAt: NOON + 1,
        cancelledAt: NOON + 2,
        stoppedAt: NOON + 3,
        percent: 0,
      });
      expect(await store.put(group)).toBe(true);
      expect(await store.read(group.groupId)).toEqual(group);
    });

    test('the parts of a head keep their order', async () => {
      const parts = Object.fromEntries(['p9', 'p10', 'p1', 'a'].map((partId, index) => [partId, index]));
      const group = aGroup({ parts });
      await store.put(group);
      expect(Object.keys((await store.read(group.groupId))!.parts)).toEqual(['p9', 'p10', 'p1', 'a']);
    });

    test('a part comes back as it was written, with every optional field', async () => {
      const part = aPart({
        states: 'PDFSC',
        lengths: [1, 4],
        jobIds: { '3': 'own-id' },
        sequences: { '2': 9 },
        nominalAts: { '1': NOON },
        progressParts: 3,
      });
      expect(await store.putPart(part)).toBe(true);
      expect(await store.readPart(part.groupId, part.partId)).toEqual(part);
    });

    test('a write without a predecessor is lost where a row stands, and changes nothing', async () => {
      const group = aGroup();
      const part = aPart({ groupId: group.groupId });
      await Promise.all([store.put(group), store.putPart(part)]);
      expect(await store.put({ ...group, name: 'another' })).toBe(false);
      expect(await store.putPart({ ...part, states: 'D' })).toBe(false);
      expect(await store.read(group.groupId)).toEqual(group);
      expect(await store.readParts(group.groupId)).toEqual([part]);
    });

    test('a write is lost when the revision is another, or nothing stands there', async () => {
      const group = aGroup({ revision: 4 });
      const part = aPart({ groupId: group.groupId, revision: 4 });
      expect(await store.put({ ...group, revision: 5 }, group)).toBe(false);
      expect(await store.putPart({ ...part, revision: 5 }, part)).toBe(false);
      expect(await store.read(group.groupId)).toBeUndefined();
      await Promise.all([store.put(group), store.putPart(part)]);
      expect(await store.put({ ...group, revision: 5 }, { ...group, revision: 3 })).toBe(false);
      expect(await store.putPart({ ...part, revision: 5 }, { ...part, revision: 3 })).toBe(false);
      expect(await store.read(group.groupId)).toEqual(group);
      expect(await store.readPart(part.groupId, part.partId)).toEqual(part);
    });

    test('a write with the revision as seen replaces the whole row', async () => {
      const group = aGroup({ name: 'first', percent: 3 });
      const part = aPart({ groupId: group.groupId, sequences: { '0': 3 } });
      await Promise.all([store.put(group), store.putPart(part)]);
      const { percent: _percent, ...head } = group;
      const { sequences: _sequences, ...rest } = part;
      expect(await store.put({ ...head, revision: 2, state: 'DONE' }, group)).toBe(true);
      expect(await store.putPart({ ...rest, revision: 2, states: 'DDD' }, part)).toBe(true);
      expect(await store.read(group.groupId)).toEqual({ ...head, revision: 2, state: 'DONE' });
      expect(await store.readParts(part.groupId)).toEqual([{ ...rest, revision: 2, states: 'DDD' }]);
    });

    test('of many writes that saw one revision, exactly one wins', async () => {
      const part = aPart();
      await store.putPart(part);
      const won = await Promise.all(
        Array.from({ length: 12 }, (_, index) => store.putPart({ ...part, revision: 2, states: `P${index}` }, part)),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect((await store.readPart(part.groupId, part.partId))?.states).toBe(`P${won.indexOf(true)}`);
    });

    test('all parts of a group are read, and none of a group whose id begins alike', async () => {
      const groupId = freshId('group');
      const parts = Array.from({ length: 100 }, (_, index) => aPart({ groupId, partId: String(index) }));
      await Promise.all(parts.map((part) => store.putPart(part)));
      await Promise.all([store.put(aGroup({ groupId })), store.putPart(aPart({ groupId: `${groupId}0` }))]);
      const read = await store.readParts(groupId);
      expect(read.sort((one, other) => Number(one.partId) - Number(other.partId))).toEqual(parts);
    });

    describe('the list', () => {
      const mine = (groups: readonly Group[], listed: readonly Group[]) => {
        const own = new Set(groups.map(({ groupId }) => groupId));
        return listed.filter(({ groupId }) => own.has(groupId)).sort((a, b) => (a.groupId < b.groupId ? -1 : 1));
      };

      test('paging through everything meets each head once, of both kinds or of one, and no part', async () => {
        const groups = Array.from({ length: 23 }, (_, index) => aGroup({ kind: index % 3 === 0 ? 'chain' : 'batch' }));
        await Promise.all(
          groups.flatMap((group) => [store.put(group), store.putPart(aPart({ groupId: group.groupId }))]),
        );
        const all = await allPages((cursor) => store.list({ limit: 5, ...after(cursor) }));
        expect(mine(groups, all)).toEqual(groups);
        for (const kind of ['chain', 'batch'] as const) {
          const listed = await allPages(async (cursor) => {
            const page = await store.list({ limit: 2, kind, ...after(cursor) });
            expect(page.items.length).toBeLessThanOrEqual(2);
            return page;
          });
          expect(mine(groups, listed)).toEqual(groups.filter((group) => group.kind === kind));
          expect(listed.filter((group) => group.kind !== kind)).toEqual([]);
        }
      });

      test.each(['', 'nonsense', 'bnVsbA', 'W10', 'WzEsMl0', 'A'.repeat(500)])(
        'a cursor that was not given out is refused: %s',
        async (cursor) => {
          await expect(store.list({ limit: 5, cursor })).rejects.toBeInstanceOf(InvalidCursorError);
        },
      );
    });
  });
}
