import { scheduledRunIdOf } from '../../src/domain/activation';
import { ConflictError, NotFoundError } from '../../src/domain/errors';
import type { Group } from '../../src/domain/group';
import type { JobRequest } from '../../src/domain/job-request';
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { editJob } from '../../src/operations/edit-job';
import {
  flushFailed,
  forgetFailed,
  listFailed,
  readFailed,
  retryAllFailed,
  retryFailed,
} from '../../src/operations/failed-runs';
import { pauseJob } from '../../src/operations/pause-job';
import { readJob, readRun } from '../../src/operations/read-job';
import type { Ports } from '../../src/ports';
import { aJob, anActivation, DAY, HOUR, MINUTE, NOON, onceAt, SECOND } from '../support/builders';
import { CrashError, doomedProcess } from '../support/crashing-ports';
import { checkAtRest } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
let ports: Ports;
const open = async (code: Record<string, Code> = { 'job-report': failing }, failedRetentionMs = 60 * DAY) => {
  world = await World.open({ code });
  ports = { ...world.ports, settings: { ...world.ports.settings, failedRetentionMs } };
};
afterEach(() => world.close());

const failing: Code = () => {
  throw new TypeError('no');
};
const retry = (maxAttempts: number) => ({
  maxAttempts,
  backoff: { kind: 'fixed' as const, seconds: 1 },
  jitter: 'none' as const,
});
const create = (jobId: string, changes: Partial<JobRequest> = {}) =>
  createJob(`create-${jobId}`, aRequest({ jobId, retry: retry(2), ...changes }), ports);
const runIdOf = (jobId: string, at = NOON) => scheduledRunIdOf(jobId, at);
const failedIds = async () => (await listFailed({ limit: 100 }, ports)).items.map(({ jobId }) => jobId);

describe('a failed run', () => {
  test('is kept with its reason, all its attempts and the payload it ran with, also when its job was edited since', async () => {
    await open();
    world.start(ports);
    await create('a', { schedule: rate('rate(1 hour)'), payload: '{"id":9007199254740993}' });
    await world.clock.advance(HOUR + MINUTE);
    await editJob('a', { payload: '"new"' }, undefined, ports);
    const runId = runIdOf('a', NOON + HOUR);
    expect(await listFailed({ limit: 10 }, ports)).toMatchObject({
      items: [{ jobId: 'a', runId, reason: 'out-of-attempts', failedAt: NOON + HOUR + SECOND }],
    });
    const { run, job } = await readFailed('a', runId, ports);
    expect(run.attempts.map(({ attempt, error }) => [attempt, error?.type])).toEqual([
      [1, 'TypeError'],
      [2, 'TypeError'],
    ]);
    expect(job?.payload).toBe('{"id":9007199254740993}');
    await expect(readFailed('a', 'other', ports)).rejects.toThrow(NotFoundError);
  });

  test('that is sent again is the same run in a new series, with attempts of its own and what it ran with', async () => {
    await open();
    world.start(ports);
    await create('a', { payload: '"as it was"' });
    await world.clock.advance(10 * SECOND);
    const before = world.calls.length;
    expect(await retryFailed('a', runIdOf('a'), ports)).toMatchObject({
      state: 'RELEASED',
      series: { number: 2, after: 2 },
    });
    expect(await failedIds()).toEqual([]);
    await world.clock.advance(10 * SECOND);
    const again = world.calls.slice(before);
    expect(again.map(({ event }) => [event['runId'], event['attempt'], event['payload']])).toEqual([
      [runIdOf('a'), 3, 'as it was'],
      [runIdOf('a'), 4, 'as it was'],
    ]);
    const run = await readRun('a', runIdOf('a'), ports);
    expect(run).toMatchObject({ state: 'FAILED', attempt: 4, series: { number: 2, after: 2 } });
    expect(run.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    world.code['job-report'] = () => 'done';
    await retryFailed('a', runIdOf('a'), ports);
    await world.clock.advance(10 * SECOND);
    expect(await readRun('a', runIdOf('a'), ports)).toMatchObject({ state: 'DONE', attempt: 5 });
    await checkAtRest(world);
  });

  test('that is sent again twice, beside messages that are left of it, is called once', async () => {
    await open();
    const engine = world.start(ports);
    await create('a', { retry: retry(1) });
    await world.clock.advance(10 * SECOND);
    await world.stop(engine);
    world.code['job-report'] = async (call, clock) => clock.waitUntil(call.at + 20 * SECOND);
    const { generation } = (await world.runsOf('a'))[0]!;
    const old = { body: JSON.stringify(anActivation({ jobId: 'a', generation, sequence: 1 })) };
    await ports.activations.send([old, old]);
    await Promise.all([retryFailed('a', runIdOf('a'), ports), retryFailed('a', runIdOf('a'), ports)]);
    await ports.activations.send([old]);
    world.start(ports);
    await world.clock.advance(10 * SECOND);
    expect(await retryFailed('a', runIdOf('a'), ports)).toMatchObject({ state: 'STARTED', attempt: 2 });
    await world.clock.advance(5 * MINUTE);
    expect(world.calls).toHaveLength(2);
    await expect(retryFailed('a', runIdOf('a'), ports)).rejects.toThrow(NotFoundError);
    await checkAtRest(world);
  });

  test('whose sender dies anywhere stays failed or has its new series, and is called once in it', async () => {
    let histories = 0;
    for (const when of ['before', 'after'] as const) {
      for (let crashAt = 1, hasCrashed = true; hasCrashed; crashAt++, histories++) {
        await open();
        const unique = { key: 'k', forSeconds: 3_600, until: 'done' as const };
        const engine = world.start(ports);
        await create('a', { retry: retry(1), unique, concurrency: { key: 'k', limit: 1 } });
        await world.clock.advance(10 * SECOND);
        await world.stop(engine);
        world.code['job-report'] = () => 'done';
        const doomed = doomedProcess(ports, crashAt, when);
        await retryFailed('a', runIdOf('a'), doomed.ports).catch((error: unknown) => {
          if (!(error instanceof CrashError)) throw error;
        });
        hasCrashed = doomed.hasCrashed();
        const isKept = (await failedIds()).length === 1;
        world.start(ports);
        await world.clock.advance(2 * MINUTE);
        const run = await readRun('a', runIdOf('a'), ports);
        expect([run.state, world.calls.length, crashAt]).toEqual([isKept ? 'FAILED' : 'DONE', isKept ? 1 : 2, crashAt]);
        if (isKept) {
          await retryFailed('a', runIdOf('a'), ports);
          await world.clock.advance(MINUTE);
        }
        expect(await readRun('a', runIdOf('a'), ports)).toMatchObject({ state: 'DONE', series: { number: 2 } });
        await checkAtRest(world);
        await world.close();
      }
    }
    expect(histories).toBeGreaterThan(10);
    await open();
  });

  test('that no runner ever took is sent again however late that is, also while its job is paused', async () => {
    await open({ 'job-report': () => 'done' });
    await create('a', { schedule: rate('rate(1 hour)') });
    const { generations } = (await ports.jobs.read('a'))!;
    const nominalAt = NOON - HOUR;
    const dead = anActivation({ jobId: 'a', generation: generations[0]!.id, nominalAt, dueAt: nominalAt, returns: 3 });
    await ports.deadActivations.send([{ body: JSON.stringify(dead) }]);
    world.start(ports);
    await world.clock.advance(MINUTE);
    const runId = runIdOf('a', nominalAt);
    expect(await ports.runs.read('a', runId)).toMatchObject({ state: 'FAILED', reason: 'undeliverable', attempt: 0 });
    await pauseJob('a', {}, ports);
    await retryFailed('a', runId, ports);
    await world.clock.advance(MINUTE);
    expect(await ports.runs.read('a', runId)).toMatchObject({ state: 'DONE', attempt: 1 });
  });

  test('of a deleted job, or of a group that was cancelled, is refused', async () => {
    await open();
    world.start(ports);
    await create('a', { retry: retry(1) });
    await world.clock.advance(10 * SECOND);
    await deleteJob('d', 'a', ports);
    await expect(retryFailed('a', runIdOf('a'), ports)).rejects.toThrow(ConflictError);
    expect((await readFailed('a', runIdOf('a'), ports)).job).toMatchObject({ payload: 'null' });

    const member = { groupId: 'g', kind: 'batch', partId: 'p', index: 0 } as const;
    const job = aJob({ jobId: 'm', schedule: onceAt(NOON) });
    await ports.jobs.put({ ...job, retry: retry(1) });
    await ports.activations.send([{ body: JSON.stringify(anActivation({ jobId: 'm' })) }]);
    await world.clock.advance(MINUTE);
    const [row] = await ports.jobs.readRows(['m']);
    await ports.jobs.update({ ...row!, revision: row!.revision + 1, member }, row!);
    const head: Group = {
      groupId: 'g',
      kind: 'batch',
      revision: 1,
      sequence: 2,
      state: 'CANCELLED',
      cancelledAt: NOON,
      callbacks: {},
      parts: { p: 1 },
      createdAt: NOON,
      requestDigest: '',
      expiresAt: NOON + DAY,
    };
    await ports.groups.put(head);
    await expect(retryFailed('m', runIdOf('m'), ports)).rejects.toThrow(/batch g was cancelled/);
    expect(await ports.runs.read('m', runIdOf('m'))).toMatchObject({ state: 'FAILED' });
  });

  test('is kept, with its job and payload, as long as the setting says and no longer', async () => {
    await open();
    const engine = world.start(ports);
    await create('a', { payload: '"kept"' });
    await world.clock.advance(10 * SECOND);
    await world.stop(engine);
    await world.clock.advance(60 * DAY - MINUTE);
    await world.sweepExpired();
    expect((await readFailed('a', runIdOf('a'), ports)).job).toMatchObject({ payload: '"kept"' });
    expect(await readJob('a', ports)).toMatchObject({ state: 'COMPLETED' });
    await world.clock.advance(MINUTE);
    expect(await failedIds()).toEqual([]);
    await world.sweepExpired();
    expect(await ports.runs.read('a', runIdOf('a'))).toBeUndefined();
    expect(await ports.jobs.read('a')).toBeUndefined();
  });

  test('that is forgotten is no longer among the failed ones, and stays in the list of its job’s runs', async () => {
    await open();
    world.start(ports);
    await create('a');
    await world.clock.advance(10 * SECOND);
    await forgetFailed('a', runIdOf('a'), ports);
    await forgetFailed('a', runIdOf('a'), ports);
    expect(await failedIds()).toEqual([]);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', reason: 'out-of-attempts' }]);
    await expect(retryFailed('a', runIdOf('a'), ports)).rejects.toThrow(NotFoundError);
    await expect(forgetFailed('a', 'other', ports)).rejects.toThrow(NotFoundError);
  });
});

describe('many failed runs', () => {
  const openWithFailed = async (count: number) => {
    await open({
      'job-report': failing,
      other: () => {
        throw new RangeError('far');
      },
    });
    world.start(ports);
    for (let k = 0; k < count; k++) {
      const { functionArn } = aRequest({ code: k % 3 === 0 ? 'other' : 'job-report' });
      await create(`job-${k}`, { functionArn, retry: retry(1) });
      await world.clock.advance(SECOND);
    }
  };

  test('are found by job, by instant and by reason, the latest first', async () => {
    await openWithFailed(6);
    expect(await failedIds()).toEqual(['job-5', 'job-4', 'job-3', 'job-2', 'job-1', 'job-0']);
    const found = async (filter: object) =>
      (await listFailed({ limit: 10, ...filter }, ports)).items.map(({ jobId }) => jobId);
    expect(await found({ jobId: 'job-2' })).toEqual(['job-2']);
    expect(await found({ since: NOON + 4 * SECOND })).toEqual(['job-5', 'job-4']);
    expect(await found({ reason: 'RangeError' })).toEqual(['job-3', 'job-0']);
    expect(await found({ reason: 'out-of-attempts', since: NOON + 5 * SECOND })).toEqual(['job-5']);
  });

  test('are sent again by filter, the latest first, and who is refused is named and does not count', async () => {
    await openWithFailed(30);
    await deleteJob('d', 'job-27', ports);
    world.code['other'] = () => 'done';
    const first = await retryAllFailed({ reason: 'RangeError', limit: 4 }, ports);
    expect(first).toMatchObject({ retried: 4, refused: [{ jobId: 'job-27' }], isMore: true });
    const rest = await retryAllFailed({ reason: 'RangeError', limit: 100 }, ports);
    expect(rest).toMatchObject({ retried: 5, refused: [{ jobId: 'job-27' }], isMore: false });
    await world.clock.advance(MINUTE);
    expect(await world.runsOf('job-24')).toMatchObject([{ state: 'DONE', attempt: 2 }]);
    expect((await failedIds()).length).toBe(21);
  });

  test('are forgotten by filter', async () => {
    await openWithFailed(12);
    expect(await flushFailed({ reason: 'TypeError', limit: 3 }, ports)).toEqual({ forgotten: 3, isMore: true });
    expect(await flushFailed({ reason: 'TypeError', limit: 100 }, ports)).toEqual({ forgotten: 5, isMore: false });
    expect(await failedIds()).toEqual(['job-9', 'job-6', 'job-3', 'job-0']);
  });
});

describe('the attempts of a run', () => {
  test('with errors of a megabyte, a hundred of them, are all shown, and its row stays small', async () => {
    await open({
      'job-report': ({ event }) => {
        throw new Error(`${String(event['attempt'])} ${'\u0001é'.repeat(300_000)}`);
      },
    });
    world.start(ports);
    await create('a', { retry: { ...retry(100), backoff: { kind: 'fixed', seconds: 0 } } });
    await world.clock.advance(5 * MINUTE);
    const row = await ports.runs.read('a', runIdOf('a'));
    expect(row).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts', attempt: 100 });
    // DynamoDB takes items of up to 400 KB.
    expect(Buffer.byteLength(JSON.stringify(row))).toBeLessThan(100_000);
    const { attempts } = await readRun('a', runIdOf('a'), ports);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(attempts.map(({ error }) => Number(error?.message.split(' ')[0]))).toEqual(
      attempts.map(({ attempt }) => attempt),
    );
    expect((await readFailed('a', runIdOf('a'), ports)).run.attempts).toEqual(attempts);
  });

  test('of which there is one cost no call beside the run', async () => {
    await open({ 'job-report': () => 'done' });
    const { control } = ports;
    const names: string[] = [];
    const watched: Ports['control'] = {
      read: (name) => {
        names.push(name);
        return control.read(name);
      },
      put: (entry, seen) => {
        names.push(entry.name);
        return control.put(entry, seen);
      },
    };
    world.start({ ...ports, control: watched });
    await create('a');
    await world.clock.advance(SECOND);
    expect(await readRun('a', runIdOf('a'), { ...ports, control: watched })).toMatchObject({ state: 'DONE' });
    expect(names.filter((name) => name.includes(runIdOf('a')))).toEqual([]);
  });
});
