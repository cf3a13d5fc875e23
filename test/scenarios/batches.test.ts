import { ConflictError, InputError } from '../../src/domain/errors';
import { groupIdOf } from '../../src/domain/group';
import type { GroupRequest } from '../../src/domain/group-request';
import { cancelGroup, retryGroup } from '../../src/operations/change-group';
import { addToBatch, createGroup } from '../../src/operations/create-group';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { retryFailed } from '../../src/operations/failed-runs';
import { listGroups } from '../../src/operations/read-group';
import { followUp } from '../../src/operations/follow-up';
import { sweep } from '../../src/operations/sweep';
import type { Run } from '../../src/domain/run';
import type { Ports, Queue } from '../../src/ports';
import { DAY, functionArn, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { doomedProcess } from '../support/crashing-ports';
import {
  aBatch,
  altered,
  CALLBACK_CODE,
  callbackCounts,
  CALLBACKS,
  fail,
  GroupOf,
  lasts,
  ok,
  payloads,
  steps,
  tries,
} from '../support/groups';
import { checkAtRest, eventIds } from '../support/invariants';
import { aRequest, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());

async function open(code: Record<string, Code>) {
  world = await World.open({ code: { ...CALLBACK_CODE, ...code } });
  world.start();
}

/** Members of one job each. */
const singles = (...codes: string[]) => steps(...codes).map((job) => [job]);
const many = (count: number, code: string) => singles(...Array.from({ length: count }, () => code));

test('the jobs of a batch run side by side, and what follows comes once, when the last is over', async () => {
  await open({ a: lasts(5 * SECOND), b: lasts(20 * SECOND) });
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('a', 'b', 'a'), { name: 'import' }));
  await world.clock.advance(10 * SECOND);
  expect(world.calls.map(({ functionName }) => functionName).sort()).toEqual(['a', 'a', 'b']);
  expect(world.calls[0]!.event).toMatchObject({ batchId: batch.groupId });
  expect(await batch.standing()).toMatchObject({
    group: { state: 'RUNNING' },
    tally: { done: 2, pending: 1, percent: 66 },
  });
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 0, 'on-finally': 0 });
  await world.clock.advance(MINUTE);
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 0, 'on-finally': 1 });
  expect(payloads(world, 'on-finally')[0]).toMatchObject({
    batchId: batch.groupId,
    name: 'import',
    state: 'DONE',
    done: 3,
  });
  await checkAtRest(world);
});

test('S12: an empty batch is over at once, with then and finally called once each', async () => {
  await open({});
  const withProgress = { ...CALLBACKS, progress: functionArn('on-progress') };
  const batch = await GroupOf.create(world, 'batch', aBatch([], { callbacks: withProgress }));
  expect(await batch.standing()).toMatchObject({
    group: { state: 'DONE', sequence: 2 },
    tally: { total: 0, percent: 100 },
  });
  await GroupOf.create(world, 'batch', aBatch([], { callbacks: withProgress }));
  await world.clock.advance(MINUTE);
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 0, 'on-finally': 1 });
  expect(world.callsOf('on-progress')).toEqual([]);
  await checkAtRest(world);
});

test('the first failure stops a batch: what has not begun never does, what waits ends, what is at work may finish', async () => {
  await open({
    bad: (call, clock) => clock.waitUntil(call.at + 5 * SECOND).then(() => fail(call, clock)),
    slow: lasts(MINUTE),
    flaky: fail,
    late: ok,
    next: ok,
  });
  const members = [
    [aRequest({ code: 'bad', retry: tries(1) })],
    steps('slow', 'next'),
    [aRequest({ code: 'flaky', retry: tries(9, 30) })],
    [aRequest({ code: 'late', schedule: { kind: 'delay', delaySeconds: 20 } })],
  ];
  const batch = await GroupOf.create(world, 'batch', aBatch(members));
  await world.clock.advance(10 * SECOND);
  expect(await batch.states()).toBe('FPSCS');
  expect((await batch.standing()).group).toMatchObject({ state: 'RUNNING' });
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 1, 'on-finally': 0 });
  await world.clock.advance(3 * MINUTE);
  expect(await batch.states()).toBe('FDSCS');
  const runs = await batch.runs();
  expect(runs.map((run) => run?.reason)).toEqual([
    'out-of-attempts',
    undefined,
    'batch-cancelled',
    'cancelled: batch-cancelled',
    'batch-cancelled',
  ]);
  expect(world.callsOf('late')).toEqual([]);
  expect(world.callsOf('next')).toEqual([]);
  expect((await batch.standing()).group).toMatchObject({ state: 'FAILED', sequence: 2 });
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 1, 'on-finally': 1 });
  await checkAtRest(world);
});

test('a batch that allows failures goes on, calls catch once, and is DONE', async () => {
  await open({ a: ok, bad: fail });
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('bad', 'a', 'bad', 'a'), { allowFailures: true }));
  await world.clock.advance(MINUTE);
  expect(await batch.states()).toBe('FDFD');
  expect((await batch.standing()).group.state).toBe('DONE');
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 1, 'on-finally': 1 });
});

test('in a batch of chains a failure stops its own chain, and no other where failures are allowed', async () => {
  await open({ a: ok, bad: fail, b: ok });
  const members = [steps('a', 'bad', 'b'), steps('a', 'b'), ...singles('a')];
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { allowFailures: true }));
  await world.clock.advance(MINUTE);
  expect(await batch.states()).toBe('DFSDDD');
  expect((await batch.runs()).map((run) => run?.reason)).toEqual([
    undefined,
    'out-of-attempts',
    'chain-stopped',
    undefined,
    undefined,
    undefined,
  ]);
});

test('sending again what failed brings back with it what the failure had stopped', async () => {
  let isBroken = true;
  await open({
    bad: (call, clock) => (isBroken ? fail(call, clock) : 'mended'),
    flaky: (call, clock) => (isBroken ? fail(call, clock) : 'mended'),
    late: ok,
    next: ok,
    a: ok,
  });
  const members = [
    [aRequest({ code: 'flaky', retry: tries(9, 30) }), ...steps('next')],
    [aRequest({ code: 'bad', retry: tries(2, 5) }), ...steps('next')],
    [aRequest({ code: 'late', schedule: { kind: 'delay', delaySeconds: 20 } })],
    ...singles('a'),
  ];
  const batch = await GroupOf.create(world, 'batch', aBatch(members));
  await world.clock.advance(10 * SECOND);
  expect(await batch.states()).toBe('CSFSSD');
  isBroken = false;
  await world.untilOver(retryGroup('batch', batch.groupId, world.ports));
  expect((await batch.standing()).group).toMatchObject({ sequence: expect.any(Number) as number });
  await world.clock.advance(5 * MINUTE);
  expect(await batch.states()).toBe('DDDDDD');
  expect((await batch.standing()).group).toMatchObject({ state: 'DONE', sequence: 4 });
  expect((await batch.standing()).group.stoppedAt).toBeUndefined();
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 1, 'on-finally': 1 });
  await checkAtRest(world);
});

test('a job that was skipped by itself breaks a batch as a failure does', async () => {
  await open({ a: lasts(MINUTE) });
  const unique = { key: 'one', forSeconds: 3600, until: 'done' as const };
  const members = [[aRequest({ code: 'a', unique })], [aRequest({ code: 'a', unique })]];
  const batch = await GroupOf.create(world, 'batch', aBatch(members));
  await world.clock.advance(5 * MINUTE);
  expect((await batch.states()).split('').sort().join('')).toBe('DS');
  expect((await batch.standing()).group.state).toBe('FAILED');
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 1, 'on-finally': 1 });
});

test('a batch that is cancelled starts nothing more and ends when what is at work has stopped', async () => {
  await open({ slow: lasts(2 * MINUTE), late: ok, flaky: fail });
  const members = [
    steps('slow', 'late'),
    [aRequest({ code: 'late', schedule: { kind: 'delay', delaySeconds: 600 } })],
    [aRequest({ code: 'flaky', retry: tries(3, 600) })],
  ];
  const batch = await GroupOf.create(world, 'batch', aBatch(members));
  await world.clock.advance(5 * SECOND);
  await world.untilOver(cancelGroup('batch', batch.groupId, world.ports));
  await world.clock.advance(5 * SECOND);
  expect(await batch.states()).toBe('PSSC');
  await world.clock.advance(HOUR);
  expect(await batch.states()).toBe('CSSC');
  expect((await batch.runs()).map((run) => run?.reason)).toEqual([
    'cancelled: batch-cancelled',
    'batch-cancelled',
    'batch-cancelled',
    'cancelled: batch-cancelled',
  ]);
  expect(world.callsOf('late')).toEqual([]);
  expect(callbackCounts(world)).toEqual({ 'on-then': 0, 'on-catch': 0, 'on-finally': 1 });
  await checkAtRest(world);
});

test('jobs that a running member adds belong to the batch, which waits for them', async () => {
  await open({
    loader: async ({ event, at }, clock) => {
      await clock.waitUntil(at + 2 * SECOND);
      const batchId = String(event['batchId']);
      const added = [...singles('a', 'a'), steps('a', 'b')];
      await addToBatch(batchId, String(event['runId']), added, world.ports);
      await addToBatch(batchId, String(event['runId']), added, world.ports);
    },
    a: lasts(5 * SECOND),
    b: ok,
  });
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('loader')));
  await world.clock.advance(4 * SECOND);
  expect(await batch.states()).toBe('DPPPP');
  await world.clock.advance(MINUTE);
  expect(await batch.states()).toBe('DDDDD');
  expect(world.callsOf('a')).toHaveLength(3);
  expect((await batch.standing()).group).toMatchObject({ state: 'DONE', sequence: 2 });
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 0, 'on-finally': 1 });
  await expect(addToBatch(batch.groupId, 'late', singles('a'), world.ports)).rejects.toThrow(ConflictError);
  await checkAtRest(world);
});

test('a loader that failed may add its jobs when a person sends it again', async () => {
  let isBroken = true;
  await open({
    loader: async (call, clock) => {
      if (isBroken) return fail(call, clock);
      return addToBatch(String(call.event['batchId']), 'more', singles('a'), world.ports);
    },
    slow: lasts(10 * MINUTE),
    a: ok,
  });
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('loader', 'slow')));
  await world.clock.advance(MINUTE);
  const [loader] = await batch.members();
  expect((await batch.standing()).group.stoppedAt).toBeDefined();
  await expect(addToBatch(batch.groupId, 'other', singles('a'), world.ports)).rejects.toThrow(/stopped/);
  isBroken = false;
  await world.untilOver(retryFailed(loader!.jobId, loader!.runId, world.ports));
  await world.clock.advance(HOUR);
  expect(await batch.states()).toBe('DDD');
  expect((await batch.standing()).group.state).toBe('DONE');
});

test('progress is called at most once for each percent, rising, and at the end with all of it', async () => {
  await open({ a: ok });
  const members = Array.from({ length: 40 }, (_, nth) => [
    aRequest({ code: 'a', schedule: { kind: 'delay' as const, delaySeconds: nth } }),
  ]);
  const progress = functionArn('on-progress');
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { callbacks: { progress } }));
  await world.clock.advance(5 * MINUTE);
  const percents = payloads(world, 'on-progress').map(({ percent }) => Number(percent));
  expect(percents.at(-1)).toBe(100);
  expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
  expect(percents.length).toBeGreaterThan(10);
  expect(payloads(world, 'on-progress').at(-1)).toMatchObject({ batchId: batch.groupId, state: 'DONE', done: 40 });
});

test('whoever subscribed to all hears of what becomes of a batch, each state once', async () => {
  await open({ a: ok, notify: ok });
  for (const state of ['BATCH_RUNNING', 'BATCH_DONE'] as const) {
    await createNotification(state, { jobId: '*', state, functionArn: functionArn('notify') }, world.ports);
  }
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('a', 'a')));
  await world.clock.advance(MINUTE);
  expect(eventIds(world, 'notify')).toEqual([`${batch.groupId}:1`, `${batch.groupId}:2`]);
  const events = world.callsOf('notify').map(({ event }) => event);
  expect(events.find(({ id }) => id === `${batch.groupId}:2`)).toMatchObject({
    type: 'escapement.batch.done',
    source: `/batches/${batch.groupId}`,
    data: { batchId: batch.groupId, state: 'DONE', total: 2, done: 2 },
  });
});

test('jobs of a batch keep the ids that their caller gave them, and the order that he gave them in', async () => {
  await open({ a: ok });
  const members = Array.from({ length: 230 }, (_, nth) => [aRequest({ code: 'a', jobId: `own-${nth}` })]);
  members[7]!.push(aRequest({ code: 'a', jobId: 'own-7-b' }));
  const batch = await GroupOf.create(world, 'batch', aBatch(members));
  await addToBatch(batch.groupId, 'more', [[aRequest({ code: 'a', jobId: 'more-0' })]], world.ports);
  const wanted = Array.from({ length: 230 }, (_, nth) => (nth === 7 ? ['own-7', 'own-7-b'] : [`own-${nth}`])).flat();
  expect((await batch.members()).map(({ jobId }) => jobId)).toEqual([...wanted, 'more-0']);
  await world.clock.advance(MINUTE);
  expect(await batch.tally()).toMatchObject({ total: 232, done: 232 });
});

test('an id that is taken refuses the whole batch, and what was written of it is taken back', async () => {
  await open({ a: ok });
  await createJob('mine', aRequest({ jobId: 'b', code: 'a' }), world.ports);
  const request = aBatch(['a', 'b', 'c'].map((jobId) => [aRequest({ code: 'a', jobId })]));
  const refused = createGroup('batch', 'r1', request, world.ports);
  await expect(refused).rejects.toMatchObject({ name: 'ConflictError', field: 'jobs[1].jobId' });
  await world.clock.advance(3 * MINUTE);
  expect((await world.ports.jobs.list({ limit: 10 })).items.map(({ jobId }) => jobId)).toEqual(['b']);
  expect(world.callsOf('a')).toHaveLength(1);
  // The same request may come again once the place is free.
  await deleteJob('d1', 'b', world.ports);
  const batch = await GroupOf.create(world, 'batch', request);
  await world.clock.advance(MINUTE);
  expect(await batch.states()).toBe('DDD');
});

test('S37: equal ids are found before anything is written, and a write of jobs that fails in part is no success', async () => {
  await open({ a: ok });
  const members = Array.from({ length: 60 }, () => [aRequest({ code: 'a' })]);
  const doubled: GroupRequest['members'] = members.map((member, nth) =>
    nth === 12 || nth === 40 ? [{ ...member[0]!, jobId: 'same' }] : member,
  );
  const refused = createGroup('batch', 'r1', aBatch(doubled), world.ports);
  await expect(refused).rejects.toThrow(InputError);
  await refused.catch((error: InputError) =>
    expect(error.errors.map(({ field }) => field)).toEqual(['jobs[40].jobId']),
  );
  expect((await world.ports.jobs.list({ limit: 100 })).items).toEqual([]);

  const jobs = altered(world.ports.jobs, {
    async putAll(all) {
      await world.ports.jobs.putAll(all.slice(0, 53));
      throw new Error('7 jobs were not written');
    },
  });
  await expect(createGroup('batch', 'r2', aBatch(members), { ...world.ports, jobs })).rejects.toThrow('7 jobs');
  expect(await world.ports.groups.read(groupIdOf('batch', 'r2'))).toBeUndefined();
  await world.clock.advance(3 * MINUTE);
  expect(world.calls).toEqual([]);
  const batch = await GroupOf.create(world, 'batch', aBatch(members), { requestId: 'r2' });
  await world.clock.advance(MINUTE);
  expect(await batch.tally()).toMatchObject({ total: 60, done: 60 });
});

test('S03: a completion that loses its conflicts on the row of the batch costs no attempt', async () => {
  world = await World.open({ code: { ...CALLBACK_CODE, a: ok } });
  let conflicts = 0;
  const groups = altered(world.ports.groups, {
    putPart: (part, seen) => {
      if (part.states.includes('D') && conflicts++ < 5) return Promise.resolve(false);
      return world.ports.groups.putPart(part, seen);
    },
  });
  world.start({ ...world.ports, groups });
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('a')));
  await world.clock.advance(MINUTE);
  expect(conflicts).toBe(6);
  expect(await batch.runs()).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  expect(world.callsOf('a')).toHaveLength(1);
  expect((await batch.standing()).group.state).toBe('DONE');
});

test('code that waits longer than its batch is kept keeps it', async () => {
  const waits: Code = ({ at }) => {
    if (at < NOON + HOUR) throw Object.assign(new Error(String(80 * 86_400)), { name: 'RetryAfterError' });
  };
  world = await World.open({ code: { ...CALLBACK_CODE, a: waits, b: ok } });
  const engine = world.start();
  const batch = await GroupOf.create(world, 'batch', aBatch([steps('a', 'b'), ...singles('b')]));
  await world.clock.advance(MINUTE);
  expect(await batch.states()).toBe('PPD');
  await world.stop(engine);
  await world.clock.advance(80 * DAY);
  await world.sweepExpired();
  world.start();
  await world.clock.advance(HOUR);
  expect(await batch.states()).toBe('DDD');
  expect((await batch.standing()).group.state).toBe('DONE');
});

test('what a lost message leaves pending the daily sweep finds', async () => {
  await open({ a: ok });
  const ports = { ...world.ports, highActivations: altered(world.ports.highActivations, { send: async () => {} }) };
  const batch = await GroupOf.create(world, 'batch', aBatch(many(120, 'a')), { ports });
  await world.clock.advance(2 * HOUR);
  expect(world.calls).toEqual([]);
  await world.untilOver(sweep(world.ports));
  await world.clock.advance(MINUTE);
  expect(await batch.tally()).toMatchObject({ total: 120, done: 120 });
});

test('groups are listed by their kind, each with its counts', async () => {
  await open({ a: ok });
  const batch = await GroupOf.create(world, 'batch', aBatch(many(3, 'a')));
  await GroupOf.create(world, 'chain', aBatch([steps('a', 'a')]));
  const { items } = await listGroups({ kind: 'batch', limit: 10 }, world.ports);
  expect(items.map(({ group, tally }) => [group.groupId, tally.total])).toEqual([[batch.groupId, 3]]);
});

test('10,000 jobs, one in ten failing at first, everything told twice, the runner killed twice: counts are exact, each callback comes once', async () => {
  const failing = new Set<unknown>();
  world = await World.open({
    code: {
      ...CALLBACK_CODE,
      a: async (call, clock) => {
        const { jobId, attempt } = call.event;
        await clock.waitUntil(call.at + SECOND);
        if (attempt === 1 && Number.parseInt(String(jobId).slice(0, 4), 16) % 10 === 0) {
          failing.add(jobId);
          throw new Error('not yet');
        }
      },
    },
  });
  const members = Array.from({ length: 10_000 }, () => [aRequest({ code: 'a', retry: tries(4, 5) })]);
  const progress = functionArn('on-progress');
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { callbacks: { ...CALLBACKS, progress } }));

  /** Each message is delivered twice. */
  const twice = (queue: Queue): Queue =>
    altered(queue, { send: (messages) => queue.send(messages.flatMap((message) => [message, message])) });
  const doubled: Ports = {
    ...world.ports,
    activations: twice(world.ports.activations),
    highActivations: twice(world.ports.highActivations),
  };
  for (const crashAt of [20_000, 60_000]) {
    const doomed = doomedProcess(doubled, crashAt, 'after');
    const engine = world.start(doomed.ports);
    for (let seconds = 0; !doomed.hasCrashed() && seconds < 900; seconds++) await world.clock.advance(SECOND);
    expect(doomed.hasCrashed()).toBe(true);
    await world.stop(engine);
    await world.takeOver();
  }
  world.start(doubled);
  await world.clock.advance(15 * MINUTE);

  expect(failing.size).toBeGreaterThan(900);
  expect(await batch.tally()).toEqual({
    total: 10_000,
    pending: 0,
    done: 10_000,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    percent: 100,
  });
  expect((await batch.standing()).group).toMatchObject({ state: 'DONE', sequence: 2 });
  const runs = await batch.runs();
  expect(runs.every((run) => run?.state === 'DONE')).toBe(true);
  const repeat = async (run: Run) => followUp(run, (await world.ports.jobs.readRows([run.jobId]))[0], world.ports);
  for (let from = 0; from < runs.length; from += 100)
    await Promise.all(runs.slice(from, from + 100).map((run) => repeat(run!)));
  await world.clock.advance(MINUTE);
  expect((await batch.tally()).done).toBe(10_000);
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 0, 'on-finally': 1 });
  const percents = payloads(world, 'on-progress').map(({ percent }) => percent);
  expect(new Set(percents).size).toBe(percents.length);
  expect(percents).toContain(100);
  await checkAtRest(world);
}, 300_000);

test('a batch ends though the head did not hear that one of its parts, all over, was kept for longer', async () => {
  await open({ a: lasts(30 * SECOND), b: ok });
  const batch = await GroupOf.create(world, 'batch', aBatch(singles('a')));
  await addToBatch(batch.groupId, 'more', singles('b'), world.ports);
  await world.clock.advance(10 * SECOND);
  const added = (await batch.parts()).find(({ states }) => states === 'D')!;
  // As a process leaves it that dies between the two writes.
  await world.ports.groups.putPart({ ...added, revision: added.revision + 1, expiresAt: added.expiresAt + DAY }, added);
  await world.clock.advance(MINUTE);
  expect(await batch.standing()).toMatchObject({ group: { state: 'DONE' }, tally: { done: 2 } });
  expect(callbackCounts(world)).toEqual({ 'on-then': 1, 'on-catch': 0, 'on-finally': 1 });
});
