import { createGroup, addToBatch } from '../../src/operations/create-group';
import { retryGroup, cancelGroup } from '../../src/operations/change-group';
import { createJob } from '../../src/operations/create-job';
import { editJob } from '../../src/operations/edit-job';
import { cancelRun } from '../../src/operations/cancel-run';
import { retryFailed, forgetFailed } from '../../src/operations/failed-runs';
import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import {
  aBatch,
  aChain,
  CALLBACK_CODE,
  callbackCounts,
  fail,
  GroupOf,
  lasts,
  ok,
  payloads,
  steps,
  tries,
} from '../support/groups';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());
const passes = (ms: number) => world.clock.advance(ms);
async function open(code: Record<string, Code>) {
  world = await World.open({ code: { ...CALLBACK_CODE, ...code } });
  world.start();
}
const pay = (payload: string, n = 1) =>
  Array.from({ length: n }, () => [aRequest({ code: 'a', retry: tries(1), payload })]);

test('of two creates at once with one key and different content the one that is accepted is the one that runs', async () => {
  await open({ a: ok });
  const both = await Promise.allSettled([
    createGroup('batch', 'k', aBatch(pay('"one"', 3)), world.ports),
    createGroup('batch', 'k', aBatch(pay('"two"', 3)), world.ports),
  ]);
  await passes(MINUTE);
  const accepted = both.map(({ status }) => status);
  expect(accepted.sort()).toEqual(['fulfilled', 'rejected']);
  const winner = both[0].status === 'fulfilled' ? 'one' : 'two';
  expect(payloads(world, 'a')).toEqual([winner, winner, winner]);
});

test('of two additions at once with one key and different content likewise', async () => {
  await open({ a: ok, slow: lasts(5 * MINUTE) });
  const batch = await GroupOf.create(world, 'batch', aBatch([steps('slow')]));
  const both = await Promise.allSettled([
    addToBatch(batch.groupId, 'k', pay('"one"', 3), world.ports),
    addToBatch(batch.groupId, 'k', pay('"two"', 3), world.ports),
  ]);
  await passes(MINUTE);
  void both;
  expect(new Set(payloads(world, 'a').map(String)).size).toBe(1);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('a create that died before its head, then another content under its key: only that runs', async () => {
  await open({ a: ok });
  const dead = {
    ...world.ports,
    highActivations: { ...world.ports.highActivations, send: () => Promise.reject(new Error('down')) },
  };
  await expect(createGroup('batch', 'k', aBatch(pay('"one"', 3)), dead as never)).rejects.toThrow('down');
  const second = await createGroup('batch', 'k', aBatch(pay('"two"', 2)), world.ports).catch((error: Error) => error);
  await passes(2 * MINUTE);
  if (second instanceof Error) return;
  expect(payloads(world, 'a')).toEqual(['two', 'two']);
});

test('a waiting run that an edit supersedes gives its unique key back', async () => {
  await open({ a: ok, slow: lasts(10 * MINUTE) });
  const concurrency = { key: 'c', limit: 1 };
  await createJob('s', aRequest({ code: 'slow', jobId: 's', concurrency }), world.ports);
  await createJob(
    'r',
    aRequest({
      code: 'a',
      jobId: 'r',
      schedule: rate('rate(1 minute)'),
      concurrency,
      unique: { key: 'u', forSeconds: 86_400, until: 'done' },
    }),
    world.ports,
  );
  await passes(90 * SECOND);
  await editJob('r', { payload: '1' }, undefined, world.ports);
  await passes(30 * MINUTE);
  const fates = (await world.runsOf('r')).map(({ state, reason }) => reason ?? state);
  expect(fates).toContain('DONE');
});

test('a chain whose step was SKIPPED for its unique key can be continued', async () => {
  await open({ a: ok, slow: lasts(5 * MINUTE), b: ok });
  const unique = { key: 'u', forSeconds: 3600, until: 'done' as const };
  await createJob('s', aRequest({ code: 'slow', jobId: 's', unique }), world.ports);
  const chain = await GroupOf.create(
    world,
    'chain',
    aChain([aRequest({ code: 'a' }), aRequest({ code: 'b', unique }), aRequest({ code: 'a' })]),
  );
  await passes(10 * MINUTE);
  expect(await chain.states()).toBe('DSS');
  await retryGroup('chain', chain.groupId, world.ports);
  await passes(MINUTE);
  expect(await chain.states()).toBe('DDD');
});

test('a batch whose one job was SKIPPED for its unique key is DONE after a retry', async () => {
  await open({ a: ok, slow: lasts(5 * MINUTE), b: ok });
  const unique = { key: 'u', forSeconds: 3600, until: 'done' as const };
  await createJob('s', aRequest({ code: 'slow', jobId: 's', unique }), world.ports);
  const batch = await GroupOf.create(
    world,
    'batch',
    aBatch([
      [aRequest({ code: 'b', unique })],
      [aRequest({ code: 'a', schedule: { kind: 'delay', delaySeconds: 60 } })],
    ]),
  );
  await passes(10 * MINUTE);
  expect(await batch.states()).toBe('SS');
  await retryGroup('batch', batch.groupId, world.ports);
  await passes(5 * MINUTE);
  expect(await batch.states()).toBe('DD');
  expect((await batch.standing()).group.state).toBe('DONE');
});

test('a batch of which a person cancelled one job goes on with the others, and calls finally once', async () => {
  await open({ a: lasts(2 * MINUTE), b: ok });
  const batch = await GroupOf.create(
    world,
    'batch',
    aBatch([steps('a'), [aRequest({ code: 'b', schedule: { kind: 'delay', delaySeconds: 60 } })]]),
  );
  await passes(10 * SECOND);
  const members = await batch.members();
  await cancelRun(members[1]!.jobId, members[1]!.runId, {}, world.ports);
  await passes(10 * MINUTE);
  expect(await batch.states()).toBe('DC');
  expect(callbackCounts(world)['on-finally']).toBe(1);
});

test('the retry of a batch whose failed run was forgotten brings back what was skipped for it', async () => {
  await open({ bad: fail, b: ok });
  const batch = await GroupOf.create(
    world,
    'batch',
    aBatch([steps('bad'), [aRequest({ code: 'b', schedule: { kind: 'delay', delaySeconds: 60 } })]]),
  );
  await passes(10 * MINUTE);
  expect(await batch.states()).toBe('FS');
  const members = await batch.members();
  await forgetFailed(members[0]!.jobId, members[0]!.runId, world.ports);
  const standing = await retryGroup('batch', batch.groupId, world.ports);
  expect(standing).toMatchObject({ group: { state: 'RUNNING' }, tally: { failed: 1, pending: 1 } });
  await passes(5 * MINUTE);
  expect(await batch.states()).toBe('FD');
  expect((await batch.standing()).group.state).toBe('FAILED');
});

test('a repeat of a create after it was cancelled and of an add after the end change nothing', async () => {
  await open({ a: lasts(MINUTE) });
  const request = aBatch(pay('1', 3));
  const batch = await GroupOf.create(world, 'batch', request, { requestId: 'k' });
  await addToBatch(batch.groupId, 'add', pay('2', 2), world.ports);
  await cancelGroup('batch', batch.groupId, world.ports);
  await createGroup('batch', 'k', request, world.ports);
  await addToBatch(batch.groupId, 'add', pay('2', 2), world.ports);
  await passes(10 * MINUTE);
  expect((await batch.standing()).tally).toMatchObject({ total: 5, pending: 0 });
  expect(callbackCounts(world)).toMatchObject({ 'on-finally': 1, 'on-then': 0 });
});

test('a retry of a batch that is refused resumes nothing of it', async () => {
  await open({ bad: fail, b: ok, slow: lasts(HOUR) });
  const unique = { key: 'u', forSeconds: 7200, until: 'done' as const };
  const batch = await GroupOf.create(
    world,
    'batch',
    aBatch([
      [aRequest({ code: 'bad', retry: tries(1), unique })],
      [aRequest({ code: 'b', schedule: { kind: 'delay', delaySeconds: 60 } })],
    ]),
  );
  await passes(5 * MINUTE);
  expect(await batch.states()).toBe('FS');
  await createJob('s', aRequest({ code: 'slow', jobId: 's', unique }), world.ports);
  const answer = await retryGroup('batch', batch.groupId, world.ports).catch((error: Error) => error);
  await passes(5 * MINUTE);
  expect([answer instanceof Error, await batch.states()]).toEqual([
    answer instanceof Error,
    answer instanceof Error ? 'FS' : 'FD',
  ]);
});
void DAY;
void NOON;
void retryFailed;
