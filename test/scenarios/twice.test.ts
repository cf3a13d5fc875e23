import { answerCommand } from '../../src/operations/answer-command';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { readJob } from '../../src/operations/read-job';
import { tick } from '../../src/operations/tick';
import { NotFoundError } from '../../src/domain/errors';
import type { RunState } from '../../src/domain/run';
import type { CommandName } from '../../src/ports';
import { DAY, functionArn, MINUTE, NOON, SECOND } from '../support/builders';
import { eventIds } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

const ok: Code = () => 'done';
let world: World;
const open = async (code: Record<string, Code> = { 'job-report': ok, notify: ok }) => {
  world = await World.open({ code });
};
afterEach(() => world.close());
const create = (requestId: string, changes: Parameters<typeof aRequest>[0] = {}) =>
  createJob(requestId, aRequest({ jobId: 'a', ...changes }), world.ports);
const subscribe = (requestId: string, state: RunState = 'DONE') =>
  createNotification(requestId, { jobId: 'a', state, functionArn: functionArn('notify') }, world.ports);
const atTime = (expression: string) => ({ kind: 'expression' as const, expression, timezone: 'UTC' });
const fixed = (maxAttempts: number, seconds: number) => ({
  maxAttempts,
  backoff: { kind: 'fixed' as const, seconds },
  jitter: 'none' as const,
});
const carry = async (name: CommandName) => {
  for (const message of await world.ports.commands[name].receive(10)) {
    await answerCommand(name, message, world.ports);
    await world.ports.commands[name].remove([message.receipt]);
  }
};

test('an immediate job starts within milliseconds, though its message overtakes its row', async () => {
  await open();
  world.start();
  for (let k = 0; k < 20; k++) {
    await create(`r${k}`, { jobId: `job-${k}` });
    await world.clock.advance(SECOND);
  }
  const late = world.transitions.filter(({ state }) => state === 'STARTED').map(({ run }) => run.latenessMs);
  expect(late).toHaveLength(20);
  expect(Math.max(...late.map(Number))).toBeLessThanOrEqual(100);
});

describe('a request that comes twice', () => {
  test('to create at an instant is the same job after that instant too', async () => {
    await open();
    world.start();
    const request = { schedule: atTime('at(2027-05-04T12:00:10)') };
    const first = await create('r1', request);
    await world.clock.advance(MINUTE);
    const again = await create('r1', request);
    expect(again.generations).toEqual(first.generations);
    expect(world.calls).toHaveLength(1);
  });

  test('to create, at the same time on a tombstone, is one job', async () => {
    await open();
    await create('r0', { schedule: rate('rate(1 hour)') });
    await deleteJob('d', 'a', world.ports);
    const [first, second] = await Promise.all([
      create('r1', { schedule: rate('rate(1 hour)') }),
      create('r1', { schedule: rate('rate(1 hour)') }),
    ]);
    expect(first.lifeId).toBe(second.lifeId);
  });

  test('to delete does not touch the job that was created since', async () => {
    await open();
    const command = { body: JSON.stringify({ version: 1, requestId: 'd1', jobId: 'a' }) };
    await create('r1', { schedule: rate('rate(1 hour)') });
    await world.ports.commands['job-delete'].send([command]);
    await carry('job-delete');
    await create('r2', { schedule: rate('rate(1 hour)') });
    await world.ports.commands['job-delete'].send([command]);
    await carry('job-delete');
    expect((await readJob('a', world.ports)).state).toBe('ACTIVE');
    const replies = await world.ports.replies['job-deleted'].receive(10);
    expect(replies.map(({ body }) => JSON.parse(body) as object)).toEqual([
      { version: 1, requestId: 'd1', ok: true, jobId: 'a' },
      { version: 1, requestId: 'd1', ok: true, jobId: 'a' },
    ]);
    await deleteJob('d2', 'a', world.ports);
    await expect(readJob('a', world.ports)).rejects.toThrow(NotFoundError);
  });

  test('to subscribe is a subscription of the job that lives now', async () => {
    await open();
    await create('r1', { schedule: rate('rate(1 hour)') });
    const first = await subscribe('n1');
    expect(await subscribe('n1')).toEqual(first);
    await deleteJob('d', 'a', world.ports);
    await expect(subscribe('n1')).rejects.toThrow(NotFoundError);
    await create('r2', { schedule: rate('rate(1 hour)') });
    const second = await subscribe('n1');
    expect(await world.ports.notifications.of('a')).toContainEqual(second);
  });
});

test('a request that lay in a queue until after its instant runs late, and is not refused', async () => {
  await open();
  const job = { jobId: 'a', target: { functionArn: functionArn('job-report') }, schedule: 'at(2027-05-04T12:00:10)' };
  await world.ports.commands['job-create'].send([{ body: JSON.stringify({ version: 1, requestId: 'r1', job }) }]);
  await world.clock.advance(MINUTE);
  world.start();
  await world.clock.advance(MINUTE);
  const [reply] = await world.ports.replies['job-created'].receive(10);
  expect(JSON.parse(reply!.body)).toMatchObject({ ok: true, jobId: 'a' });
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', nominalAt: NOON + 10 * SECOND }]);
});

describe('a job that is deleted and created again', () => {
  const failing: Code = ({ event }) => {
    if (Number(event['attempt']) < 3) throw new Error('again');
  };

  test('keeps its waiting run, whatever the messages of its former life say', async () => {
    await open({ 'job-report': failing });
    const request = { schedule: atTime('at(2027-05-04T12:00:30)'), retry: fixed(3, 60) };
    await create('r1', request);
    await deleteJob('d', 'a', world.ports);
    await create('r2', request);
    world.start();
    await world.clock.advance(5 * MINUTE);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 3 }]);
  });

  test('keeps its waiting run from the dead letters of its former life', async () => {
    await open({ 'job-report': failing });
    const request = { schedule: atTime('at(2027-05-04T12:00:30)'), retry: fixed(3, 600) };
    const former = await create('r1', request);
    await deleteJob('d', 'a', world.ports);
    await create('r2', request);
    const engine = world.start();
    await world.clock.advance(3 * MINUTE);
    await world.stop(engine);
    const nominalAt = NOON + 30 * SECOND;
    const dead = { version: 1, jobId: 'a', generation: former.generations[0]!.id, origin: 'scheduled', nominalAt };
    await world.ports.deadActivations.send([
      { body: JSON.stringify({ ...dead, dueAt: nominalAt, sequence: 1, returns: 3 }) },
    ]);
    await tick({ loopStartedAt: world.clock.now(), isFirst: true }, world.ports);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'RELEASED' }]);
  });

  test('does not tell its subscribers of the runs of its former life', async () => {
    await open({ 'job-report': async (call, clock) => clock.waitUntil(call.at + 30 * SECOND), notify: ok });
    world.start();
    await create('r1');
    await world.clock.advance(SECOND);
    await deleteJob('d', 'a', world.ports);
    await create('r2', { schedule: rate('rate(1 hour)') });
    await subscribe('n1');
    await world.clock.advance(MINUTE);
    expect((await world.runsOf('a')).map(({ state }) => state)).toEqual(['DONE']);
    expect(world.callsOf('notify')).toEqual([]);
  });
});

test('who subscribes while the code is at work hears of its end', async () => {
  await open({ 'job-report': async (call, clock) => clock.waitUntil(call.at + 5 * SECOND), notify: ok });
  world.start();
  await create('r1');
  await world.clock.advance(2 * SECOND);
  await subscribe('n1');
  await world.clock.advance(MINUTE);
  const [run] = await world.runsOf('a');
  expect(eventIds(world, 'notify')).toEqual([`${run!.runId}:3`]);
});

test('a one-off whose retry lies beyond its retention still gets it', async () => {
  await open({
    'job-report': ({ event }) => {
      if (Number(event['attempt']) < 3) throw new Error('again');
    },
  });
  const engine = world.start();
  await create('r1', { retry: fixed(3, (40 * DAY) / SECOND) });
  await world.clock.advance(MINUTE);
  await world.stop(engine);
  for (const days of [31, 39.99, 79.99]) {
    await world.clock.advanceTo(NOON + days * DAY);
    await world.sweepExpired();
    const again = world.start();
    await world.clock.advance(30 * MINUTE);
    await world.stop(again);
  }
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 3 }]);
  expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
});

test('a notice that is held back is told later, and is no failure of its subscriber', async () => {
  await open();
  const { invoker } = world.ports;
  let isBusy = true;
  const busy = {
    invoke: (call: Parameters<typeof invoker.invoke>[0]) =>
      isBusy && call.functionArn === functionArn('notify')
        ? Promise.resolve({ kind: 'held-back' as const, reason: 'throttled' as const, message: 'busy' })
        : invoker.invoke(call),
  };
  world.start({ ...world.ports, invoker: busy });
  await create('r1', { schedule: { kind: 'delay', delaySeconds: 10 } });
  await subscribe('n1');
  await world.clock.advance(10 * MINUTE);
  expect(world.callsOf('notify')).toEqual([]);
  isBusy = false;
  await world.clock.advance(10 * SECOND);
  expect(world.callsOf('notify')).toHaveLength(1);
});
