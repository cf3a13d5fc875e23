import { addToBatch } from '../../src/operations/create-group';
import { retryGroup } from '../../src/operations/change-group';
import { completeRun, heartbeat } from '../../src/operations/complete-run';
import { sweep } from '../../src/operations/sweep';
import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { aBatch, aChain, callbackCounts, CALLBACKS, GroupOf, steps, tries } from '../support/groups';
import { aRequest, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());
const ok: Code = () => ({ ok: true });
const fail: Code = () => {
  throw new Error('no');
};
const callbacks = { 'on-then': ok, 'on-catch': ok, 'on-finally': ok, 'on-progress': ok };

async function passes(ms: number) {
  await world.clock.advance(ms);
}

test('a callback is called once, though its run has passed its retention before its job', async () => {
  world = await World.open({ code: { ...callbacks, a: ok } });
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
  world = await World.open({ code: { ...callbacks, a: ok, b: ok } });
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
  world = await World.open({ code: { ...callbacks, a: ok, b: () => (good ? ok : fail)({} as never, {} as never) } });
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
  world = await World.open({ code: { ...callbacks, a: ok, b: () => (good ? ok : fail)({} as never, {} as never) } });
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
      ...callbacks,
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
