import { scheduledRunIdOf } from '../../src/domain/activation';
import { ConflictError, NotFoundError } from '../../src/domain/errors';
import { cancelRun } from '../../src/operations/cancel-run';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { pauseJob } from '../../src/operations/pause-job';
import { readJob } from '../../src/operations/read-job';
import { triggerJob } from '../../src/operations/trigger-job';
import type { Ports } from '../../src/ports';
import { functionArn, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { dieEverywhere, runVisible, type Story } from '../support/die-everywhere';
import { checkAtRest, eventIds } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
const open = async (code: Record<string, Code>) => {
  world = await World.open({ code });
};
const close = () => world.close();
const create = (jobId: string, changes: Parameters<typeof aRequest>[0] = {}, at: World = world) =>
  createJob(`create-${jobId}`, aRequest({ jobId, ...changes }), at.ports);
const delayed = (delaySeconds: number) => ({ schedule: { kind: 'delay' as const, delaySeconds } });
const waiting = (seconds: number) => ({
  retry: { maxAttempts: 3, backoff: { kind: 'fixed' as const, seconds }, jitter: 'none' as const },
});
const onlyRunId = async (jobId: string, at: World = world) => (await at.runsOf(jobId))[0]!.runId;
const lasting =
  (ms: number): Code =>
  async (call, clock) => {
    await clock.waitUntil(call.at + ms);
    return 'too late';
  };
const failing: Code = () => {
  throw new Error('again');
};
const subscribe = (at: World) =>
  createNotification('n1', { jobId: 'a', state: 'CANCELLED', functionArn: functionArn('notify') }, at.ports);

describe('a run that is taken back', () => {
  afterEach(close);

  test('before it begins never begins, and its one-off job is over', async () => {
    await open({ 'job-report': () => 'done' });
    world.start();
    for (const [jobId, seconds] of [
      ['soon', 600],
      ['later', 7_200],
    ] as const) {
      await create(jobId, delayed(seconds));
      const runId = scheduledRunIdOf(jobId, NOON + seconds * SECOND);
      const run = await cancelRun(jobId, runId, { reason: 'not needed', by: 'ann' }, world.ports);
      expect(run).toMatchObject({ state: 'CANCELLED', reason: 'cancelled by ann: not needed', attempt: 0 });
      const standing = await readJob(jobId, world.ports);
      expect(standing).toMatchObject({ state: 'COMPLETED' });
      expect(standing.job).not.toHaveProperty('dueAt');
    }
    await world.clock.advance(3 * HOUR);
    expect(world.calls).toEqual([]);
    await checkAtRest(world);
  });

  test('is one occurrence of its schedule, and the others run', async () => {
    await open({ 'job-report': () => 'done' });
    await create('a', { schedule: rate('rate(10 minutes)') });
    await cancelRun('a', scheduledRunIdOf('a', NOON + 20 * MINUTE), {}, world.ports);
    world.start();
    await world.clock.advance(35 * MINUTE);
    expect((await world.runsOf('a')).map(({ state }) => state)).toEqual(['DONE', 'CANCELLED', 'DONE']);
    expect(world.calls.map(({ at }) => at)).toEqual([NOON + 10 * MINUTE, NOON + 30 * MINUTE]);
  });

  test('that a person triggered does not begin', async () => {
    await open({ 'job-report': () => 'done' });
    await create('a', { schedule: rate('rate(1 hour)') });
    const { runId } = await triggerJob('t1', 'a', world.ports);
    await cancelRun('a', runId, {}, world.ports);
    world.start();
    await world.clock.advance(MINUTE);
    expect(world.calls).toEqual([]);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'CANCELLED', origin: 'manual' }]);
  });

  test('of a paused one-off gives the job an end', async () => {
    await open({ 'job-report': () => 'done' });
    await create('a', delayed(600));
    await pauseJob('a', {}, world.ports);
    await cancelRun('a', scheduledRunIdOf('a', NOON + 600 * SECOND), {}, world.ports);
    const { job, state } = await readJob('a', world.ports);
    expect(state).toBe('COMPLETED');
    expect(job.expiresAt).toBeDefined();
  });

  for (const seconds of [300, 7_200]) {
    test(`between its attempts, ${seconds} s apart, has no further one`, async () => {
      await open({ 'job-report': failing });
      world.start();
      await create('a', waiting(seconds));
      await world.clock.advance(MINUTE);
      const run = await cancelRun('a', await onlyRunId('a'), {}, world.ports);
      expect(run).toMatchObject({ state: 'CANCELLED', reason: 'cancelled', attempt: 1 });
      await world.clock.advance(3 * HOUR);
      expect(world.calls).toHaveLength(1);
      expect(await world.runsOf('a')).toEqual([run]);
      await checkAtRest(world);
    });
  }

  test('at work goes on under its lease until it stops, and is CANCELLED without its result', async () => {
    await open({ 'job-report': lasting(10 * MINUTE), notify: () => null });
    world.start();
    await create('a');
    await subscribe(world);
    await world.clock.advance(90 * SECOND);
    const runId = await onlyRunId('a');
    const asked = await cancelRun('a', runId, { by: 'ann' }, world.ports);
    expect(asked).toMatchObject({ state: 'STARTED', cancelRequestedAt: world.clock.now() });
    expect(await cancelRun('a', runId, { by: 'bob' }, world.ports)).toMatchObject({
      cancelRequestedAt: asked.cancelRequestedAt,
    });
    await world.clock.advance(MINUTE);
    expect(world.notes).toContainEqual({ what: 'cancel-requested', details: { jobId: 'a', runId, attempt: 1 } });
    await world.clock.advance(15 * MINUTE);
    expect(world.callsOf('job-report')).toHaveLength(1);
    const [run] = await world.runsOf('a');
    expect(run).toMatchObject({ state: 'CANCELLED', reason: 'cancelled by ann', sequence: 3 });
    expect(run).not.toHaveProperty('result');
    expect(eventIds(world, 'notify')).toEqual([`${runId}:3`]);
    await checkAtRest(world);
  });

  test('whose code throws when it is to stop has no further attempt', async () => {
    await open({
      'job-report': async (call, clock) => {
        await clock.waitUntil(call.at + MINUTE);
        throw new Error('aborted');
      },
    });
    world.start();
    await create('a', waiting(1));
    await world.clock.advance(SECOND);
    await cancelRun('a', await onlyRunId('a'), {}, world.ports);
    await world.clock.advance(10 * MINUTE);
    expect(world.calls).toHaveLength(1);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'CANCELLED', error: { message: 'aborted' } }]);
  });

  test('frees its place for the run that waits for it', async () => {
    await open({
      'job-report': ({ event }) => {
        if (event['nominalAt'] === new Date(NOON + MINUTE).toISOString()) throw new Error('again');
      },
    });
    world.start();
    await create('a', { schedule: rate('rate(1 minute)'), maxRuns: 2, overlap: 'queue-one', ...waiting(3_600) });
    await world.clock.advance(2 * MINUTE + SECOND);
    expect(world.calls).toHaveLength(1);
    await cancelRun('a', await onlyRunId('a'), {}, world.ports);
    await world.clock.advance(100);
    expect((await world.runsOf('a')).map(({ state }) => state)).toEqual(['CANCELLED', 'DONE']);
  });

  test('when it is over, or is no run of its job, is refused', async () => {
    await open({ 'job-report': () => 'done' });
    world.start();
    await create('a');
    await world.clock.advance(SECOND);
    const cancel = (jobId: string, runId: string) => cancelRun(jobId, runId, {}, world.ports);
    await expect(cancel('a', await onlyRunId('a'))).rejects.toThrow(ConflictError);
    for (const [jobId, runId] of [
      ['a', scheduledRunIdOf('a', NOON + 1)],
      ['a', 'nonsense'],
      ['b', scheduledRunIdOf('b', NOON)],
    ] as const) {
      await expect(cancel(jobId, runId)).rejects.toThrow(NotFoundError);
    }
    expect(await world.runsOf('a')).toHaveLength(1);
  });
});

describe('a process that dies between any two calls of', () => {
  const cancel = async (ports: Ports, nominalAt = NOON) => cancelRun('a', scheduledRunIdOf('a', nominalAt), {}, ports);
  /** Either nothing happened, or all of it: CANCELLED, which its subscriber heard of. */
  const allOrNothing = async (at: World, otherwise: string) => {
    const [run] = await at.runsOf('a');
    expect([otherwise, 'CANCELLED']).toContain(run!.state);
    const heard = run!.state === 'CANCELLED' ? [`${run!.runId}:${run!.sequence}`] : [];
    expect(eventIds(at, 'notify')).toEqual(heard);
    return run!;
  };
  const states: [string, string, Pick<Story, 'code' | 'arrange'> & { nominalAt?: number }][] = [
    [
      'has not begun',
      'DONE',
      {
        code: { 'job-report': () => 'done' },
        arrange: async (at) => void (await create('a', delayed(30), at)),
        nominalAt: NOON + 30 * SECOND,
      },
    ],
    [
      'waits for a retry in the queue',
      'FAILED',
      {
        code: { 'job-report': failing },
        arrange: async (at) => {
          await create('a', waiting(100), at);
          await at.untilOver(runVisible(at, at.ports));
        },
      },
    ],
    [
      'waits for a retry in the due index',
      'FAILED',
      {
        code: { 'job-report': failing },
        arrange: async (at) => {
          await create('a', waiting(1_000), at);
          await at.untilOver(runVisible(at, at.ports));
        },
      },
    ],
    [
      'is at work',
      'DONE',
      {
        code: { 'job-report': lasting(3 * MINUTE) },
        arrange: async (at) => {
          await create('a', {}, at);
          at.start();
          await at.clock.advance(30 * SECOND);
        },
      },
    ],
  ];
  for (const [what, otherwise, { code, arrange, nominalAt }] of states) {
    for (const isAskedAgain of [false, true]) {
      test(`cancelling a run that ${what}${isAskedAgain ? ', and asks again' : ''}: it is wholly done or not at all`, async () => {
        const histories = await dieEverywhere({
          code: { ...code, notify: () => null },
          rest: HOUR,
          arrange: async (at) => {
            await arrange!(at);
            await subscribe(at);
          },
          act: (_, ports) => cancel(ports, nominalAt),
          ...(isAskedAgain ? { again: (at: World) => cancel(at.ports, nominalAt) } : {}),
          check: async (at, { wasAcknowledged }) => {
            const run = await allOrNothing(at, otherwise);
            if (wasAcknowledged) expect(run.state).toBe('CANCELLED');
            if (run.state === 'CANCELLED') expect(at.callsOf('job-report')).toHaveLength(run.attempt);
          },
        });
        expect(histories).toBeGreaterThan(5);
      });
    }
  }

  test('carrying a run that is cancelled meanwhile: it is CANCELLED, and has no further attempt', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': lasting(MINUTE), notify: () => null },
      arrange: async (at) => {
        await create('a', waiting(1), at);
        await subscribe(at);
      },
      act: async (at, ports) => {
        const carried = runVisible(at, ports).catch((error: unknown) => ({ error }));
        await at.clock.advance(30 * SECOND);
        await cancel(at.ports);
        const failure = await carried;
        if (failure) throw failure.error;
      },
      check: async (at) => {
        const run = await allOrNothing(at, 'CANCELLED');
        expect(at.callsOf('job-report').length).toBeLessThanOrEqual(1);
        expect(run.attempt).toBeLessThanOrEqual(1);
      },
    });
    expect(histories).toBeGreaterThan(12);
  });
});
