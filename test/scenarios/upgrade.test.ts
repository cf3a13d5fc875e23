/** A new version, or other settings, while jobs run. That rows of another number of shards are found: test/adapters/more-shards.test.ts. */
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { MINUTE, NOON, SECOND } from '../support/builders';
import { openDynamoStores, type DynamoStores } from '../support/dynamo-stores';
import { checkAtRest } from '../support/invariants';
import { aRequest, rate, World } from '../support/world';

let world: World;
beforeEach(async () => {
  world = await World.open({ code: { 'job-report': ({ at }, clock) => clock.waitUntil(at + 2 * SECOND) } });
  await createJob('r', aRequest({ jobId: 'a', schedule: rate('rate(1 second)') }), world.ports);
});
afterEach(() => world.close());

const withTick = (tickSeconds: number) => ({ ...world.ports, settings: { ...world.ports.settings, tickSeconds } });
const seconds = () => world.calls.map(({ at }) => (at - NOON) / SECOND).sort((a, b) => a - b);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test.each([
  [60, 1],
  [1, 60],
  [10, 25],
])('with tickSeconds from %i to %i no second is missed or repeated', async (before, after) => {
  const old = world.start(withTick(before));
  await world.clock.advance(4 * MINUTE);
  // Both versions are at work for a while, as in a deployment.
  const next = world.start(withTick(after));
  await world.clock.advance(30 * SECOND);
  await world.stop(old);
  await world.clock.advance(4 * MINUTE);
  const ran = seconds();
  expect(ran).toEqual(upTo(ran.length));
  expect(ran.length).toBeGreaterThanOrEqual(8.5 * 60);
  await world.stop(next);
});

test('what is at work when the old version goes is finished by it, and the new one takes the rest', async () => {
  const old = world.start();
  await world.clock.advance(10 * SECOND + 500);
  const stopping = world.stop(old);
  const next = world.start();
  await stopping;
  await world.clock.advance(MINUTE);
  const ran = seconds();
  expect(ran).toEqual(upTo(ran.length));
  await world.stop(next);
  const runs = await world.runsOf('a');
  expect(runs.filter(({ state, attempt }) => state !== 'DONE' || attempt !== 1)).toEqual([]);
});

describe('with more shards on the same tables', () => {
  const [FEW, MANY] = [1, 8];
  const EACH_MINUTE = ['m-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6'];
  let dynamo: DynamoStores;
  let aws: World;
  const version = (shards: number) => ({
    ...aws.ports,
    ...dynamo.withShards(shards),
    settings: { ...aws.ports.settings, shards },
  });

  beforeEach(async () => {
    aws = await World.open({
      code: {
        'job-report': () => 'done',
        'job-slow': ({ at }, clock) => clock.waitUntil(at + 90 * SECOND),
        'job-fails-once': ({ event }) => {
          if (event['attempt'] === 1) throw new Error('not yet');
        },
      },
      openStores: async (clock) => (dynamo = await openDynamoStores(clock, { shards: FEW })),
    });
  });
  afterEach(() => aws.close());

  test('what recurs, what waits, and what is at work all go on, each once and in its minute', async () => {
    const old = version(FEW);
    for (const jobId of EACH_MINUTE) {
      await createJob(`r-${jobId}`, aRequest({ jobId, schedule: rate('rate(1 minute)') }), old);
    }
    const delayed = (code: string, delaySeconds: number) =>
      aRequest({ jobId: code, code, schedule: { kind: 'delay', delaySeconds } });
    await createJob('r-slow', delayed('job-slow', 140), old);
    await createJob('r-later', { ...delayed('job-report', 12 * 60), jobId: 'later' }, old);
    // Longer than a queue can delay: it waits in the due index of the runs.
    const retry = { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 16 * 60 }, jitter: 'none' } as const;
    await createJob('r-fails', { ...delayed('job-fails-once', 60), retry }, old);

    const oldEngine = aws.start(old);
    await aws.clock.advance(2 * MINUTE + 30 * SECOND);
    const next = version(MANY);
    const nextEngine = aws.start(next);
    await aws.clock.advance(MINUTE);
    await aws.stop(oldEngine);
    await createJob('r-new', aRequest({ jobId: 'new', schedule: rate('rate(1 minute)') }), next);
    await aws.clock.advance(16 * MINUTE);
    for (const jobId of [...EACH_MINUTE, 'new']) await deleteJob(`d-${jobId}`, jobId, next);
    await aws.clock.advance(5 * MINUTE);
    await aws.stop(nextEngine);

    await checkAtRest(aws);
    const minutesOf = async (jobId: string) =>
      (await aws.runsOf(jobId))
        .filter(({ state }) => state === 'DONE')
        .map(({ startedAt }) => Math.floor((startedAt! - NOON) / MINUTE));
    for (const jobId of EACH_MINUTE) expect({ [jobId]: await minutesOf(jobId) }).toEqual({ [jobId]: upTo(19) });
    expect(await minutesOf('new')).toEqual(upTo(19).slice(3));
    expect(await minutesOf('later')).toEqual([12]);
    expect(await aws.runsOf('job-slow')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
    expect(await aws.runsOf('job-fails-once')).toMatchObject([{ state: 'DONE', attempt: 2 }]);
  });
});
