import { addToBatch } from '../../src/operations/create-group';
import { retryGroup } from '../../src/operations/change-group';
import { completeRun, heartbeat } from '../../src/operations/complete-run';
import { createJob } from '../../src/operations/create-job';
import { sweep } from '../../src/operations/sweep';
import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import {
  aBatch,
  aChain,
  CALLBACK_CODE,
  callbackCounts,
  CALLBACKS,
  fail,
  GroupOf,
  ok,
  steps,
  tries,
} from '../support/groups';
import { aRequest, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());

async function passes(ms: number) {
  await world.clock.advance(ms);
}

test('a callback is called once, though its run has passed its retention before its job', async () => {
  world = await World.open({ code: { ...CALLBACK_CODE, a: ok } });
  const engine = world.start();
  await GroupOf.create(world, 'batch', aBatch([steps('a')]));
  await passes(MINUTE);
  expect(world.callsOf('on-then')).toHaveLength(1);
  await world.stop(engine);
  await passes(31 * DAY);
  await world.sweepExpired();
  world.start();
  await world.untilOver(sweep(world.ports));
  await passes(MINUTE);
  expect(world.callsOf('on-then')).toHaveLength(1);
});

test('jobs added late, with a long delay, end the batch', async () => {
  world = await World.open({ code: { ...CALLBACK_CODE, a: ok, b: ok } });
  const engine = world.start();
  const first = [
    steps('a'),
    [aRequest({ code: 'b', retry: tries(1), schedule: { kind: 'delay', delaySeconds: 3600 } })],
  ];
  const batch = await GroupOf.create(world, 'batch', aBatch(first));
  await passes(MINUTE);
  await world.untilOver(
    addToBatch(
      batch.groupId,
      'add1',
      [[aRequest({ code: 'b', retry: tries(1), schedule: { kind: 'delay', delaySeconds: 60 * 86400 } })]],
      world.ports,
    ),
  );
  await passes(2 * HOUR);
  expect(await batch.states()).toBe('DDP');
  await world.stop(engine);
  await passes(60 * DAY);
  await world.sweepExpired();
  world.start();
  await passes(HOUR);
  expect((await batch.standing()).tally).toMatchObject({ done: 3 });
  expect((await batch.standing()).group.state).toBe('DONE');
  expect(callbackCounts(world)).toMatchObject({ 'on-then': 1, 'on-finally': 1 });
});

test('a batch of two parts whose failed job is sent again twice, within retention each time, is DONE', async () => {
  let good = false;
  world = await World.open({
    code: { ...CALLBACK_CODE, a: ok, b: () => (good ? ok : fail)({} as never, {} as never) },
  });
  let engine = world.start();
  const members = Array.from({ length: 150 }, (_, nth) => steps(nth === 0 ? 'b' : 'a'));
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { allowFailures: true }));
  await passes(MINUTE);
  expect((await batch.standing()).tally).toMatchObject({ done: 149, failed: 1 });
  for (const last of [false, true]) {
    await world.stop(engine);
    await passes(20 * DAY);
    await world.sweepExpired();
    engine = world.start();
    good = last;
    await world.untilOver(retryGroup('batch', batch.groupId, world.ports));
    await passes(MINUTE);
  }
  expect((await batch.standing()).tally).toMatchObject({ done: 150 });
  expect((await batch.standing()).group.state).toBe('DONE');
});

test('a chain whose failed step is sent again twice, within retention each time, goes on', async () => {
  let good = false;
  world = await World.open({
    code: { ...CALLBACK_CODE, a: ok, b: () => (good ? ok : fail)({} as never, {} as never) },
  });
  let engine = world.start();
  const chain = await GroupOf.create(world, 'chain', aChain(steps('b', 'a')));
  await passes(MINUTE);
  for (const last of [false, true]) {
    await world.stop(engine);
    await passes(20 * DAY);
    await world.sweepExpired();
    engine = world.start();
    good = last;
    await world.untilOver(retryGroup('chain', chain.groupId, world.ports));
    await passes(MINUTE);
  }
  expect(await chain.states()).toBe('DD');
  expect((await chain.standing()).group.state).toBe('DONE');
});

test('a member that completes by callback after 40 days of heartbeats ends its batch', async () => {
  let token = '';
  let runId = '';
  let jobId = '';
  world = await World.open({
    code: {
      ...CALLBACK_CODE,
      a: ok,
      c: ({ event }) => {
        token = String(event['token']);
        runId = String(event['runId']);
        jobId = String(event['jobId']);
      },
    },
  });
  const engine = world.start();
  const c = aRequest({ code: 'c', retry: tries(1), completion: 'callback', heartbeatSeconds: 2 * 86400 });
  const batch = await GroupOf.create(world, 'batch', aBatch([[c, ...steps('a')], steps('a')]));
  await passes(MINUTE);
  await world.stop(engine);
  for (let day = 0; day < 40; day++) {
    await passes(DAY);
    await world.sweepExpired();
    await heartbeat(jobId, runId, token, world.ports);
  }
  world.start();
  await completeRun(jobId, runId, token, { kind: 'returned', result: '1' }, world.ports);
  await passes(HOUR);
  expect((await batch.standing()).group.state).toBe('DONE');
  expect(world.callsOf('a')).toHaveLength(2);
  expect(callbackCounts(world)).toMatchObject({ 'on-then': 1, 'on-finally': 1 });
});
void CALLBACKS;
void NOON;
void SECOND;

test('a batch of two parts, its failed job sent again every 14 days, is DONE at last', async () => {
  let good = false;
  world = await World.open({
    code: { ...CALLBACK_CODE, a: ok, b: () => (good ? ok : fail)({} as never, {} as never) },
  });
  let engine = world.start();
  const members = Array.from({ length: 150 }, (_, nth) => steps(nth === 0 ? 'b' : 'a'));
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { allowFailures: true }));
  await passes(MINUTE);
  for (const last of [false, false, true]) {
    await world.stop(engine);
    await passes(14 * DAY);
    await world.sweepExpired();
    engine = world.start();
    good = last;
    await world.untilOver(retryGroup('batch', batch.groupId, world.ports));
    await passes(MINUTE);
  }
  expect((await batch.standing()).tally).toMatchObject({ total: 150, done: 150 });
  expect((await batch.standing()).group.state).toBe('DONE');
});

test('catch is called once, though the batch lives far longer than its retention', async () => {
  const waits: Code = ({ at }) => {
    if (at < NOON + 70 * DAY) throw Object.assign(new Error(String(80 * 86_400)), { name: 'RetryAfterError' });
    throw new Error('no');
  };
  world = await World.open({ code: { ...CALLBACK_CODE, bad: fail, w: waits } });
  let engine = world.start();
  const batch = await GroupOf.create(world, 'batch', aBatch([...[steps('bad')], steps('w')], { allowFailures: true }));
  await passes(MINUTE);
  expect(await batch.states()).toBe('FP');
  for (let n = 0; n < 8; n++) {
    await world.stop(engine);
    await passes(10 * DAY);
    await world.sweepExpired();
    engine = world.start();
  }
  await passes(HOUR);
  expect(await batch.states()).toBe('FF');
  expect(
    world.callsOf('on-catch').map(({ at, event }) => `${(at - NOON) / DAY} ${String(event['runId'])}`),
  ).toHaveLength(1);
});

test('the daily sweep does not run again a plain one-off whose run TTL removed before its job', async () => {
  world = await World.open({ code: { a: ok } });
  const engine = world.start();
  await createJob('x', aRequest({ code: 'a', jobId: 'x' }), world.ports);
  await passes(MINUTE);
  expect(world.callsOf('a')).toHaveLength(1);
  await world.stop(engine);
  await passes(30 * DAY + HOUR);
  // TTL of DynamoDB removes in no order, days late: here the run first, the job not yet.
  const [run] = await world.runsOf('x');
  const runs = new Proxy(world.ports.runs, {
    get(target, key) {
      if (key === 'read')
        return async (jobId: string, runId: string) => {
          const found = await target.read(jobId, runId);
          return found && found.sequence === run!.sequence && found.expiresAt <= world.clock.now() ? undefined : found;
        };
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const { sentAgain } = await world.untilOver(sweep({ ...world.ports, runs }));
  expect(sentAgain).toBe(0);
});

test('the daily sweep sends no more and more messages for what a limit holds back', async () => {
  let call: Record<string, unknown> = {};
  world = await World.open({ code: { ...CALLBACK_CODE, c: ({ event }) => void (call = event), a: ok } });
  let engine = world.start();
  const concurrency = { key: 'k', limit: 1 };
  await createJob(
    'c',
    aRequest({ code: 'c', jobId: 'c', completion: 'callback', heartbeatSeconds: 10 * 86400, concurrency }),
    world.ports,
  );
  await passes(MINUTE);
  await GroupOf.create(world, 'batch', aBatch(Array.from({ length: 5 }, () => [aRequest({ code: 'a', concurrency })])));
  await createJob('d', aRequest({ code: 'a', jobId: 'd', concurrency }), world.ports);
  await passes(5 * MINUTE);
  await world.stop(engine);
  for (let day = 0; day < 5; day++) {
    await passes(DAY);
    await heartbeat('c', String(call['runId']), String(call['token']), world.ports);
    await world.untilOver(sweep(world.ports));
    engine = world.start();
    await passes(MINUTE);
    await world.stop(engine);
  }
  await passes(10 * MINUTE);
  let count = 0;
  for (;;) {
    const got = await world.ports.activations.receive(10);
    if (got.length === 0) break;
    count += got.length;
  }
  expect(count).toBeLessThanOrEqual(12);
});
