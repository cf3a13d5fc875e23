import type { GroupKind } from '../../src/domain/group';
import type { JobRequest } from '../../src/domain/job-request';
import { NOTIFICATION_STATES, type NotificationState } from '../../src/domain/notification';
import { DEFAULT_RETRY } from '../../src/domain/retry-policy';
import { cancelGroup } from '../../src/operations/change-group';
import { createGroup } from '../../src/operations/create-group';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { deleteNotification } from '../../src/operations/delete-notification';
import { statesSubscribedOfAll } from '../../src/operations/subscriptions';
import type { Ports } from '../../src/ports';
import { functionArn, MINUTE, NOON, SECOND } from '../support/builders';
import { CrashError, doomedProcess } from '../support/crashing-ports';
import { eventIds } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

const ok: Code = () => ({ ok: true });
const fails: Code = () => {
  throw new Error('no');
};

const subscribe = (state: NotificationState, code: string, ports: Ports, requestId = `${code}-${state}`) =>
  createNotification(requestId, { jobId: '*', state, functionArn: functionArn(code) }, ports);
const subscribeToEverything = async (code: string, ports: Ports) => {
  for (const state of NOTIFICATION_STATES) await subscribe(state, code, ports);
};

/** What every job of a day makes of its runs: done, retried, failed, skipped, cancelled. */
async function aDay(world: World): Promise<void> {
  const { ports } = world;
  const retry = { maxAttempts: 2, backoff: { kind: 'fixed' as const, seconds: 5 }, jitter: 'none' as const };
  world.start();
  await createJob('r1', aRequest({ jobId: 'done' }), ports);
  await createJob('r2', aRequest({ jobId: 'failed', code: 'job-fails', retry }), ports);
  await createJob('r3', aRequest({ jobId: 'deleted', schedule: rate('rate(20 seconds)') }), ports);
  await createJob('r4', aRequest({ jobId: 'waiting', code: 'job-fails', retry: { ...retry, maxAttempts: 9 } }), ports);
  await world.clock.advance(12 * SECOND);
  await world.untilOver(deleteJob('d1', 'deleted', ports));
  await world.untilOver(deleteJob('d2', 'waiting', ports));
  await world.clock.advance(3 * MINUTE);
}

const transitionsOf = (world: World) => world.transitions.map(({ runId, sequence }) => `${runId}:${sequence}`).sort();

test('every transition of every job reaches who subscribed to all jobs, with the same id and the state it had', async () => {
  const world = await World.open({ code: { 'job-report': ok, 'job-fails': fails, notify: ok } });
  await subscribeToEverything('notify', world.ports);
  await aDay(world);
  expect(new Set(world.transitions.map(({ state }) => state))).toEqual(
    new Set(['SCHEDULED', 'STARTED', 'RELEASED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED']),
  );
  const heard = new Map(world.callsOf('notify').map(({ event }) => [event['id'] as string, event]));
  expect([...heard.keys()].sort()).toEqual(transitionsOf(world));
  for (const { runId, jobId, state, sequence } of world.transitions) {
    expect(heard.get(`${runId}:${sequence}`)).toMatchObject({ source: `/jobs/${jobId}`, data: { state, sequence } });
  }
  await world.close();
});

test('what chains and batches become reaches who subscribed to all jobs, by id and sequence, with the counts', async () => {
  const world = await World.open({ code: { 'job-report': ok, 'job-fails': fails, notify: ok } });
  await subscribeToEverything('notify', world.ports);
  world.start();
  const retry = { ...DEFAULT_RETRY, maxAttempts: 1 };
  const [good, bad] = [aRequest(), aRequest({ code: 'job-fails', retry })];
  const create = async (kind: GroupKind, requestId: string, members: JobRequest[][]) =>
    (await world.untilOver(createGroup(kind, requestId, { members, callbacks: {} }, world.ports))).group.groupId;
  const done = await create('chain', 'r1', [[good, good]]);
  const failed = await create('batch', 'r2', [[good], [bad]]);
  const later = aRequest({ schedule: { kind: 'delay', delaySeconds: 600 } });
  const cancelled = await create('batch', 'r3', [[later]]);
  await world.clock.advance(MINUTE);
  await world.untilOver(cancelGroup('batch', cancelled, world.ports));
  await world.clock.advance(MINUTE);

  const heard = new Map(world.callsOf('notify').map(({ event }) => [event['id'] as string, event]));
  const expected: [string, GroupKind, string, number, object][] = [
    [done, 'chain', 'running', 1, { chainId: done, state: 'RUNNING', total: 2 }],
    [done, 'chain', 'done', 2, { chainId: done, state: 'DONE', done: 2, percent: 100 }],
    [failed, 'batch', 'running', 1, { batchId: failed, state: 'RUNNING' }],
    [failed, 'batch', 'failed', 2, { batchId: failed, state: 'FAILED', failed: 1 }],
    [cancelled, 'batch', 'running', 1, { batchId: cancelled }],
    [cancelled, 'batch', 'cancelled', 2, { batchId: cancelled, state: 'CANCELLED' }],
  ];
  for (const [groupId, kind, state, sequence, data] of expected) {
    const event = heard.get(`${groupId}:${sequence}`);
    expect(event).toMatchObject({ type: `escapement.${kind}.${state}`, subject: groupId, data: { ...data, sequence } });
  }
  const groups = new Set(expected.map(([groupId]) => groupId));
  const ofRuns = [...heard].filter(([, { subject }]) => !groups.has(subject as string)).map(([id]) => id);
  expect(ofRuns.sort()).toEqual(transitionsOf(world));
  expect(heard.size - ofRuns.length).toBe(expected.length);
  await world.close();
});

test('who subscribed to one job and who did to all hear of the same transition by the same id', async () => {
  const world = await World.open({ code: { 'job-report': ok, 'notify-one': ok, 'notify-all': ok } });
  await createJob('r1', aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 1 } }), world.ports);
  const one = { jobId: 'a', state: 'DONE' as const, functionArn: functionArn('notify-one') };
  await createNotification('n1', one, world.ports);
  await subscribe('DONE', 'notify-all', world.ports);
  world.start();
  await world.clock.advance(MINUTE);
  expect(eventIds(world, 'notify-one')).toHaveLength(1);
  expect(eventIds(world, 'notify-all')).toEqual(eventIds(world, 'notify-one'));
  await world.close();
});

test('a subscriber to all jobs that fails changes nothing of them, and harms no other', async () => {
  const histories: unknown[] = [];
  for (const isFailing of [false, true]) {
    const code = { 'job-report': ok, 'job-fails': fails, 'notify-fails': isFailing ? fails : ok, notify: ok };
    const world = await World.open({ code });
    await subscribeToEverything('notify-fails', world.ports);
    await subscribeToEverything('notify', world.ports);
    await aDay(world);
    const runs = await Promise.all(['done', 'failed', 'deleted', 'waiting'].map((jobId) => world.runsOf(jobId)));
    histories.push(runs.flat().map(({ runId, state, attempt, changedAt }) => ({ runId, state, attempt, changedAt })));
    expect(eventIds(world, 'notify')).toEqual(expect.arrayContaining(transitionsOf(world)));
    await world.close();
  }
  expect(histories[1]).toEqual(histories[0]);
});

/** Dies at each call of `act`, before it and after it; afterwards the world is looked at. */
async function dieEverywhere(
  arrange: (world: World) => Promise<void>,
  act: (ports: Ports, world: World) => Promise<unknown>,
  check: (world: World, wasAnswered: boolean) => Promise<void>,
): Promise<number> {
  let histories = 0;
  for (const when of ['before', 'after'] as const) {
    for (let crashAt = 1, hasCrashed = true; hasCrashed; crashAt++, histories++) {
      const world = await World.open({ code: { 'job-report': ok, notify: ok, other: ok } });
      await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
      await arrange(world);
      const doomed = doomedProcess(world.ports, crashAt, when);
      await act(doomed.ports, world).catch((error: unknown) => {
        if (!(error instanceof CrashError)) throw error;
      });
      hasCrashed = doomed.hasCrashed();
      await check(world, !hasCrashed);
      await world.close();
    }
  }
  return histories;
}

const runOneMinute = async (world: World) => {
  world.start();
  await world.clock.advance(MINUTE + SECOND);
  return (await world.runsOf('a')).map(({ runId, sequence }) => `${runId}:${sequence}`);
};

test('whoever was told that he is subscribed to all jobs hears of them, though a first try died anywhere', async () => {
  const histories = await dieEverywhere(
    async () => undefined,
    (ports) => subscribe('DONE', 'notify', ports),
    async (world, wasAnswered) => {
      if (!wasAnswered) await subscribe('DONE', 'notify', world.ports);
      expect(await world.ports.notifications.of('*')).toHaveLength(1);
      expect(eventIds(world, 'notify')).toEqual([]);
      const runs = await runOneMinute(world);
      expect(runs.length).toBeGreaterThan(1);
      expect(eventIds(world, 'notify')).toEqual(runs);
    },
  );
  expect(histories).toBeGreaterThan(8);
});

test('one who leaves, and dies of it anywhere, does not keep the other subscriber of the same state from hearing', async () => {
  const histories = await dieEverywhere(
    async (world) => {
      await subscribe('DONE', 'notify', world.ports);
      await subscribe('DONE', 'other', world.ports);
    },
    async (ports, world) => {
      const all = await world.ports.notifications.of('*');
      const mine = all.find((one) => one.functionArn === functionArn('notify'))!;
      await deleteNotification('*', mine.notifyId, ports);
    },
    async (world, wasAnswered) => {
      const runs = await runOneMinute(world);
      expect(eventIds(world, 'other')).toEqual(runs);
      if (wasAnswered) expect(world.callsOf('notify')).toEqual([]);
    },
  );
  expect(histories).toBeGreaterThan(4);
});

test('many who come and go at once leave the set that those want who stayed', async () => {
  const world = await World.open();
  const states = ['DONE', 'FAILED', 'CHAIN_DONE', 'BATCH_DONE'] as const;
  const come = (state: NotificationState, who: number) => subscribe(state, 'notify', world.ports, `${state}-${who}`);
  const first = await Promise.all(states.flatMap((state) => [1, 2].map((who) => come(state, who))));
  await Promise.all([
    ...first.map(({ notifyId }) => deleteNotification('*', notifyId, world.ports)),
    come('DONE', 3),
    come('BATCH_DONE', 3),
  ]);
  expect([...(await statesSubscribedOfAll(world.ports))].sort()).toEqual(['BATCH_DONE', 'DONE']);
  expect(world.clock.now()).toBe(NOON);
  await world.close();
});
