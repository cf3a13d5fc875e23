import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { RUN_STATES } from '../../src/domain/run';
import { DAY, functionArn, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { checkAtRest, eventIds } from '../support/invariants';
import type { Engine } from '../../src/local/engine';
import { aRequest, rate, World } from '../support/world';

const START = NOON - 12 * HOUR;

/** A day of mixed jobs, with an outage of two hours from 14:00 and a restart at 20:00. */
describe('a day in the life of the system', () => {
  let world: World;
  let engine: Engine;
  beforeAll(async () => {
    world = await World.open({
      startAt: START,
      code: {
        quick: () => 'done',
        slow: async (call, clock) => clock.waitUntil(call.at + 90 * SECOND),
        flaky: ({ event }) => {
          if (Number(event['attempt']) < 3) throw new Error('not yet');
          return event['payload'];
        },
        hopeless: () => {
          throw new TypeError('never');
        },
        notify: () => null,
      },
    });
    const { ports, clock } = world;
    const create = (jobId: string, changes: Parameters<typeof aRequest>[0]) =>
      createJob(`create-${jobId}`, aRequest({ jobId, ...changes }), ports);
    await create('minutely', { code: 'quick', schedule: rate('rate(1 minute)') });
    await create('slow', { code: 'slow', schedule: rate('rate(10 minutes)') });
    await create('noon', {
      code: 'quick',
      schedule: { kind: 'expression', expression: 'at(2027-05-04T13:00:00)', timezone: 'Europe/London' },
    });
    await create('in-the-outage', { code: 'quick', schedule: { kind: 'delay', delaySeconds: (15 * HOUR) / SECOND } });
    await create('deleted', { code: 'quick', schedule: rate('rate(1 hour)') });
    await create('never', { code: 'quick', schedule: { kind: 'delay', delaySeconds: (23 * HOUR) / SECOND } });
    await create('flaky', {
      code: 'flaky',
      schedule: rate('rate(3 hours)'),
      payload: '{"id":9007199254740993,"neg0":-0.0}',
      retry: { maxAttempts: 3, backoff: { kind: 'list', seconds: [30, 1_200] }, jitter: 'none' },
    });
    await create('hopeless', {
      code: 'hopeless',
      schedule: rate('rate(6 hours)'),
      retry: { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 5 }, jitter: 'none' },
    });
    for (const state of RUN_STATES) {
      await createNotification(`all-${state}`, { jobId: 'flaky', state, functionArn: functionArn('notify') }, ports);
    }
    engine = world.start();
    const untilHour = (hour: number) => clock.advanceTo(START + hour * HOUR);
    await untilHour(8.51);
    await deleteJob('delete-1', 'deleted', ports);
    await deleteJob('delete-2', 'never', ports);
    await untilHour(14);
    await world.stop(engine);
    await untilHour(16);
    await world.takeOver();
    engine = world.start();
    await untilHour(20);
    await world.stop(engine);
    await world.takeOver();
    engine = world.start();
    await untilHour(24);
    for (const jobId of ['minutely', 'slow', 'flaky', 'hopeless']) await deleteJob(`end-${jobId}`, jobId, ports);
    await clock.advance(30 * MINUTE);
  }, 120_000);
  afterAll(() => world.close());

  test('comes to rest with every promise kept', async () => {
    await checkAtRest(world);
  });

  test('every minute ran at its second, but for the outage, of which one record tells', async () => {
    const runs = await world.runsOf('minutely');
    const ran = runs.filter(({ state }) => state === 'DONE');
    const misfires = runs.filter(({ reason }) => reason === 'misfire');
    const covered = misfires.reduce((sum, { alsoCovers = 0 }) => sum + 1 + alsoCovers, 0);
    const after24 = runs.filter(({ reason }) => reason === 'deleted').length;
    expect(ran.length + covered + after24).toBe(runs.at(-1)!.nominalAt / MINUTE - START / MINUTE);
    expect(covered).toBeGreaterThan(100);
    // A stop lets the slow job finish, which takes up to 90 s of the clock in which nothing else begins.
    const isDisturbed = (hour: number) => (hour >= 14 && hour <= 16) || (hour >= 20 && hour <= 20.03);
    const onTime = ran.filter(({ nominalAt }) => !isDisturbed((nominalAt - START) / HOUR));
    expect(onTime.every(({ latenessMs }) => latenessMs === 0)).toBe(true);
    expect(onTime.length).toBeGreaterThan(14 * 60 + 8 * 60 - 10);
  });

  test('work that lasts longer than a lease keeps it and runs once an occurrence', async () => {
    const runs = (await world.runsOf('slow')).filter(({ state }) => state === 'DONE');
    expect(runs.length).toBeGreaterThan(120);
    expect(runs.every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('a one-off at a local time ran at its instant', async () => {
    expect((await world.runsOf('noon')).map(({ state, startedAt }) => [state, startedAt])).toEqual([['DONE', NOON]]);
  });

  test('a one-off that fell due during the outage ran late', async () => {
    const [run] = await world.runsOf('in-the-outage');
    expect(run).toMatchObject({ state: 'DONE', nominalAt: START + 15 * HOUR });
    expect(run!.latenessMs).toBeGreaterThanOrEqual(HOUR);
    expect(run!.latenessMs).toBeLessThan(HOUR + 5 * SECOND);
  });

  test('a deleted job ran until it was deleted and not once after', async () => {
    const runs = (await world.runsOf('deleted')).filter(({ state }) => state === 'DONE');
    expect(runs.map(({ nominalAt }) => (nominalAt - START) / HOUR)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await world.runsOf('never')).toEqual([]);
  });

  test('retries came at their backoff, the one that waits longer than a queue can delay included', async () => {
    const done = (await world.runsOf('flaky')).filter(
      ({ state, nominalAt }) => state === 'DONE' && nominalAt < START + 14 * HOUR,
    );
    expect(done.map(({ nominalAt }) => (nominalAt - START) / HOUR)).toEqual([3, 6, 9, 12]);
    for (const run of done) {
      expect(run.attempt).toBe(3);
      expect(run.startedAt).toBe(run.nominalAt + 30 * SECOND + 1_200 * SECOND);
      expect(run.result).toBe('{"id":9007199254740992,"neg0":0}');
    }
    const texts = world.callsOf('flaky').map(({ text }) => text);
    expect(texts.every((text) => text.endsWith(',"payload":{"id":9007199254740993,"neg0":-0.0}}'))).toBe(true);
  });

  test('a job without hope failed after its attempts, and says why', async () => {
    const runs = (await world.runsOf('hopeless')).filter(({ nominalAt }) => nominalAt < START + 24 * HOUR);
    expect(runs.map(({ nominalAt }) => (nominalAt - START) / HOUR)).toEqual([6, 12, 18]);
    for (const run of runs) {
      expect(run).toMatchObject({
        state: 'FAILED',
        attempt: 2,
        reason: 'out-of-attempts',
        error: { type: 'TypeError' },
      });
    }
  });

  test('a subscriber heard of every transition, once', () => {
    const calls = world.callsOf('notify');
    expect(eventIds(world, 'notify')).toHaveLength(calls.length);
    const announced = world.transitions.filter(
      ({ jobId, run }) => jobId === 'flaky' && run.nominalAt < START + 24 * HOUR,
    );
    const heard = eventIds(world, 'notify').filter((id) => id < '20270505T');
    expect(heard).toEqual([...new Set(announced.map(({ runId, sequence }) => `${runId}:${sequence}`))].sort());
  });

  test('retention ends: a month later the store is empty', async () => {
    await world.stop(engine);
    await world.clock.advanceTo(START + 32 * DAY);
    await world.sweepExpired();
    expect((await world.ports.jobs.list({ limit: 100 })).items).toEqual([]);
    expect(await world.ports.jobs.read('minutely')).toBeUndefined();
    expect(await world.runsOf('minutely')).toEqual([]);
  }, 60_000);
});
