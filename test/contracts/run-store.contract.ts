import type { Run } from '../../src/domain/run';
import { InvalidCursorError, type RunStore } from '../../src/ports';
import { DELICATE_TEXTS, after, allPages, freshId, type Adapter } from './contract';
import { NOON, aRun } from './rows';

export type RunStoreAdapter = Adapter & { store: RunStore; shards: number };

export function describeRunStoreContract(name: string, makeAdapter: () => Promise<RunStoreAdapter>): void {
  describe(`the run store contract, ${name}`, () => {
    let adapter: RunStoreAdapter;
    let store: RunStore;
    beforeAll(async () => {
      adapter = await makeAdapter();
      store = adapter.store;
    });
    afterAll(() => adapter.close());

    type DueKey = { jobId: string; runId: string; dueAt: number };
    const dueAmong = async (runs: readonly Run[], until: number, limit = 50): Promise<DueKey[]> => {
      const own = new Set(runs.map((run) => run.runId));
      const found: DueKey[] = [];
      for (let shard = 0; shard < adapter.shards; shard += 1) {
        const keys = await allPages((cursor) => store.due({ shard, until, limit, ...after(cursor) }));
        const instants = keys.map((key) => key.dueAt);
        expect(instants).toEqual([...instants].sort((one, other) => one - other));
        found.push(...keys.filter((key) => own.has(key.runId)));
      }
      return found;
    };
    const waiting = (fields: Partial<Run> = {}): Run => {
      const { leaseUntil: _leaseUntil, ...rest } = aRun();
      return { ...rest, state: 'RELEASED', ...fields };
    };

    test('a run that was never written is absent', async () => {
      expect(await store.read(freshId('job'), freshId('run'))).toBeUndefined();
    });

    test('a run comes back as it was written, with every optional field', async () => {
      const run = aRun({
        finishedAt: NOON + 9,
        indexDueAt: NOON + 10,
        heldBack: { times: 2, since: NOON },
        reason: 'because',
        alsoCovers: 3,
        result: '{"ok":true}',
        error: { type: 'Timeout', message: 'took "too" long\n…' },
        attempts: [
          { attempt: 1, startedAt: NOON, finishedAt: NOON + 1, reason: 'failed', error: { type: 'E', message: 'm' } },
          { attempt: 2, startedAt: NOON + 2, finishedAt: NOON + 3, reason: 'attempt-lost' },
        ],
        snoozes: 3,
        priority: 'high',
        previous: { jobId: 'before', runId: 'run-before' },
        series: { number: 2, after: 3 },
        cancelRequestedAt: NOON + 7,
        completionToken: 'token',
        isAwaited: true,
        failedAt: NOON + 8,
      });
      expect(await store.put(run)).toBe(true);
      expect(await store.read(run.jobId, run.runId)).toEqual(run);
    });

    test.each(DELICATE_TEXTS)('a result comes out as it went in: %s', async (_what, result) => {
      const run = aRun({ result });
      await store.put(run);
      expect((await store.read(run.jobId, run.runId))?.result === result).toBe(true);
    });

    test('a put without a predecessor is lost where a run stands, and changes nothing', async () => {
      const run = aRun();
      await store.put(run);
      expect(await store.put({ ...run, reason: 'another' })).toBe(false);
      expect(await store.read(run.jobId, run.runId)).toEqual(run);
    });

    test('a put is lost when the revision is another, or nothing stands there', async () => {
      const run = aRun({ revision: 4 });
      expect(await store.put({ ...run, revision: 5 }, run)).toBe(false);
      expect(await store.read(run.jobId, run.runId)).toBeUndefined();
      await store.put(run);
      expect(await store.put({ ...run, revision: 5 }, { ...run, revision: 3 })).toBe(false);
      expect(await store.read(run.jobId, run.runId)).toEqual(run);
    });

    test('a put with the revision as seen replaces the whole run', async () => {
      const run = aRun({ reason: 'first' });
      await store.put(run);
      const { reason: _reason, leaseUntil: _leaseUntil, ...rest } = run;
      const done: Run = { ...rest, revision: 2, sequence: 3, state: 'DONE', finishedAt: NOON + 5 };
      expect(await store.put(done, run)).toBe(true);
      expect(await store.read(run.jobId, run.runId)).toEqual(done);
    });

    test('of many claims of one run at once, exactly one wins', async () => {
      const run = aRun();
      const first = await Promise.all(
        Array.from({ length: 12 }, (_, index) => store.put({ ...run, reason: `claim ${index}` })),
      );
      expect(first.filter(Boolean)).toHaveLength(1);
      const seen = await store.read(run.jobId, run.runId);
      expect(seen?.reason).toBe(`claim ${first.indexOf(true)}`);
      const second = await Promise.all(
        Array.from({ length: 12 }, (_, index) => store.put({ ...run, revision: 2, reason: `renewal ${index}` }, seen)),
      );
      expect(second.filter(Boolean)).toHaveLength(1);
      expect((await store.read(run.jobId, run.runId))?.reason).toBe(`renewal ${second.indexOf(true)}`);
    });

    describe('the list', () => {
      test('the runs of a job come latest nominal instant first, through all pages', async () => {
        const jobId = freshId('job');
        const runs = Array.from({ length: 23 }, (_, index) =>
          aRun({ jobId, nominalAt: NOON + ((index * 7919) % 23) * 60_000 }),
        );
        await Promise.all(runs.map((run) => store.put(run)));
        const seen = await allPages((cursor) => store.list({ jobId, limit: 5, ...after(cursor) }));
        expect(seen).toEqual([...runs].sort((one, other) => other.nominalAt - one.nominalAt));
      });

      test('runs of jobs whose ids begin alike are not mixed', async () => {
        const jobId = freshId('job');
        const run = aRun({ jobId });
        const others = [`${jobId}0`, `${jobId}-`, `${jobId}_`, jobId.slice(0, -1)].map((id) => aRun({ jobId: id }));
        await Promise.all([run, ...others].map((each) => store.put(each)));
        expect(await store.list({ jobId, limit: 10 })).toEqual({ items: [run] });
      });

      test('a job without runs has an empty list', async () => {
        expect(await store.list({ jobId: freshId('job'), limit: 10 })).toEqual({ items: [] });
      });

      test('runs that begin while someone pages do not hide older ones', async () => {
        const jobId = freshId('job');
        const runs = Array.from({ length: 9 }, (_, index) => aRun({ jobId, nominalAt: NOON + index * 1000 }));
        await Promise.all(runs.map((run) => store.put(run)));
        let newest = NOON + 100_000;
        const seen = await allPages(async (cursor) => {
          const page = await store.list({ jobId, limit: 2, ...after(cursor) });
          await store.put(aRun({ jobId, nominalAt: (newest += 1000) }));
          return page;
        });
        expect(seen).toEqual([...runs].reverse());
      });

      test.each(['', 'nonsense', 'bnVsbA', 'W10', 'WzEsMl0', 'A'.repeat(500)])(
        'a cursor that was not given out is refused: %s',
        async (cursor) => {
          const jobId = freshId('job');
          await expect(store.list({ jobId, limit: 5, cursor })).rejects.toBeInstanceOf(InvalidCursorError);
          await expect(store.scan({ limit: 5, cursor })).rejects.toBeInstanceOf(InvalidCursorError);
          await expect(store.due({ shard: 0, until: NOON, limit: 5, cursor })).rejects.toBeInstanceOf(
            InvalidCursorError,
          );
        },
      );

      test('the cursor of another job is refused', async () => {
        const jobId = freshId('job');
        await Promise.all([aRun({ jobId }), aRun({ jobId }), aRun({ jobId })].map((run) => store.put(run)));
        const { cursor } = await store.list({ jobId, limit: 1 });
        expect(cursor).toBeDefined();
        await expect(store.list({ jobId: freshId('job'), limit: 1, ...after(cursor) })).rejects.toBeInstanceOf(
          InvalidCursorError,
        );
      });
    });

    describe('the failed runs', () => {
      /** Later than those of any other test, so that the pages of this one begin with its own. */
      let after2100 = Date.UTC(2100, 0, 1);
      const era = () => (after2100 += 86_400_000);
      const failed = (failedAt: number, fields: Partial<Run> = {}): Run => {
        const { leaseUntil: _leaseUntil, ...rest } = aRun();
        return { ...rest, state: 'FAILED', failedAt, ...fields };
      };
      const ids = (runs: readonly Run[]) => runs.map(({ runId }) => runId);

      test('come latest first through all pages, whatever their job and shard', async () => {
        const since = era();
        const jobIds = Array.from({ length: 9 }, () => freshId('job'));
        const runs = Array.from({ length: 40 }, (_, index) =>
          failed(since + ((index * 7919) % 40) * 1000, { jobId: jobIds[index % 9]! }),
        );
        await Promise.all([...runs, aRun(), failed(since - 1)].map((run) => store.put(run)));
        const latestFirst = [...runs].sort((one, other) => other.failedAt! - one.failedAt!);
        for (const limit of [1, 3, 40, 100]) {
          await adapter.eventually(async () => {
            const sizes: number[] = [];
            const seen = await allPages(async (cursor) => {
              const page = await store.failed({ since, limit, ...after(cursor) });
              sizes.push(page.items.length);
              return page;
            });
            expect(seen).toEqual(latestFirst);
            expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
          });
        }
      });

      test('those of one job are found among many of others, also since an instant', async () => {
        const since = era();
        const jobId = freshId('job');
        const mine = Array.from({ length: 7 }, (_, index) =>
          failed(since + index * 10, { jobId, runId: freshId('r') }),
        );
        const others = Array.from({ length: 30 }, (_, index) => failed(since + index * 3));
        const alike = failed(since + 70, { jobId: `${jobId}0` });
        await Promise.all([...mine, ...others, alike].map((run) => store.put(run)));
        await adapter.eventually(async () => {
          const seen = await allPages((cursor) => store.failed({ jobId, limit: 2, ...after(cursor) }));
          expect(seen).toEqual([...mine].reverse());
          const late = await allPages((cursor) =>
            store.failed({ jobId, since: since + 30, limit: 3, ...after(cursor) }),
          );
          expect(ids(late)).toEqual(ids([...mine].reverse().slice(0, 4)));
        });
        expect(await allPages((cursor) => store.failed({ jobId: freshId('job'), limit: 5, ...after(cursor) }))).toEqual(
          [],
        );
      });

      test('many that failed in one instant are each given out once', async () => {
        const since = era();
        const runs = Array.from({ length: 23 }, () => failed(since));
        await Promise.all(runs.map((run) => store.put(run)));
        await adapter.eventually(async () => {
          const seen = await allPages((cursor) => store.failed({ since, limit: 4, ...after(cursor) }));
          expect(ids(seen).sort()).toEqual(ids(runs).sort());
        });
      });

      test('one that is sent again or forgotten is not among them, and one that fails again is there anew', async () => {
        const since = era();
        const [again, forgotten, twice] = [failed(since), failed(since + 1), failed(since + 2)] as [Run, Run, Run];
        await Promise.all([again, forgotten, twice].map((run) => store.put(run)));
        const { failedAt: _gone, ...released } = again;
        await store.put({ ...released, revision: 2, state: 'RELEASED' }, again);
        const { failedAt: _kept, ...rest } = forgotten;
        await store.put({ ...rest, revision: 2 }, forgotten);
        const anew = { ...twice, revision: 2, failedAt: since + 9 };
        await store.put(anew, twice);
        await adapter.eventually(async () => {
          expect(await allPages((cursor) => store.failed({ since, limit: 5, ...after(cursor) }))).toEqual([anew]);
        });
      });

      test('those that fail while someone pages do not hide older ones', async () => {
        const since = era();
        const runs = Array.from({ length: 9 }, (_, index) => failed(since + index));
        await Promise.all(runs.map((run) => store.put(run)));
        let latest = since + 100;
        const seen = await allPages(async (cursor) => {
          const page = await store.failed({ since, limit: 2, ...after(cursor) });
          await store.put(failed((latest += 1)));
          return page;
        });
        expect(ids(seen)).toEqual(expect.arrayContaining(ids(runs)));
      });

      test.each(['', 'nonsense', 'bnVsbA', 'W10', 'WzEsMl0', 'A'.repeat(500)])(
        'a cursor that was not given out is refused: %s',
        async (cursor) => {
          await expect(store.failed({ limit: 5, cursor })).rejects.toBeInstanceOf(InvalidCursorError);
        },
      );
    });

    test('a scan meets every run of every job once', async () => {
      const runs = Array.from({ length: 30 }, () => aRun());
      await Promise.all(runs.map((run) => store.put(run)));
      const seen = (await allPages((cursor) => store.scan({ limit: 7, ...after(cursor) }))).map((run) => run.runId);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(runs.map((run) => run.runId)));
    });

    describe('the due index', () => {
      test('holds the runs that wait in it until the instant asked for, and nothing else', async () => {
        const early = waiting({ dueAt: NOON, indexDueAt: NOON });
        const late = waiting({ dueAt: NOON + 1, indexDueAt: NOON + 1 });
        const elsewhere = waiting({ dueAt: NOON });
        const runs = [late, elsewhere, early];
        await Promise.all(runs.map((run) => store.put(run)));
        await adapter.eventually(async () => {
          expect(await dueAmong(runs, NOON)).toEqual([{ jobId: early.jobId, runId: early.runId, dueAt: NOON }]);
        });
      });

      test('each shard is earliest first through all its pages, and the shards together lose nothing', async () => {
        const jobId = freshId('job');
        const runs = Array.from({ length: 40 }, (_, index) =>
          waiting({
            indexDueAt: NOON + ((index * 7919) % 20) * 1000,
            ...(index % 2 ? { jobId } : { jobId: freshId('job') }),
            runId: freshId('run'),
          }),
        );
        await Promise.all(runs.map((run) => store.put(run)));
        await adapter.eventually(async () => {
          const found = await dueAmong(runs, NOON + 86_400_000, 3);
          expect(found.map((key) => key.runId).sort()).toEqual(runs.map((run) => run.runId).sort());
        });
      });

      test('a run that is claimed leaves the index, and one that waits longer moves in it', async () => {
        const claimed = waiting({ indexDueAt: NOON });
        const moved = waiting({ indexDueAt: NOON });
        await Promise.all([store.put(claimed), store.put(moved)]);
        const { indexDueAt: _indexDueAt, ...rest } = claimed;
        await store.put({ ...rest, revision: 2, state: 'STARTED' }, claimed);
        await store.put({ ...moved, revision: 2, indexDueAt: NOON + 5 }, moved);
        await adapter.eventually(async () => {
          expect(await dueAmong([claimed, moved], NOON + 4)).toEqual([]);
          expect((await dueAmong([claimed, moved], NOON + 5)).map((key) => key.runId)).toEqual([moved.runId]);
        });
      });

      test('a write that lost its condition leaves the index alone', async () => {
        const run = waiting({ indexDueAt: NOON });
        await store.put(run);
        await store.put({ ...run, revision: 9, indexDueAt: NOON + 1 }, { ...run, revision: 8 });
        await adapter.eventually(async () => {
          expect((await dueAmong([run], NOON + 10)).map((key) => key.dueAt)).toEqual([NOON]);
        });
      });
    });
  });
}
