import type { Job, JobRow } from '../../src/domain/job';
import { InvalidCursorError, type JobStore } from '../../src/ports';
import { DELICATE_TEXTS, after, allPages, freshId, type Adapter } from './contract';
import { NOON, aJob } from './rows';

/** `shards`: how many the due index has; the contract looks into all of them. */
export type JobStoreAdapter = Adapter & { store: JobStore; shards: number };

export function describeJobStoreContract(name: string, makeAdapter: () => Promise<JobStoreAdapter>): void {
  describe(`the job store contract, ${name}`, () => {
    let adapter: JobStoreAdapter;
    let store: JobStore;
    beforeAll(async () => {
      adapter = await makeAdapter();
      store = adapter.store;
    });
    afterAll(() => adapter.close());

    const duePages = async (until: number, limit: number): Promise<{ jobId: string; dueAt: number }[][]> =>
      Promise.all(
        Array.from({ length: adapter.shards }, (_, shard) =>
          allPages((cursor) => store.due({ shard, until, limit, ...after(cursor) })),
        ),
      );

    const dueAmong = async (jobs: readonly JobRow[], until: number): Promise<{ jobId: string; dueAt: number }[]> => {
      const own = new Set(jobs.map((job) => job.jobId));
      return (await duePages(until, 100)).flat().filter((key) => own.has(key.jobId));
    };

    describe('reading and writing', () => {
      test('a job that was never written is absent', async () => {
        expect(await store.read(freshId('job'))).toBeUndefined();
      });

      test('a job comes back as it was written, with every optional field', async () => {
        const job = aJob({
          tags: ['reports', 'Größe', '#1'],
          dueAt: NOON + 5,
          subscribedStates: ['DONE', 'FAILED'],
          expiresAt: NOON + 1,
          generations: [
            { id: 'g1', startedAt: NOON },
            { id: 'g2', startedAt: NOON + 1 },
          ],
        });
        expect(await store.put(job)).toBe(true);
        expect(await store.read(job.jobId)).toEqual(job);
      });

      test('a job comes back as it was written, without any optional field', async () => {
        const { name: _name, requestId: _requestId, requestDigest: _requestDigest, ...rest } = aJob();
        const fence: Job = { ...rest, state: 'DELETED', generations: [], payload: 'null' };
        expect(await store.put(fence)).toBe(true);
        expect(await store.read(fence.jobId)).toEqual(fence);
      });

      test('a definition that is kept comes back under its generation, and no list or index shows it', async () => {
        const job = aJob({ dueAt: NOON + 5, payload: DELICATE_TEXTS.at(-1)![1] });
        const generation = job.generations.at(-1)!.id;
        expect(await store.readDefinition(job.jobId, generation)).toBeUndefined();
        await store.keepDefinition(job, NOON + 400 * 86_400_000);
        expect(await store.readDefinition(job.jobId, generation)).toEqual(job);
        expect(await store.readDefinition(job.jobId, 'another')).toBeUndefined();
        expect(await store.read(job.jobId)).toBeUndefined();
        expect(await dueAmong([job], NOON + 10)).toEqual([]);
        const listed = await allPages((cursor) => store.list({ limit: 100, ...after(cursor) }));
        expect(listed.filter(({ jobId }) => jobId.startsWith(job.jobId))).toEqual([]);
      });

      test('a pause and the policies of a schedule come back as they were written', async () => {
        const job = aJob({
          state: 'PAUSED',
          pause: { at: NOON, reason: 'the database moves', by: 'ops' },
          overlap: 'queue-one',
          jitterSeconds: 30,
          maxRuns: 5,
          runsDispatched: 2,
          dispatchedUntil: NOON,
        });
        expect(await store.put(job)).toBe(true);
        expect(await store.read(job.jobId)).toEqual(job);
      });

      test('the policies of a queue and a place in a batch come back as they were written', async () => {
        const job = aJob({
          priority: 'high',
          unique: { key: 'invoice-7', forSeconds: 0.5, until: 'done' },
          concurrency: { key: 'shop', limit: 3 },
          rateLimit: { key: 'shop', limit: 1000, perSeconds: 1e-7 },
          completion: 'callback',
          heartbeatSeconds: 90,
          member: { groupId: 'g', kind: 'batch', partId: '7', index: 0 },
        });
        expect(await store.put(job)).toBe(true);
        expect(await store.read(job.jobId)).toEqual(job);
      });

      test.each(DELICATE_TEXTS)('a payload comes out as it went in: %s', async (_what, payload) => {
        const job = aJob({ payload });
        await store.put(job);
        const read = await store.read(job.jobId);
        expect(read?.payload === payload).toBe(true);
      });

      test('rows are read without their payloads, and what is absent is left out', async () => {
        const jobs = Array.from({ length: 205 }, () => aJob());
        await Promise.all(jobs.map((job) => store.put(job)));
        const asked = [...jobs.map((job) => job.jobId), freshId('absent'), freshId('absent')];
        const rows = await store.readRows(asked);
        const wanted = new Map(jobs.map(({ payload: _payload, ...row }) => [row.jobId, row]));
        expect(new Map(rows.map((row) => [row.jobId, row]))).toEqual(wanted);
        expect(rows).toHaveLength(jobs.length);
      });

      test('an id that is asked for twice is answered', async () => {
        const job = aJob();
        await store.put(job);
        const rows = await store.readRows([job.jobId, job.jobId]);
        expect(rows.map((row) => row.jobId)).toContain(job.jobId);
        expect(await store.readRows([])).toEqual([]);
      });

      test('what a caller does to an answer does not reach the store', async () => {
        const job = aJob({ tags: ['a'] });
        await store.put(job);
        const read = await store.read(job.jobId);
        (read?.tags as string[]).push('b');
        expect((await store.read(job.jobId))?.tags).toEqual(['a']);
      });
    });

    describe('conditions', () => {
      test('a put without a predecessor is lost where a row stands, and changes nothing', async () => {
        const job = aJob();
        await store.put(job);
        expect(await store.put({ ...job, name: 'another', payload: '2' })).toBe(false);
        expect(await store.read(job.jobId)).toEqual(job);
      });

      test('a put without a predecessor is lost where a tombstone stands', async () => {
        const job = aJob({ state: 'DELETED' });
        await store.put(job);
        expect(await store.put({ ...job, state: 'ACTIVE' })).toBe(false);
        expect((await store.read(job.jobId))?.state).toBe('DELETED');
      });

      test('a put that replaces writes row and payload when the revision is as seen', async () => {
        const job = aJob();
        await store.put(job);
        const next = { ...job, revision: 2, name: 'second', payload: '"second"' };
        expect(await store.put(next, job)).toBe(true);
        expect(await store.read(job.jobId)).toEqual(next);
      });

      test('a put that replaces is lost when the revision is another, or nothing stands there', async () => {
        const job = aJob();
        expect(await store.put({ ...job, revision: 2 }, job)).toBe(false);
        expect(await store.read(job.jobId)).toBeUndefined();
        await store.put({ ...job, revision: 7 });
        expect(await store.put({ ...job, revision: 2, payload: '2' }, job)).toBe(false);
        expect(await store.read(job.jobId)).toEqual({ ...job, revision: 7 });
      });

      test.each([1, 2_000])('an update leaves the payload, of %i characters', async (length) => {
        const job = aJob({ payload: '7'.repeat(length) });
        await store.put(job);
        const { payload: _payload, ...row } = job;
        expect(await store.update({ ...row, revision: 2, state: 'PAUSED' }, row)).toBe(true);
        expect(await store.read(job.jobId)).toEqual({ ...job, revision: 2, state: 'PAUSED' });
      });

      test('an update given a whole job still leaves the payload', async () => {
        const job = aJob({ payload: '"first"' });
        await store.put(job);
        expect(await store.update({ ...job, revision: 2, payload: '"other"' } as JobRow, job)).toBe(true);
        expect((await store.read(job.jobId))?.payload).toBe('"first"');
        expect(await store.readRows([job.jobId])).toEqual([expect.not.objectContaining({ payload: '"other"' })]);
      });

      test('an update takes away the fields that the new row does not have', async () => {
        const job = aJob({ dueAt: NOON, expiresAt: NOON });
        await store.put(job);
        const { payload: _payload, dueAt: _dueAt, expiresAt: _expiresAt, name: _name, ...row } = job;
        expect(await store.update({ ...row, revision: 2 }, job)).toBe(true);
        expect(await store.readRows([job.jobId])).toEqual([{ ...row, revision: 2 }]);
      });

      test('an update is lost when the revision is another, or nothing stands there', async () => {
        const job = aJob();
        const { payload: _payload, ...row } = job;
        expect(await store.update({ ...row, revision: 2 }, row)).toBe(false);
        expect(await store.read(job.jobId)).toBeUndefined();
        await store.put(job);
        expect(await store.update({ ...row, revision: 9 }, { ...row, revision: 8 })).toBe(false);
        expect(await store.read(job.jobId)).toEqual(job);
      });

      test('of many creates of one id at once, exactly one wins and its content stands', async () => {
        const job = aJob();
        const rivals = Array.from({ length: 12 }, (_, index) => ({
          ...job,
          name: `rival ${index}`,
          payload: `${index}`,
        }));
        const won = await Promise.all(rivals.map((rival) => store.put(rival)));
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await store.read(job.jobId)).toEqual(rivals[won.indexOf(true)]);
      });

      test('of many updates that saw one revision, exactly one wins', async () => {
        const job = aJob();
        await store.put(job);
        const { payload: _payload, ...row } = job;
        const won = await Promise.all(
          Array.from({ length: 12 }, (_, index) => store.update({ ...row, revision: 2, name: `rival ${index}` }, row)),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        expect((await store.read(job.jobId))?.name).toBe(`rival ${won.indexOf(true)}`);
      });

      test('a chain of increments by many hands loses none', async () => {
        const job = aJob({ revision: 1 });
        await store.put(job);
        const increment = async (): Promise<void> => {
          for (;;) {
            const [seen] = await store.readRows([job.jobId]);
            if (seen === undefined) throw new Error('The row is gone');
            if (await store.update({ ...seen, revision: seen.revision + 1 }, seen)) return;
          }
        };
        await Promise.all(Array.from({ length: 5 }, () => increment().then(increment)));
        expect((await store.read(job.jobId))?.revision).toBe(11);
      });
    });

    describe('writing many at once', () => {
      test('all of them come back as they were written, with large payloads and small ones', async () => {
        const jobs = Array.from({ length: 60 }, (_, index) =>
          aJob({ payload: JSON.stringify('x'.repeat(index % 3 === 0 ? 2_000 : index)), expiresAt: NOON + index }),
        );
        await store.putAll(jobs);
        for (const job of jobs) expect(await store.read(job.jobId)).toEqual(job);
      });

      test('they stand where another row stood, with the new payload and the new due instant', async () => {
        const before = [aJob({ dueAt: NOON }), aJob({ dueAt: NOON, payload: '7'.repeat(2_000) }), aJob()];
        await Promise.all(before.map((job) => store.put(job)));
        const [one, other, third] = before as [Job, Job, Job];
        const { dueAt: _dueAt, ...idle } = one;
        const after = [
          { ...idle, revision: 4, payload: '"new"' },
          { ...other, payload: '"newer"', dueAt: NOON + 9 },
          { ...third, payload: '8'.repeat(2_000), dueAt: NOON + 1 },
        ];
        await store.putAll(after);
        for (const job of after) expect(await store.read(job.jobId)).toEqual(job);
        await adapter.eventually(async () => {
          const found = await dueAmong(before, NOON + 9);
          expect(found.sort((a, b) => a.dueAt - b.dueAt)).toEqual([
            { jobId: third.jobId, dueAt: NOON + 1 },
            { jobId: other.jobId, dueAt: NOON + 9 },
          ]);
        });
      });

      test('one that comes twice is refused by its id, and nothing is written', async () => {
        const [job, twice] = [aJob(), aJob()];
        await expect(store.putAll([job, twice, { ...twice, payload: '2' }])).rejects.toThrow(twice.jobId);
        expect(await store.readRows([job.jobId, twice.jobId])).toEqual([]);
      });

      test('none at all are written without a complaint', async () => {
        await expect(store.putAll([])).resolves.toBeUndefined();
      });
    });

    describe('the list', () => {
      test('paging through everything loses nothing and repeats nothing', async () => {
        const jobs = Array.from({ length: 43 }, () => aJob());
        await Promise.all(jobs.map((job) => store.put(job)));
        await adapter.eventually(async () => {
          const seen = (await allPages((cursor) => store.list({ limit: 7, ...after(cursor) }))).map((row) => row.jobId);
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen).toEqual(expect.arrayContaining(jobs.map((job) => job.jobId)));
        });
      });

      test('no page holds more than was asked for', async () => {
        await Promise.all(Array.from({ length: 12 }, () => store.put(aJob())));
        await allPages(async (cursor) => {
          const page = await store.list({ limit: 5, ...after(cursor) });
          expect(page.items.length).toBeLessThanOrEqual(5);
          return page;
        });
      });

      test('rows come without payloads, and tombstones are left out', async () => {
        const { payload, ...row } = aJob({ payload: '"secret"' });
        const deleted = aJob({ state: 'DELETED' });
        const paused = aJob({ state: 'PAUSED' });
        await Promise.all([store.put({ ...row, payload }), store.put(deleted), store.put(paused)]);
        await adapter.eventually(async () => {
          const seen = await allPages((cursor) => store.list({ limit: 50, ...after(cursor) }));
          expect(seen).toContainEqual(row);
          const ids = seen.map((each) => each.jobId);
          expect(ids).toContain(paused.jobId);
          expect(ids).not.toContain(deleted.jobId);
        });
      });

      test('a tag finds the jobs that have exactly it', async () => {
        const tag = freshId('tag');
        const mine = Array.from({ length: 9 }, (_, index) => aJob({ tags: index % 2 ? [tag] : ['other', tag] }));
        const others = [aJob({ tags: [`${tag}x`] }), aJob({ tags: [tag.slice(0, -1)] }), aJob()];
        await Promise.all([...mine, ...others].map((job) => store.put(job)));
        await adapter.eventually(async () => {
          const seen = await allPages((cursor) => store.list({ limit: 2, tag, ...after(cursor) }));
          expect(seen.map((row) => row.jobId).sort()).toEqual(mine.map((job) => job.jobId).sort());
        });
        expect(
          (await allPages((cursor) => store.list({ limit: 10, tag: freshId('none'), ...after(cursor) }))).length,
        ).toBe(0);
      });

      test('jobs that come and go while someone pages do not hide those that stay', async () => {
        const staying = Array.from({ length: 20 }, () => aJob());
        await Promise.all(staying.map((job) => store.put(job)));
        const seen: string[] = [];
        let gone = staying[0]!;
        await allPages(async (cursor) => {
          const page = await store.list({ limit: 3, ...after(cursor) });
          seen.push(...page.items.map((row) => row.jobId));
          // The row at which this page ended becomes a tombstone, and a new one appears.
          const last = page.items.at(-1);
          const own = staying.find((job) => job.jobId === last?.jobId);
          if (own !== undefined) {
            gone = own;
            await store.update({ ...own, revision: 2, state: 'DELETED' }, own);
          }
          if (seen.length < 60) await store.put(aJob());
          return page;
        });
        expect(gone.jobId).toBeDefined();
        expect(seen).toEqual(expect.arrayContaining(staying.map((job) => job.jobId)));
      });

      test.each(['', 'nonsense', '!!', 'bnVsbA', 'W10', 'WzEsMl0', 'eyJqb2JJZCI6MX0', 'A'.repeat(500)])(
        'a cursor that was not given out is refused: %s',
        async (cursor) => {
          await expect(store.list({ limit: 5, cursor })).rejects.toBeInstanceOf(InvalidCursorError);
          await expect(store.due({ shard: 0, until: NOON, limit: 5, cursor })).rejects.toBeInstanceOf(
            InvalidCursorError,
          );
        },
      );
    });

    describe('the due index', () => {
      test('holds what is due until the instant asked for, that instant included, and nothing later', async () => {
        const early = aJob({ dueAt: NOON - 1 });
        const exact = aJob({ dueAt: NOON });
        const late = aJob({ dueAt: NOON + 1 });
        const never = aJob();
        const jobs = [late, exact, never, early];
        await Promise.all(jobs.map((job) => store.put(job)));
        await adapter.eventually(async () => {
          const found = await dueAmong(jobs, NOON);
          expect(found.sort((one, other) => one.dueAt - other.dueAt)).toEqual([
            { jobId: early.jobId, dueAt: NOON - 1 },
            { jobId: exact.jobId, dueAt: NOON },
          ]);
        });
      });

      test('each shard is earliest first through all its pages, and the shards together lose nothing', async () => {
        const jobs = Array.from({ length: 60 }, (_, index) => aJob({ dueAt: NOON + ((index * 7919) % 30) * 1000 }));
        await Promise.all(jobs.map((job) => store.put(job)));
        await adapter.eventually(async () => {
          const shards = await duePages(NOON + 86_400_000, 7);
          for (const shard of shards) {
            const instants = shard.map((key) => key.dueAt);
            expect(instants).toEqual([...instants].sort((one, other) => one - other));
          }
          const ids = shards.flat().map((key) => key.jobId);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids).toEqual(expect.arrayContaining(jobs.map((job) => job.jobId)));
        });
      });

      test('instants of different lengths sort as numbers', async () => {
        const jobs = [9, 10, 999_999_999_999, 1_000_000_000_000, 8_640_000_000_000].map((dueAt) => aJob({ dueAt }));
        await Promise.all(jobs.map((job) => store.put(job)));
        await adapter.eventually(async () => {
          expect((await dueAmong(jobs, 10)).map((key) => key.dueAt).sort((one, other) => one - other)).toEqual([9, 10]);
          expect(await dueAmong(jobs, 8_640_000_000_000)).toHaveLength(5);
        });
      });

      test('a job whose due instant moves is found at the new one only', async () => {
        const job = aJob({ dueAt: NOON });
        await store.put(job);
        await store.update({ ...job, revision: 2, dueAt: NOON + 60_000 }, job);
        await adapter.eventually(async () => {
          expect(await dueAmong([job], NOON + 59_999)).toEqual([]);
          expect(await dueAmong([job], NOON + 60_000)).toEqual([{ jobId: job.jobId, dueAt: NOON + 60_000 }]);
        });
      });

      test('a job whose due instant goes away is no longer found, by update or by put', async () => {
        const updated = aJob({ dueAt: NOON });
        const replaced = aJob({ dueAt: NOON });
        await Promise.all([store.put(updated), store.put(replaced)]);
        const without = ({ dueAt: _dueAt, ...rest }: Job): Job => ({ ...rest, revision: 2 });
        await store.update(without(updated), updated);
        await store.put(without(replaced), replaced);
        await adapter.eventually(async () => {
          expect(await dueAmong([updated, replaced], NOON)).toEqual([]);
        });
      });

      test('a write that lost its condition leaves the index alone', async () => {
        const job = aJob({ dueAt: NOON });
        await store.put(job);
        await store.update({ ...job, revision: 9, dueAt: NOON + 1 }, { ...job, revision: 8 });
        await store.put({ ...job, dueAt: NOON + 2 });
        await adapter.eventually(async () => {
          expect(await dueAmong([job], NOON + 10)).toEqual([{ jobId: job.jobId, dueAt: NOON }]);
        });
      });

      test('keys that go while someone pages do not hide those that stay', async () => {
        const jobs = Array.from({ length: 24 }, (_, index) => aJob({ dueAt: NOON - 500_000 + index }));
        await Promise.all(jobs.map((job) => store.put(job)));
        const byId = new Map(jobs.map((job) => [job.jobId, job]));
        for (let shard = 0; shard < adapter.shards; shard += 1) {
          await allPages(async (cursor) => {
            const page = await store.due({ shard, until: NOON, limit: 2, ...after(cursor) });
            for (const key of page.items) {
              const own = byId.get(key.jobId);
              if (own !== undefined) await store.update({ ...own, revision: 2, dueAt: NOON + 900_000 }, own);
            }
            return page;
          });
        }
        await adapter.eventually(async () => {
          expect(await dueAmong(jobs, NOON)).toEqual([]);
          expect(await dueAmong(jobs, NOON + 900_000)).toHaveLength(jobs.length);
        });
      });
    });
  });
}
