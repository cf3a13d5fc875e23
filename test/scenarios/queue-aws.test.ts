/** What decides whether chains, batches, limits and failed runs are right, on DynamoDB's conditions instead of the local ones. */
import { cancelGroup, retryGroup } from '../../src/operations/change-group';
import { createJob } from '../../src/operations/create-job';
import { flushFailed, listFailed, readFailed, retryAllFailed } from '../../src/operations/failed-runs';
import { followUp } from '../../src/operations/follow-up';
import { readRun } from '../../src/operations/read-job';
import { HOUR, MINUTE, SECOND } from '../support/builders';
import { openDynamoStores } from '../support/dynamo-stores';
import { aBatch, aChain, CALLBACK_CODE, callbackCounts, fail, GroupOf, ok, steps, tries } from '../support/groups';
import { allRuns } from '../support/invariants';
import { aRequest, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());

async function open(code: Record<string, Code>) {
  world = await World.open({ code: { ...CALLBACK_CODE, ...code }, openStores: openDynamoStores });
  world.start();
}

const singles = (...codes: string[]) => steps(...codes).map((job) => [job]);

test('a chain goes on once for each job, stops at a failure, and is continued by a person', async () => {
  let isBroken = true;
  await open({
    first: ok,
    second: (call, clock) => (isBroken ? fail(call, clock) : 'well'),
    third: ({ event }) => event['previous'],
  });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('first', 'second', 'third')));
  await world.clock.advance(10 * SECOND);
  expect(await chain.states()).toBe('DFS');
  expect(callbackCounts(world)).toMatchObject({ 'on-catch': 1 });
  isBroken = false;
  await world.untilOver(retryGroup('chain', chain.groupId, world.ports));
  await world.clock.advance(10 * SECOND);
  expect(await chain.states()).toBe('DDD');
  expect((await chain.standing()).group).toMatchObject({ state: 'DONE' });
  expect(world.callsOf('first')).toHaveLength(1);
  const third = (await chain.members())[2]!;
  expect(await readRun(third.jobId, third.runId, world.ports)).toMatchObject({
    result: expect.stringContaining('"well"') as string,
  });
});

test('a batch counts each outcome once though all of them are told of twice', async () => {
  await open({ a: ok, b: fail });
  const members = singles(...Array.from({ length: 12 }, (_, index) => (index % 4 === 0 ? 'b' : 'a')));
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { allowFailures: true }));
  await world.clock.advance(30 * SECOND);
  for (const run of await allRuns(world)) {
    const job = await world.ports.jobs.read(run.jobId);
    if (job?.member) await world.untilOver(followUp(run, job, world.ports));
  }
  await world.clock.advance(10 * SECOND);
  expect(await batch.standing()).toMatchObject({
    group: { state: 'DONE' },
    tally: { total: 12, done: 9, failed: 3, pending: 0, percent: 100 },
  });
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 1, 'on-finally': 1 });
});

test('a batch that is cancelled starts nothing more, and every job has its fate', async () => {
  await open({ slow: ({ at }, clock) => clock.waitUntil(at + 30 * SECOND), late: ok });
  const late = aRequest({ code: 'late', schedule: { kind: 'delay', delaySeconds: 20 }, retry: tries(1) });
  const batch = await GroupOf.create(world, 'batch', aBatch([...singles('slow'), [late], [late]]));
  await world.clock.advance(5 * SECOND);
  await world.untilOver(cancelGroup('batch', batch.groupId, world.ports));
  await world.clock.advance(2 * MINUTE);
  expect(await batch.standing()).toMatchObject({
    group: { state: 'CANCELLED' },
    tally: { pending: 0, cancelled: 1, skipped: 2 },
  });
  expect(world.callsOf('late')).toEqual([]);
});

test('of one key no more are at work than its limit, and each runs in the end', async () => {
  let atWork = 0;
  let most = 0;
  await open({
    limited: async ({ at }, clock) => {
      most = Math.max(most, (atWork += 1));
      await clock.waitUntil(at + 3 * SECOND);
      atWork -= 1;
    },
  });
  const request = aRequest({ code: 'limited', concurrency: { key: 'shop', limit: 2 } });
  for (let count = 0; count < 6; count++) await createJob(`r${count}`, { ...request, jobId: `j${count}` }, world.ports);
  await world.clock.advance(5 * MINUTE);
  expect(most).toBe(2);
  expect((await allRuns(world)).map(({ state, attempt }) => [state, attempt])).toEqual(Array(6).fill(['DONE', 1]));
});

test('a unique key is held by one job until it is over', async () => {
  await open({ 'job-report': ({ at }, clock) => clock.waitUntil(at + 30 * SECOND) });
  const unique = { key: 'invoice-9', forSeconds: 3600, until: 'done' } as const;
  await createJob('r1', aRequest({ jobId: 'a', unique }), world.ports);
  await expect(createJob('r2', aRequest({ jobId: 'b', unique }), world.ports)).rejects.toThrow(/job a .*invoice-9/);
  await world.clock.advance(MINUTE);
  await createJob('r3', aRequest({ jobId: 'c', unique }), world.ports);
});

test('failed runs are listed, the latest first, sent again, and forgotten', async () => {
  let isBroken = true;
  await open({ 'job-report': (call, clock) => (isBroken ? fail(call, clock) : 'well') });
  for (const jobId of ['a', 'b', 'c']) {
    await createJob(jobId, aRequest({ jobId, retry: tries(1), payload: `"of ${jobId}"` }), world.ports);
    await world.clock.advance(2 * SECOND);
  }
  const list = async () => (await listFailed({ limit: 10 }, world.ports)).items.map(({ jobId }) => jobId);
  expect(await list()).toEqual(['c', 'b', 'a']);
  const [{ runId } = { runId: '' }] = await world.runsOf('b');
  expect((await readFailed('b', runId, world.ports)).job).toMatchObject({ payload: '"of b"' });
  isBroken = false;
  expect(await world.untilOver(retryAllFailed({ jobId: 'b', limit: 10 }, world.ports))).toMatchObject({ retried: 1 });
  await world.clock.advance(10 * SECOND);
  expect(await world.runsOf('b')).toMatchObject([
    { runId, state: 'DONE', attempt: 2, series: { number: 2, after: 1 } },
  ]);
  expect(await list()).toEqual(['c', 'a']);
  expect(await world.untilOver(flushFailed({ limit: 10 }, world.ports))).toMatchObject({ forgotten: 2 });
  expect(await list()).toEqual([]);
});

test('thirty attempts with long errors are all there, and the row stays small', async () => {
  await open({
    'job-report': ({ event }) => {
      throw new Error(`attempt ${String(event['attempt'])} ${'x'.repeat(5_000)}`);
    },
  });
  await createJob('r', aRequest({ jobId: 'a', retry: tries(30, 1) }), world.ports);
  await world.clock.advance(HOUR);
  const [run] = await world.runsOf('a');
  expect(run).toMatchObject({ state: 'FAILED', attempt: 30 });
  expect(JSON.stringify(run).length).toBeLessThan(40_000);
  const whole = await readRun('a', run!.runId, world.ports);
  expect(whole.attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});
