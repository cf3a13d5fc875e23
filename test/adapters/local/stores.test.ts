import { LocalControlStore } from '../../../src/adapters/local/control-store';
import { openDatabase, type Database } from '../../../src/adapters/local/database';
import { LocalGroupStore } from '../../../src/adapters/local/group-store';
import { LocalJobStore } from '../../../src/adapters/local/job-store';
import { LocalNotificationStore } from '../../../src/adapters/local/notification-store';
import { LocalRunStore } from '../../../src/adapters/local/run-store';
import { sweepExpired } from '../../../src/adapters/local/sweep';
import type { Job } from '../../../src/domain/job';
import { after, allPages } from '../../contracts/contract';
import { NOON, aGroup, aJob, aNotification, aPart, aRun } from '../../contracts/rows';
import { freshFolder, removeFolder } from '../../support/data-folder';
import { HandClock } from '../../support/hand-clock';

let folder: string;
let database: Database;
beforeEach(async () => {
  folder = freshFolder();
  database = await openDatabase(folder, { survivesPowerLoss: false });
});
afterEach(async () => {
  await database.close();
  removeFolder(folder);
});

describe('ending the leases of a predecessor', () => {
  test('ends those of started runs and leaves all others alone', async () => {
    const runs = new LocalRunStore(database, { shards: 4 });
    const started = Array.from({ length: 30 }, () => aRun());
    const done = aRun();
    const waiting = aRun({ state: 'RELEASED', indexDueAt: NOON });
    await Promise.all([...started, done, waiting].map((run) => runs.put(run)));
    await runs.put({ ...done, revision: 2, state: 'DONE' }, done);

    expect(await runs.releaseLeases()).toBe(30);

    for (const run of started) {
      expect(await runs.read(run.jobId, run.runId)).toEqual({ ...run, revision: 2, leaseUntil: 0 });
    }
    expect(await runs.read(done.jobId, done.runId)).toEqual({ ...done, revision: 2, state: 'DONE' });
    expect(await runs.read(waiting.jobId, waiting.runId)).toEqual(waiting);
  });

  test('is lost on nobody who saw the run before: its write fails', async () => {
    const runs = new LocalRunStore(database, { shards: 4 });
    const run = aRun();
    await runs.put(run);
    await runs.releaseLeases();
    expect(await runs.put({ ...run, revision: 2, state: 'DONE' }, run)).toBe(false);
  });
});

describe('another number of shards', () => {
  test('loses neither waiting jobs nor waiting runs', async () => {
    const jobs = Array.from({ length: 50 }, (_, index) => aJob({ dueAt: NOON + index }));
    const runs = Array.from({ length: 50 }, (_, index) => aRun({ state: 'RELEASED', indexDueAt: NOON + index }));
    const idle = aJob();
    const before = {
      jobs: new LocalJobStore(database, { shards: 4 }),
      runs: new LocalRunStore(database, { shards: 4 }),
    };
    await Promise.all([...jobs.map((job) => before.jobs.put(job)), ...runs.map((run) => before.runs.put(run))]);
    await before.jobs.put(idle);

    const shards = 7;
    const jobStore = new LocalJobStore(database, { shards });
    const runStore = new LocalRunStore(database, { shards });
    const moved = jobs[0]!;
    await jobStore.update({ ...moved, revision: 2, dueAt: NOON + 1_000 }, moved);
    const until = NOON + 1_000;
    const dueJobs: string[] = [];
    const dueRuns: string[] = [];
    for (let shard = 0; shard < shards; shard += 1) {
      const page = { shard, until, limit: 5 };
      dueJobs.push(
        ...(await allPages((cursor) => jobStore.due({ ...page, ...after(cursor) }))).map((key) => key.jobId),
      );
      dueRuns.push(
        ...(await allPages((cursor) => runStore.due({ ...page, ...after(cursor) }))).map((key) => key.runId),
      );
    }
    expect(dueJobs.sort()).toEqual(jobs.map((job) => job.jobId).sort());
    expect(dueRuns.sort()).toEqual(runs.map((run) => run.runId).sort());
  });
});

describe('the list of jobs', () => {
  test('a tag that one job of thousands has is found, a bounded stretch at a time', async () => {
    const jobs = new LocalJobStore(database, { shards: 4 });
    const ids = Array.from({ length: 2_500 }, (_, index) => `job-${index.toString().padStart(5, '0')}`);
    await Promise.all(ids.map((jobId) => jobs.put(aJob({ jobId, tags: jobId === 'job-02499' ? ['rare'] : [] }))));
    const first = await jobs.list({ limit: 10, tag: 'rare' });
    expect(first.items).toEqual([]);
    expect(first.cursor).toBeDefined();
    const all = await allPages((cursor) => jobs.list({ limit: 10, tag: 'rare', ...after(cursor) }));
    expect(all.map((row) => row.jobId)).toEqual(['job-02499']);
  });
});

describe('the sweep', () => {
  test('removes what has expired, with what belongs to it, and nothing else', async () => {
    const clock = new HandClock(NOON);
    const jobs = new LocalJobStore(database, { shards: 4 });
    const runs = new LocalRunStore(database, { shards: 4 });
    const notifications = new LocalNotificationStore(database);
    const control = new LocalControlStore(database, { clock });
    const groups = new LocalGroupStore(database);
    // More than one step of the sweep, expired and living in turn.
    const written = Array.from({ length: 1_200 }, (_, index) =>
      aJob({
        dueAt: NOON - 10,
        ...(index % 2 === 0 ? { expiresAt: NOON } : index % 4 === 1 ? { expiresAt: NOON + 1 } : {}),
      }),
    );
    const expired = written.filter((job) => job.expiresAt === NOON);
    const living = written.filter((job) => job.expiresAt !== NOON);
    const oldRun = aRun({ jobId: living[0]!.jobId, state: 'RELEASED', indexDueAt: NOON, expiresAt: NOON - 1 });
    const oldFailure = aRun({ state: 'FAILED', failedAt: NOON - 9, expiresAt: NOON });
    const oldGroup = aGroup({ expiresAt: NOON });
    const youngGroup = aGroup({ expiresAt: NOON + 1 });
    const youngPart = aPart({ groupId: youngGroup.groupId, expiresAt: NOON + 1 });
    const youngRun = aRun({ jobId: living[0]!.jobId, expiresAt: NOON + 1 });
    const orphan = aNotification({ jobId: expired[0]!.jobId });
    const wanted = aNotification({ jobId: living[0]!.jobId });
    await Promise.all([
      ...written.map((job) => jobs.put(job)),
      runs.put(oldRun),
      runs.put(youngRun),
      notifications.put(orphan),
      notifications.put(wanted),
      control.put({ name: 'old', value: '1', expiresAt: NOON }),
      control.put({ name: 'young', value: '1', expiresAt: NOON + 1 }),
      runs.put(oldFailure),
      groups.put(oldGroup),
      groups.put(youngGroup),
      groups.putPart(aPart({ groupId: oldGroup.groupId, expiresAt: NOON })),
      groups.putPart(aPart({ groupId: oldGroup.groupId, partId: '1', expiresAt: NOON - 1 })),
      groups.putPart(youngPart),
    ]);
    const [edited, editedLater] = living as [Job, Job, ...Job[]];
    await jobs.keepDefinition(edited, NOON);
    await jobs.keepDefinition(editedLater, NOON + 1);

    expect(await sweepExpired(database, { jobs, runs, notifications }, NOON)).toEqual({
      jobs: expired.length,
      runs: 2,
      controlEntries: 1,
      definitions: 1,
      groups: 1,
      groupParts: 2,
    });
    expect(await runs.failed({ limit: 10 })).toEqual({ items: [] });
    expect([...database.table('runs-failed').getKeys()]).toEqual([]);
    expect(await groups.read(oldGroup.groupId)).toBeUndefined();
    expect(await groups.readParts(oldGroup.groupId)).toEqual([]);
    expect(await groups.read(youngGroup.groupId)).toEqual(youngGroup);
    expect(await groups.readParts(youngGroup.groupId)).toEqual([youngPart]);
    expect(await jobs.readDefinition(edited.jobId, edited.generations.at(-1)!.id)).toBeUndefined();
    expect(await jobs.readDefinition(editedLater.jobId, editedLater.generations.at(-1)!.id)).toEqual(editedLater);

    expect(await jobs.readRows(expired.map((job) => job.jobId))).toEqual([]);
    expect(await jobs.readRows(living.map((job) => job.jobId))).toHaveLength(living.length);
    expect((await jobs.read(living[0]!.jobId))?.payload).toBe(living[0]!.payload);
    expect(await runs.read(oldRun.jobId, oldRun.runId)).toBeUndefined();
    expect(await runs.read(youngRun.jobId, youngRun.runId)).toEqual(youngRun);
    expect(await notifications.of(orphan.jobId)).toEqual([]);
    expect(await notifications.of(wanted.jobId)).toEqual([wanted]);
    expect(database.table('control').get('old')).toBeUndefined();
    expect(await control.read('young')).toBeDefined();
    const due: string[] = [];
    for (let shard = 0; shard < 4; shard += 1) {
      const page = { shard, until: NOON, limit: 100 };
      due.push(...(await allPages((cursor) => jobs.due({ ...page, ...after(cursor) }))).map((key) => key.jobId));
      expect((await runs.due(page)).items).toEqual([]);
    }
    expect(due.sort()).toEqual(living.map((job) => job.jobId).sort());
    expect([...database.table('payloads').getKeys()]).toHaveLength(living.length);
    expect(await sweepExpired(database, { jobs, runs, notifications }, NOON)).toEqual({
      jobs: 0,
      runs: 0,
      controlEntries: 0,
      definitions: 0,
      groups: 0,
      groupParts: 0,
    });
  });

  test('removes the former definitions of a job with the last that is left of it, however long they were to be kept', async () => {
    const jobs = new LocalJobStore(database, { shards: 4 });
    const runs = new LocalRunStore(database, { shards: 4 });
    const notifications = new LocalNotificationStore(database);
    const swept = (now: number) => sweepExpired(database, { jobs, runs, notifications }, now);
    const job = aJob({ expiresAt: NOON });
    const run = aRun({ jobId: job.jobId, expiresAt: NOON + 2 });
    await jobs.put(job);
    await runs.put(run);
    await jobs.keepDefinition(job, NOON + 1_000_000);
    const isKept = async () => (await jobs.readDefinition(job.jobId, job.generations.at(-1)!.id)) !== undefined;
    expect(await swept(NOON - 1)).toMatchObject({ jobs: 0, definitions: 0 });
    expect(await swept(NOON)).toMatchObject({ jobs: 1, runs: 0, definitions: 0 });
    expect(await isKept()).toBe(true);
    expect(await swept(NOON + 2)).toMatchObject({ runs: 1, definitions: 1 });
    expect(await isKept()).toBe(false);
  });
});
