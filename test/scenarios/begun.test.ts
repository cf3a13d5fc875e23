import { createJob } from '../../src/operations/create-job';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob } from '../../src/operations/pause-job';
import type { InvokeOutcome, Ports } from '../../src/ports';
import { HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());

/** Asks once of each run to come again after so many seconds. */
const snoozing = (seconds: number): Code => {
  const seen = new Set<unknown>();
  return ({ event }) => {
    if (seen.has(event['runId'])) return 'done';
    seen.add(event['runId']);
    throw Object.assign(new Error(String(seconds)), { name: 'RetryAfterError' });
  };
};
const open = async (code: Code) => {
  world = await World.open({ code: { 'job-report': code } });
};
const create = (changes: object = {}) =>
  createJob('c', aRequest({ jobId: 'a', schedule: rate('rate(1 hour)'), ...changes }), world.ports);
const states = async () => (await world.runsOf('a')).map(({ state, reason }) => [state, reason]);

test('a run whose code asked to come later than the grace, past the next occurrence, is no misfire', async () => {
  await open(snoozing(150));
  world.start();
  await create({ schedule: rate('rate(1 minute)') });
  await world.clock.advance(4 * MINUTE);
  expect((await states())[0]).toEqual(['DONE', undefined]);
});

test('a run whose code asked to come later is no misfire under the policy skip', async () => {
  await open(snoozing(600));
  world.start();
  await create({ misfire: { policy: 'skip', graceSeconds: 60 } });
  await world.clock.advance(HOUR + 20 * MINUTE);
  expect(await states()).toEqual([['DONE', undefined]]);
});

test('a first attempt that Lambda throttled for longer than the grace is no misfire', async () => {
  await open(() => 'done');
  const { invoker } = world.ports;
  const throttledUntil = NOON + MINUTE + 100 * SECOND;
  const ports: Ports = {
    ...world.ports,
    invoker: {
      invoke: (call): Promise<InvokeOutcome> =>
        world.clock.now() < throttledUntil
          ? Promise.resolve({ kind: 'held-back', reason: 'throttled', message: 'Rate exceeded' })
          : invoker.invoke(call),
    },
  };
  world.start(ports);
  await create({ schedule: rate('rate(1 minute)') });
  await world.clock.advance(5 * MINUTE);
  expect((await states()).slice(0, 2)).toEqual([
    ['DONE', undefined],
    ['DONE', undefined],
  ]);
});

test('a pause does not stop a run whose code asked to come later', async () => {
  await open(snoozing(120));
  world.start();
  await create();
  await world.clock.advance(HOUR + 10 * SECOND);
  await pauseJob('a', {}, world.ports);
  await world.clock.advance(20 * MINUTE);
  expect(await states()).toEqual([['DONE', undefined]]);
});

test('nor that of a one-off', async () => {
  await open(snoozing(120));
  world.start();
  await create({ schedule: { kind: 'immediate' } });
  await world.clock.advance(10 * SECOND);
  await pauseJob('a', {}, world.ports);
  await world.clock.advance(20 * MINUTE);
  expect(await states()).toEqual([['DONE', undefined]]);
});

test('a one-off whose code asked to come later has begun: a new instant does not run it a second time', async () => {
  await open(snoozing(120));
  world.start();
  await create({ schedule: { kind: 'immediate' } });
  await world.clock.advance(10 * SECOND);
  await editJob('a', { schedule: { expression: 'at(2027-05-04T18:00:00)' } }, undefined, world.ports).catch(() => {});
  await world.clock.advance(10 * HOUR);
  expect(await states()).toEqual([['DONE', undefined]]);
});

test('a one-off that was held back and got a new instant runs once, at that', async () => {
  await open(() => 'done');
  const { invoker } = world.ports;
  let throttled = 1;
  const ports: Ports = {
    ...world.ports,
    invoker: {
      invoke: (call): Promise<InvokeOutcome> =>
        throttled-- > 0
          ? Promise.resolve({ kind: 'held-back', reason: 'throttled', message: 'Rate exceeded' })
          : invoker.invoke(call),
    },
  };
  world.start(ports);
  await create({ schedule: { kind: 'immediate' } });
  await world.clock.advance(100);
  await editJob('a', { schedule: { expression: 'at(2027-05-04T18:00:00)' } }, undefined, ports);
  await world.clock.advance(10 * HOUR);
  expect(world.calls.map(({ at }) => at - NOON)).toEqual([6 * HOUR]);
});

test('a one-off that waits for its concurrency key and got a new instant runs once, at that', async () => {
  await open(async (call, clock) => clock.waitUntil(call.at + 60 * SECOND));
  world.start();
  const concurrency = { key: 'k', limit: 1 };
  await createJob('c0', aRequest({ jobId: 'first', concurrency }), world.ports);
  await world.clock.advance(SECOND);
  await create({ schedule: { kind: 'immediate' }, concurrency });
  await world.clock.advance(10 * SECOND);
  await editJob('a', { schedule: { expression: 'at(2027-05-04T18:00:00)' } }, undefined, world.ports);
  await world.clock.advance(10 * HOUR);
  expect(world.calls.filter(({ event }) => event['jobId'] === 'a').map(({ at }) => at - NOON)).toEqual([6 * HOUR]);
});
