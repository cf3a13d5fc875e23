import { InputError, NotFoundError, ConflictError } from '../../src/domain/errors';
import { createGroup } from '../../src/operations/create-group';
import { cancelGroup, retryGroup } from '../../src/operations/change-group';
import { cancelRun } from '../../src/operations/cancel-run';
import { createNotification } from '../../src/operations/create-notification';
import { retryFailed } from '../../src/operations/failed-runs';
import { readJob } from '../../src/operations/read-job';
import { functionArn, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { aChain, CALLBACK_CODE, callbackCounts, fail, GroupOf, ok, payloads, steps, tries } from '../support/groups';
import { checkAtRest } from '../support/invariants';
import { aRequest, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());

async function open(code: Record<string, Code>) {
  world = await World.open({ code: { ...CALLBACK_CODE, ...code } });
  world.start();
}

const names = () => world.calls.map(({ functionName }) => functionName);

test('the jobs of a chain run one after another, and each gets the result of the one before', async () => {
  await open({
    a: async ({ at }, clock) => {
      await clock.waitUntil(at + 5 * SECOND);
      return { count: 12345678901234567890n.toString() };
    },
    b: ({ event }) => ({ got: (event['previous'] as { result: unknown }).result }),
    c: ok,
  });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a', 'b', 'c'), { name: 'etl' }));
  expect(await chain.standing()).toMatchObject({ group: { state: 'RUNNING' }, tally: { total: 3, pending: 3 } });
  await world.clock.advance(MINUTE);
  expect(names()).toEqual(['a', 'b', 'c', 'on-then', 'on-finally']);
  const [a, b, c] = await chain.runs();
  expect(world.callsOf('a')[0]!.event).toMatchObject({ chainId: chain.groupId });
  expect(world.callsOf('a')[0]!.event).not.toHaveProperty('previous');
  expect(world.callsOf('b')[0]!.event['previous']).toEqual({
    jobId: a!.jobId,
    runId: a!.runId,
    result: { count: '12345678901234567890' },
  });
  expect(world.callsOf('c')[0]!.event['previous']).toMatchObject({ runId: b!.runId });
  expect(world.callsOf('b')[0]!.at).toBeGreaterThanOrEqual(a!.finishedAt!);
  expect(c).toMatchObject({ state: 'DONE', nominalAt: NOON });
  expect(await chain.standing()).toMatchObject({
    group: { state: 'DONE', sequence: 2 },
    tally: { done: 3, percent: 100 },
  });
  expect(payloads(world, 'on-then')).toEqual([
    expect.objectContaining({ chainId: chain.groupId, name: 'etl', state: 'DONE', total: 3, done: 3, percent: 100 }),
  ]);
  await checkAtRest(world);
});

test('S08: a step that fails for good stops the chain after its last attempt, and nobody fails but it', async () => {
  await open({ a: ok, b: fail, c: ok, notify: ok });
  const jobs = [steps('a')[0]!, aRequest({ code: 'b', retry: tries(2, 30) }), steps('c')[0]!];
  const chain = await GroupOf.create(world, 'chain', aChain(jobs));
  for (const state of ['FAILED', 'CHAIN_FAILED'] as const) {
    await createNotification(state, { jobId: '*', state, functionArn: functionArn('notify') }, world.ports);
  }
  await world.clock.advance(20 * SECOND);
  // While b waits for its retry the chain goes on.
  expect(await chain.states()).toBe('DPP');
  expect((await chain.standing()).group.state).toBe('RUNNING');
  await world.clock.advance(MINUTE);
  expect(await chain.states()).toBe('DFS');
  const [a, b, c] = await chain.runs();
  expect([a!.state, b!.state, c!.state]).toEqual(['DONE', 'FAILED', 'SKIPPED']);
  expect(c).toMatchObject({ reason: 'chain-stopped', attempt: 0 });
  expect(world.callsOf('c')).toEqual([]);
  expect(world.callsOf('b')).toHaveLength(2);
  expect((await chain.standing()).group).toMatchObject({ state: 'FAILED', sequence: 2 });
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 1, 'on-finally': 1 });
  expect(payloads(world, 'on-catch')).toEqual([
    expect.objectContaining({
      chainId: chain.groupId,
      jobId: b!.jobId,
      runId: b!.runId,
      reason: 'first-failure',
      failed: 1,
    }),
  ]);
  const heard = world.callsOf('notify').map(({ event }) => event['id']);
  expect(heard.sort()).toEqual([`${b!.runId}:${b!.sequence}`, `${chain.groupId}:2`].sort());
  await checkAtRest(world);
});

test('a person who sends the failed step again continues the chain, with new runs for what was skipped', async () => {
  let isBroken = true;
  await open({
    a: ok,
    b: (call, clock) => (isBroken ? fail(call, clock) : clock.waitUntil(call.at + 5 * SECOND)),
    c: ok,
    d: ok,
  });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a', 'b', 'c', 'd')));
  await world.clock.advance(MINUTE);
  expect(await chain.states()).toBe('DFSS');
  const [, b, c] = await chain.runs();
  isBroken = false;
  await world.untilOver(retryFailed(b!.jobId, b!.runId, world.ports));
  expect(await chain.states()).toBe('DPPP');
  expect((await chain.standing()).group).toMatchObject({ state: 'RUNNING', sequence: 3 });
  expect(await readJob(c!.jobId, world.ports)).toMatchObject({ state: 'ACTIVE' });
  await world.clock.advance(MINUTE);
  expect(await chain.states()).toBe('DDDD');
  const [, , newC] = await chain.runs();
  expect(newC!.runId).not.toBe(c!.runId);
  expect(newC).toMatchObject({ state: 'DONE', previous: { runId: b!.runId } });
  expect(await world.ports.runs.read(c!.jobId, c!.runId)).toMatchObject({ state: 'SKIPPED' });
  expect((await chain.standing()).group).toMatchObject({ state: 'DONE', sequence: 4 });
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 1, 'on-finally': 1 });
  await checkAtRest(world);
});

test('a chain that fails again and again is called back no second time, and each time new runs are skipped', async () => {
  await open({ a: fail, b: ok });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a', 'b')));
  for (let round = 1; round <= 3; round++) {
    await world.clock.advance(MINUTE);
    expect(await chain.states()).toBe('FS');
    if (round < 3) await world.untilOver(retryGroup('chain', chain.groupId, world.ports));
  }
  const [a, b] = await chain.members();
  expect((await world.runsOf(b!.jobId)).map(({ state, reason }) => [state, reason])).toEqual([
    ['SKIPPED', 'chain-stopped'],
    ['SKIPPED', 'chain-stopped'],
    ['SKIPPED', 'chain-stopped'],
  ]);
  expect(await world.runsOf(a!.jobId)).toMatchObject([{ state: 'FAILED', attempt: 3 }]);
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 1, 'on-finally': 1 });
  await checkAtRest(world);
});

test('a step waits for its own delay, counted from the end of the one before', async () => {
  await open({ a: async ({ at }, clock) => clock.waitUntil(at + 7 * SECOND), b: ok });
  const schedule = { kind: 'delay' as const, delaySeconds: 3600 };
  const jobs = [...steps('a'), aRequest({ code: 'b', schedule })];
  const chain = await GroupOf.create(world, 'chain', aChain(jobs));
  await world.clock.advance(2 * HOUR);
  const [a, b] = await chain.runs();
  expect(b!.dueAt).toBe(a!.finishedAt! + HOUR);
  expect(world.callsOf('b')[0]!.at).toBe(b!.dueAt);
  await checkAtRest(world);
});

test('a first step waits for its delay from the creation', async () => {
  await open({ a: ok });
  await GroupOf.create(
    world,
    'chain',
    aChain([aRequest({ code: 'a', schedule: { kind: 'delay', delaySeconds: 20 } })]),
  );
  await world.clock.advance(MINUTE);
  expect(world.callsOf('a')[0]!.at).toBe(NOON + 20 * SECOND);
});

test('a chain that is cancelled starts nothing more, and what is at work is asked to stop', async () => {
  await open({ a: ok, b: async ({ at }, clock) => clock.waitUntil(at + 2 * MINUTE), c: ok });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a', 'b', 'c')));
  await world.clock.advance(10 * SECOND);
  await world.untilOver(cancelGroup('chain', chain.groupId, world.ports));
  await world.untilOver(cancelGroup('chain', chain.groupId, world.ports));
  expect((await chain.standing()).group).toMatchObject({ state: 'CANCELLED', sequence: 2 });
  expect((await chain.standing()).group.finishedAt).toBeUndefined();
  await world.clock.advance(10 * SECOND);
  expect(await chain.states()).toBe('DPS');
  expect((await chain.runs())[2]).toMatchObject({ state: 'SKIPPED', reason: 'chain-cancelled' });
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 0, 'on-finally': 0 });
  await world.clock.advance(5 * MINUTE);
  expect(await chain.states()).toBe('DCS');
  expect((await chain.standing()).group.finishedAt).toBeDefined();
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 0, 'on-finally': 1 });
  await expect(retryGroup('chain', chain.groupId, world.ports)).rejects.toThrow(ConflictError);
  await checkAtRest(world);
});

test('a step that waits for its retry is cancelled with its chain', async () => {
  await open({ a: fail, b: ok });
  const jobs = [aRequest({ code: 'a', retry: tries(5, 300) }), ...steps('b')];
  const chain = await GroupOf.create(world, 'chain', aChain(jobs));
  await world.clock.advance(10 * SECOND);
  await world.untilOver(cancelGroup('chain', chain.groupId, world.ports));
  await world.clock.advance(10 * SECOND);
  expect(await chain.states()).toBe('CS');
  await world.clock.advance(HOUR);
  expect(world.callsOf('a')).toHaveLength(1);
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 0, 'on-finally': 1 });
  await checkAtRest(world);
});

test('a single step that a person cancels stops the chain, without a call of catch', async () => {
  await open({ a: async ({ at }, clock) => clock.waitUntil(at + MINUTE), b: ok, c: ok });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a', 'b', 'c')));
  await world.clock.advance(10 * SECOND);
  const [, b] = await chain.members();
  await world.untilOver(cancelRun(b!.jobId, b!.runId, { by: 'ada' }, world.ports));
  await world.clock.advance(5 * MINUTE);
  expect(await chain.states()).toBe('DCS');
  expect((await chain.runs())[2]).toMatchObject({ reason: 'chain-stopped' });
  expect((await chain.standing()).group.state).toBe('FAILED');
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 0, 'on-finally': 1 });
  await checkAtRest(world);
});

test('a callback that fails is tried again, and stands among the failed runs', async () => {
  let calls = 0;
  await open({
    a: ok,
    'on-then': () => {
      calls += 1;
      throw new Error('no');
    },
  });
  await GroupOf.create(world, 'chain', aChain(steps('a')));
  await world.clock.advance(10 * MINUTE);
  expect(calls).toBe(3);
  const { items } = await world.ports.runs.failed({ limit: 10 });
  expect(items).toMatchObject([{ state: 'FAILED', attempt: 3 }]);
});

test('the same request is the same chain; with another content it is refused', async () => {
  await open({ a: ok, b: ok });
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a')));
  const again = await GroupOf.create(world, 'chain', aChain(steps('a')));
  expect(again.groupId).toBe(chain.groupId);
  await world.clock.advance(MINUTE);
  await GroupOf.create(world, 'chain', aChain(steps('a')));
  await world.clock.advance(MINUTE);
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 0, 'on-finally': 1 });
  expect(world.callsOf('a')).toHaveLength(1);
  await expect(createGroup('chain', 'r1', aChain(steps('b')), world.ports)).rejects.toThrow(ConflictError);
});

test('a function that may not be called is named with the field it stands in, and nothing is created', async () => {
  await open({});
  const narrow = { ...world.ports, settings: { ...world.ports.settings, allowedFunctions: ['job-*'] } };
  const request = aChain(steps('job-a', 'other', 'job-b', 'another'), { callbacks: { catch: functionArn('alarm') } });
  const refused = createGroup('chain', 'r1', request, narrow);
  await expect(refused).rejects.toThrow(InputError);
  await refused.catch((error: InputError) =>
    expect(error.errors.map(({ field }) => field)).toEqual([
      'jobs[1].target.functionArn',
      'jobs[3].target.functionArn',
      'catch.functionArn',
    ]),
  );
  expect((await world.ports.groups.list({ limit: 10 })).items).toEqual([]);
  expect((await world.ports.jobs.list({ limit: 10 })).items).toEqual([]);
});

test('what is no chain is not found, a batch neither', async () => {
  await open({ a: ok });
  const batch = await GroupOf.create(world, 'batch', aChain(steps('a')));
  const asChain = new GroupOf(world, { kind: 'chain', groupId: batch.groupId });
  await expect(asChain.standing()).rejects.toThrow(NotFoundError);
  await expect(cancelGroup('chain', 'nobody', world.ports)).rejects.toThrow(NotFoundError);
  await world.clock.advance(MINUTE);
  await expect(cancelGroup('batch', batch.groupId, world.ports)).rejects.toThrow(ConflictError);
  await expect(retryGroup('batch', batch.groupId, world.ports)).rejects.toThrow(ConflictError);
});
