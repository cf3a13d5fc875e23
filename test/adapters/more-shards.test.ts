/** The number of shards may be raised at any time: what was written under the old number is found under the new one. */
import { DynamoJobStore } from '../../src/adapters/aws/dynamo-job-store';
import { DynamoRunStore } from '../../src/adapters/aws/dynamo-run-store';
import { openDatabase } from '../../src/adapters/local/database';
import { LocalJobStore } from '../../src/adapters/local/job-store';
import { LocalRunStore } from '../../src/adapters/local/run-store';
import { systemClock, systemRandom } from '../../src/adapters/system';
import { shardOf } from '../../src/domain/shard';
import type { JobStore, Page, RunStore } from '../../src/ports';
import { after, allPages } from '../contracts/contract';
import { aJob, aRun, NOON } from '../contracts/rows';
import { freshFolder, removeFolder } from '../support/data-folder';
import { createEmulatedTable, emulatedDynamo } from '../support/emulated-aws';

const FEW = 2;
const MANY = 8;
const IDS = Array.from({ length: 40 }, (_, index) => `job-${index}`);
const FAILED_IDS = IDS.map((jobId) => `${jobId}-failed`);

interface Stores {
  jobs: JobStore;
  runs: RunStore;
}

/** The same data each time, as a process sees it that was started with so many shards. */
interface Data {
  open(shards: number): Promise<Stores>;
  close(): Promise<void>;
}

async function local(): Promise<Data> {
  const folder = freshFolder();
  let database = await openDatabase(folder, { survivesPowerLoss: false });
  return {
    open: async (shards) => {
      await database.close();
      database = await openDatabase(folder, { survivesPowerLoss: false });
      return { jobs: new LocalJobStore(database, { shards }), runs: new LocalRunStore(database, { shards }) };
    },
    close: async () => {
      await database.close();
      removeFolder(folder);
    },
  };
}

async function dynamo(): Promise<Data> {
  const client = emulatedDynamo();
  const pacing = { client, clock: systemClock, random: systemRandom };
  const [jobs, runs] = [await createEmulatedTable('jobs'), await createEmulatedTable('runs')];
  return {
    open: (shards) =>
      Promise.resolve({
        jobs: new DynamoJobStore({ ...pacing, tableName: jobs, shards }),
        runs: new DynamoRunStore({ ...pacing, tableName: runs, shards }),
      }),
    close: () => {
      client.destroy();
      return Promise.resolve();
    },
  };
}

type Due = Page<{ jobId: string; dueAt: number }>;

/** What a scheduler finds in all shards, those of one job together. */
async function due(store: JobStore | RunStore, shards: number): Promise<string[]> {
  const until = NOON + 10;
  const ofShards = await Promise.all(
    Array.from({ length: shards }, (_, shard) =>
      allPages((cursor): Promise<Due> => store.due({ shard, until, limit: 3, ...after(cursor) })),
    ),
  );
  return ofShards
    .flat()
    .map(({ jobId, dueAt }) => `${jobId} +${dueAt - NOON}`)
    .sort();
}

const each = (ids: readonly string[], ms: number) => ids.map((jobId) => `${jobId} +${ms}`).sort();

test('these ids move when the number is raised, and use every shard of either number', () => {
  expect(IDS.filter((id) => shardOf(id, FEW) !== shardOf(id, MANY)).length).toBeGreaterThan(IDS.length / 2);
  for (const shards of [FEW, MANY]) expect(new Set(IDS.map((id) => shardOf(id, shards))).size).toBe(shards);
});

describe.each([
  ['local', local],
  ['DynamoDB', dynamo],
])('%s: rows written under fewer shards', (_, openData) => {
  let data: Data;
  let raised: Stores;
  beforeEach(async () => {
    data = await openData();
    const { jobs, runs } = await data.open(FEW);
    await Promise.all(IDS.map((jobId) => jobs.put(aJob({ jobId, dueAt: NOON }))));
    await Promise.all(IDS.map((jobId) => runs.put(aRun({ jobId, state: 'RELEASED', indexDueAt: NOON }))));
    await Promise.all(
      FAILED_IDS.map((jobId, index) => runs.put(aRun({ jobId, state: 'FAILED', failedAt: NOON + index }))),
    );
    raised = await data.open(MANY);
  });
  afterEach(() => data.close());

  test('every job that is due is found, and once', async () => {
    expect(await due(raised.jobs, MANY)).toEqual(each(IDS, 0));
  });

  test('a job that moves on is due at its new instant alone, and one that is over at none', async () => {
    const [over, ...others] = await raised.jobs.readRows(IDS);
    for (const row of others) await raised.jobs.update({ ...row, revision: 2, dueAt: NOON + 5 }, row);
    const { dueAt: _dueAt, ...rest } = over!;
    await raised.jobs.update({ ...rest, revision: 2 }, over!);
    expect(await due(raised.jobs, MANY)).toEqual(
      each(
        others.map(({ jobId }) => jobId),
        5,
      ),
    );
    expect(others).toHaveLength(IDS.length - 1);
  });

  test('every run that waits is found, and once, and one that is claimed leaves the index', async () => {
    expect(await due(raised.runs, MANY)).toEqual(each(IDS, 0));
    const runs = (await allPages((cursor) => raised.runs.scan({ limit: 50, ...after(cursor) }))).filter(
      ({ indexDueAt }) => indexDueAt !== undefined,
    );
    const [claimed, ...others] = runs;
    const { indexDueAt: _indexDueAt, ...rest } = claimed!;
    await raised.runs.put({ ...rest, revision: 2, state: 'STARTED' }, claimed);
    for (const run of others) await raised.runs.put({ ...run, revision: 2, indexDueAt: NOON + 7 }, run);
    expect(await due(raised.runs, MANY)).toEqual(
      each(
        IDS.filter((id) => id !== claimed!.jobId),
        7,
      ),
    );
  });

  test('jobs that come after are found beside them', async () => {
    const later = IDS.map((jobId) => `${jobId}-later`);
    await Promise.all(later.map((jobId) => raised.jobs.put(aJob({ jobId, dueAt: NOON }))));
    expect(await due(raised.jobs, MANY)).toEqual(each([...IDS, ...later], 0));
  });

  test('failed runs are listed the latest first, those that failed after among them', async () => {
    const later = aRun({ jobId: 'later', state: 'FAILED', failedAt: NOON + 1_000 });
    await raised.runs.put(later);
    const listed = await allPages((cursor) => raised.runs.failed({ limit: 7, ...after(cursor) }));
    expect(listed.map(({ jobId }) => jobId)).toEqual(['later', ...[...FAILED_IDS].reverse()]);
    const ofOne = await allPages((cursor) => raised.runs.failed({ jobId: FAILED_IDS[3]!, limit: 7, ...after(cursor) }));
    expect(ofOne.map(({ jobId }) => jobId)).toEqual([FAILED_IDS[3]]);
  });

  // A tick that still has the old number, while the new version already writes: late until it is replaced, never lost.
  test('what is written under the old number after the new one is in use is found as well', async () => {
    const old = await data.open(FEW);
    const late = IDS.map((jobId) => `${jobId}-late`);
    await Promise.all(late.map((jobId) => old.jobs.put(aJob({ jobId, dueAt: NOON }))));
    raised = await data.open(MANY);
    expect(await due(raised.jobs, MANY)).toEqual(each([...IDS, ...late], 0));
  });
});
