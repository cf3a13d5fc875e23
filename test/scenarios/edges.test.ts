import { jitterMs } from '../../src/domain/occurrences';
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { readJob } from '../../src/operations/read-job';
import { tick } from '../../src/operations/tick';
import { backfillJob, triggerJob } from '../../src/operations/trigger-job';
import type { InvokeOutcome, Ports } from '../../src/ports';
import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { aRequest, rate, World, type Code } from '../support/world';

const ok: Code = () => 'done';
const lasting =
  (ms: number): Code =>
  async (call, clock) =>
    clock.waitUntil(call.at + ms);
const failsAtFirst: Code = ({ event }) => {
  if (event['attempt'] === 1) throw new Error('again');
};
const cron = (expression: string, timezone = 'UTC') => ({ kind: 'expression' as const, expression, timezone });
const fixed = (maxAttempts: number, seconds: number) => ({
  maxAttempts,
  backoff: { kind: 'fixed' as const, seconds },
  jitter: 'none' as const,
});

let world: World;
let created = 0;
const open = async (code: Record<string, Code> = { 'job-report': ok }, startAt = NOON) => {
  world = await World.open({ code, startAt });
};
afterEach(() => world.close());
const create = (jobId: string, changes: Parameters<typeof aRequest>[0] = {}, ports: Ports = world.ports) =>
  createJob(`create-${(created += 1)}`, aRequest({ jobId, ...changes }), ports);
const starts = (functionName = 'job-report') => world.callsOf(functionName).map(({ at }) => (at - NOON) / SECOND);
const states = async (jobId: string) =>
  (await world.runsOf(jobId)).map(({ nominalAt, state, reason }) => [(nominalAt - NOON) / SECOND, state, reason]);
/** Ports whose code is held back at the first calls. */
const throttled = (times: number): Ports => {
  const { invoker } = world.ports;
  let calls = 0;
  const busy: InvokeOutcome = { kind: 'held-back', reason: 'throttled', message: 'busy' };
  return { ...world.ports, invoker: { invoke: async (call) => (calls++ < times ? busy : invoker.invoke(call)) } };
};
/** The first id whose jitter lies above this. */
const idWithJitter = (jitterSeconds: number, aboveSeconds: number) => {
  for (let k = 0; ; k++) if (jitterMs({ jobId: `j${k}`, jitterSeconds }) > aboveSeconds * SECOND) return `j${k}`;
};

describe('between an occurrence’s nominal instant and the instant that jitter puts it off to', () => {
  const daily = async () => {
    await open();
    world.start();
    const jobId = idWithJitter(3_600, 1_800);
    await create(jobId, { schedule: cron('cron(0 13 * * ? *)'), jitterSeconds: 3_600 });
    await world.clock.advance(HOUR + 5 * MINUTE);
    return jobId;
  };

  test('an edit loses nothing', async () => {
    const jobId = await daily();
    await editJob(jobId, { name: 'renamed' }, undefined, world.ports);
    await world.clock.advance(3 * HOUR);
    expect(await states(jobId)).toEqual([[3_600, 'DONE', undefined]]);
  });

  test('a pause that is over by then loses nothing', async () => {
    const jobId = await daily();
    await pauseJob(jobId, {}, world.ports);
    await world.clock.advance(MINUTE);
    await resumeJob(jobId, world.ports);
    await world.clock.advance(3 * HOUR);
    expect(await states(jobId)).toEqual([[3_600, 'DONE', undefined]]);
  });

  test.each([
    ['an edit', (jobId: string) => editJob(jobId, { name: 'x' }, undefined, world.ports)],
    ['a pause', (jobId: string) => pauseJob(jobId, {}, world.ports).then(() => resumeJob(jobId, world.ports))],
  ])('%s counts no run of the maximum twice or not at all', async (_, change) => {
    await open();
    world.start();
    const jobId = idWithJitter(100, 60);
    await create(jobId, { schedule: rate('rate(30 seconds)'), jitterSeconds: 100, maxRuns: 4 });
    await world.clock.advance(50 * SECOND);
    await change(jobId);
    await world.clock.advance(10 * MINUTE);
    expect(starts()).toHaveLength(4);
  });
});

test('a one-off that was held back, paused and resumed still runs, and can be edited before', async () => {
  await open();
  const ports = throttled(1);
  world.start(ports);
  await create('a', {}, ports);
  await world.clock.advance(100);
  expect(await states('a')).toEqual([[0, 'RELEASED', 'throttled']]);
  await pauseJob('a', {}, ports);
  await world.clock.advance(MINUTE);
  await editJob('a', { name: 'renamed' }, undefined, ports);
  await resumeJob('a', ports);
  await world.clock.advance(MINUTE);
  expect(await states('a')).toEqual([[0, 'DONE', undefined]]);
});

test('what a person triggered is not superseded by an edit', async () => {
  await open();
  world.start();
  await create('a', { schedule: rate('rate(1 hour)') });
  await world.clock.advance(10 * SECOND);
  await Promise.all([1, 2, 3, 4, 5].map((k) => triggerJob(`t${k}`, 'a', world.ports)));
  await editJob('a', { name: 'renamed' }, undefined, world.ports);
  await world.clock.advance(MINUTE);
  expect(starts()).toHaveLength(5);
});

describe('a job that is deleted and created again', () => {
  const again = { schedule: rate('rate(1 minute)'), code: 'job-new' };

  test('is not held up by a run of its former life that waits', async () => {
    await open({ 'job-report': failsAtFirst, 'job-new': ok });
    world.start();
    await create('a', { schedule: rate('rate(1 minute)'), overlap: 'skip', retry: fixed(3, 3_600) });
    await world.clock.advance(70 * SECOND);
    await deleteJob('d', 'a', world.ports);
    await create('a', { ...again, overlap: 'skip' });
    await world.clock.advance(5 * MINUTE);
    expect(starts('job-new')).toEqual([130, 190, 250, 310, 370]);
  });

  test('has a queue of its own', async () => {
    await open({ 'job-report': lasting(150 * SECOND), 'job-new': lasting(90 * SECOND) });
    world.start();
    await create('a', { schedule: rate('rate(1 minute)'), overlap: 'queue-one' });
    await world.clock.advance(130 * SECOND);
    await deleteJob('d', 'a', world.ports);
    await create('a', { ...again, overlap: 'queue-one' });
    await world.clock.advance(30 * MINUTE);
    expect(starts('job-new').length).toBeGreaterThanOrEqual(19);
  });

  test('can fill in a range that its former life filled in', async () => {
    await open();
    world.start();
    const range = { fromAt: NOON - 3 * HOUR, toAt: NOON - HOUR };
    for (const life of [1, 2]) {
      await create('a', { schedule: cron('cron(0 * * * ? *)') });
      await backfillJob('a', range, world.ports);
      await world.clock.advance(MINUTE);
      expect(starts()).toHaveLength(3 * life);
      await deleteJob(`d${life}`, 'a', world.ports);
    }
  });
});

test('an occurrence of the very instant of an edit runs', async () => {
  await open();
  const engine = world.start();
  await create('a', { schedule: rate('rate(30 seconds)') });
  await world.clock.advance(45 * SECOND);
  await world.stop(engine);
  await world.clock.advanceTo(NOON + 60 * SECOND);
  await editJob('a', { name: 'renamed' }, undefined, world.ports);
  world.start();
  await world.clock.advance(40 * SECOND);
  expect(starts()).toEqual([30, 60, 90]);
});

test('ten edits do not cancel a run that began before them', async () => {
  await open({ 'job-report': failsAtFirst });
  world.start();
  await create('a', { schedule: rate('rate(1 hour)'), retry: fixed(2, 600) });
  await world.clock.advance(HOUR + SECOND);
  for (let k = 0; k < 12; k++) {
    await world.clock.advance(5 * SECOND);
    await editJob('a', { name: `name ${k}` }, undefined, world.ports);
  }
  await world.clock.advance(20 * MINUTE);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 2 }]);
});

describe('the end of a schedule', () => {
  test('comes when its last runs are due, not when they are dispatched', async () => {
    await open();
    world.start();
    await create('a', { schedule: rate('rate(20 seconds)'), maxRuns: 3 });
    await world.clock.advance(SECOND);
    expect(await readJob('a', world.ports)).toMatchObject({ state: 'ACTIVE', nextRunAt: NOON + 20 * SECOND });
    await world.clock.advance(MINUTE);
    expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
  });

  test('in a gap of the clocks leaves its record', async () => {
    await open({ 'job-report': ok }, Date.UTC(2027, 2, 13));
    world.start();
    const schedule = { ...cron('cron(30 2 * * ? *)', 'America/New_York'), endAt: Date.UTC(2027, 2, 14, 12) };
    await create('a', { schedule });
    await world.clock.advance(3 * DAY);
    expect((await world.runsOf('a')).map(({ state, reason }) => [state, reason])).toEqual([
      ['DONE', undefined],
      ['SKIPPED', 'dst-gap'],
    ]);
    expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
  });

  test('does not take the row away from a run that waits for its retry', async () => {
    await open({ 'job-report': failsAtFirst });
    const ports = { ...world.ports, settings: { ...world.ports.settings, retentionMs: 30 * MINUTE } };
    world.start(ports);
    const schedule = { ...cron('rate(10 minutes)'), endAt: NOON + 21 * MINUTE };
    await create('a', { schedule, retry: fixed(2, 7_200) }, ports);
    for (let minutes = 0; minutes < 160; minutes += 10) {
      await world.clock.advance(10 * MINUTE);
      await world.sweepExpired();
    }
    expect(starts()).toEqual([600, 1_200, 7_800, 8_400]);
  });

  test('by its maximum still runs the latest of what was missed', async () => {
    await open();
    const engine = world.start();
    await create('a', { schedule: rate('rate(1 minute)'), maxRuns: 2 });
    await world.clock.advance(5 * SECOND);
    await world.stop(engine);
    await world.clock.advance(10 * MINUTE);
    world.start();
    await world.clock.advance(MINUTE);
    expect(await states('a')).toEqual([
      [60, 'SKIPPED', 'misfire'],
      [120, 'DONE', undefined],
    ]);
  });
});

test('a late run of an old generation is judged by the definition that it belongs to', async () => {
  await open();
  const engine = world.start();
  await create('a', { schedule: rate('rate(2 minutes)') });
  await world.clock.advance(SECOND);
  await world.stop(engine);
  await world.clock.advanceTo(NOON + 130 * SECOND);
  const misfire = { policy: 'skip' as const, graceSeconds: 5 };
  await editJob('a', { schedule: { expression: 'rate(10 seconds)' }, misfire }, undefined, world.ports);
  world.start();
  await world.clock.advance(5 * SECOND);
  expect(await states('a')).toContainEqual([120, 'DONE', undefined]);
});

test('a grace of nothing does not skip what starts a few milliseconds late', async () => {
  await open();
  const { clock } = world;
  const slowClock = { now: () => clock.now(), waitUntil: (at: number, s?: AbortSignal) => clock.waitUntil(at + 3, s) };
  world.start({ ...world.ports, clock: slowClock });
  await create('a', { schedule: rate('rate(30 seconds)'), misfire: { policy: 'skip', graceSeconds: 0 } });
  await world.clock.advance(2 * MINUTE + SECOND);
  expect((await states('a')).map(([, state]) => state)).toEqual(['DONE', 'DONE', 'DONE', 'DONE']);
});

test('under "cancel-previous" no late run cancels a later one', async () => {
  await open({ 'job-report': lasting(100 * SECOND) });
  const engine = world.start();
  await create('a', { schedule: rate('rate(20 seconds)'), overlap: 'cancel-previous', maxRuns: 3 });
  await world.clock.advance(SECOND);
  await world.stop(engine);
  await world.clock.advanceTo(NOON + 65 * SECOND);
  world.start();
  await world.clock.advance(10 * MINUTE);
  expect((await states('a')).at(-1)).toEqual([60, 'DONE', undefined]);
});

describe('a dead-letter queue', () => {
  test('that cannot be read does not stop what is due', async () => {
    await open();
    await create('a', { schedule: { kind: 'delay', delaySeconds: 1_800 } });
    await world.clock.advance(1_795 * SECOND);
    const deadActivations: Ports['deadActivations'] = {
      ...world.ports.deadActivations,
      receive: () => Promise.reject(new Error('access denied')),
    };
    await tick({ loopStartedAt: world.clock.now(), isFirst: true }, { ...world.ports, deadActivations });
    await world.clock.advance(5 * SECOND);
    expect(await world.ports.activations.receive(10)).toHaveLength(1);
  });

  test('with a letter that no store can hold keeps it, and sends its neighbours again', async () => {
    await open();
    const letter = { version: 1, generation: 'g', origin: 'scheduled', nominalAt: NOON, dueAt: NOON, sequence: 1 };
    await world.ports.deadActivations.send([
      { body: JSON.stringify({ ...letter, jobId: 'x'.repeat(3_000), returns: 3 }) },
      { body: JSON.stringify({ ...letter, jobId: '', returns: 3 }) },
      { body: JSON.stringify({ ...letter, jobId: 'neighbour' }) },
    ]);
    await tick({ loopStartedAt: NOON, isFirst: true }, world.ports);
    expect(await world.ports.activations.receive(10)).toMatchObject([{ receives: 1 }]);
    await world.clock.advance(2 * MINUTE);
    expect(await world.ports.deadActivations.receive(10)).toHaveLength(2);
  });
});
