import { ConflictError, NotFoundError } from '../../src/domain/errors';
import { RESULT_BYTES } from '../../src/domain/conclude';
import { cancelRun } from '../../src/operations/cancel-run';
import { completeRun, heartbeat, type Completion } from '../../src/operations/complete-run';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import type { Ports } from '../../src/ports';
import { functionArn, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { dieEverywhere, runVisible } from '../support/die-everywhere';
import { checkAtRest, eventIds } from '../support/invariants';
import { aRequest, World, type Call, type Code } from '../support/world';

let world: World;
const open = async (code: Record<string, Code>) => {
  world = await World.open({ code });
};
const retry = { maxAttempts: 2, backoff: { kind: 'fixed' as const, seconds: 5 }, jitter: 'none' as const };
const create = (at: World = world, changes: Parameters<typeof aRequest>[0] = {}) =>
  createJob('r', aRequest({ jobId: 'a', completion: 'callback', heartbeatSeconds: 600, retry, ...changes }), at.ports);
const keyOf = ({ event }: Call) => [String(event['runId']), String(event['token'])] as const;
const returned = (result: string): Completion => ({ kind: 'returned', result });
const boom: Completion = { kind: 'failed', error: { type: 'Error', message: 'boom' } };
const latest = (at: World) => at.callsOf('job-report').at(-1)!;
const complete = (completion: Completion, call = latest(world), ports: Ports = world.ports) =>
  completeRun('a', ...keyOf(call), completion, ports);
const beat = (call = latest(world)) => heartbeat('a', ...keyOf(call), world.ports);
const begun: Code = () => 'on its way';
const starts = (at: World = world) => at.callsOf('job-report').map((call) => (call.at - NOON) / SECOND);
const subscribe = async (at: World) => {
  for (const state of ['STARTED', 'RELEASED', 'DONE', 'FAILED', 'CANCELLED'] as const) {
    await createNotification(state, { jobId: 'a', state, functionArn: functionArn('notify') }, at.ports);
  }
};

describe('a run that completes by callback', () => {
  const begin = async (code: Code = begun, changes: Parameters<typeof aRequest>[0] = {}) => {
    await open({ 'job-report': code, notify: () => null });
    await create(world, changes);
    await subscribe(world);
    world.start();
    await world.clock.advance(SECOND);
  };
  afterEach(() => world.close());

  test('is at work after its code has returned, until it is completed, once', async () => {
    await begin();
    expect(await world.runsOf('a')).toMatchObject([
      { state: 'STARTED', isAwaited: true, leaseUntil: NOON + 600 * SECOND },
    ]);
    await world.clock.advance(9 * MINUTE);
    const done = await complete(returned('{"id":9007199254740993}'));
    expect(done).toMatchObject({ state: 'DONE', result: '{"id":9007199254740993}', attempt: 1 });
    expect(done).not.toHaveProperty('indexDueAt');
    expect(await complete(returned('2'))).toEqual(done);
    await expect(complete(boom)).rejects.toThrow(ConflictError);
    await expect(beat()).rejects.toThrow(ConflictError);
    await world.clock.advance(HOUR);
    expect(await world.runsOf('a')).toEqual([done]);
    expect(world.callsOf('job-report')).toHaveLength(1);
    expect(eventIds(world, 'notify')).toEqual([`${done.runId}:2`, `${done.runId}:3`]);
    await checkAtRest(world);
  });

  test('keeps a result of bounded size', async () => {
    await begin();
    const done = await complete(returned(JSON.stringify('x'.repeat(RESULT_BYTES))));
    expect(done.state).toBe('DONE');
    expect(done.reason).toMatch(/^result-too-large/);
    expect(done).not.toHaveProperty('result');
  });

  test('that is said to have failed is retried by its policy, with another token', async () => {
    await begin();
    const first = latest(world);
    const released = await complete(boom);
    expect(released).toMatchObject({ state: 'RELEASED', dueAt: NOON + 6 * SECOND, error: { message: 'boom' } });
    expect(await complete(boom)).toMatchObject({ state: 'RELEASED', sequence: released.sequence });
    await world.clock.advance(10 * SECOND);
    expect(starts()).toEqual([0, 6]);
    for (const late of [() => complete(returned('1'), first), () => complete(boom, first), () => beat(first)]) {
      await expect(late()).rejects.toThrow(ConflictError);
    }
    expect(latest(world).event['token']).not.toBe(first.event['token']);
    expect(await complete(boom)).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts', attempt: 2 });
  });

  test('goes on as long as it gives a sign of life, and fails when it misses one', async () => {
    await begin();
    for (let minutes = 5; minutes <= 60; minutes += 5) {
      await world.clock.advanceTo(NOON + minutes * MINUTE);
      expect(await beat()).toEqual({ leaseUntil: NOON + (minutes + 10) * MINUTE, isCancelRequested: false });
    }
    expect(world.callsOf('job-report')).toHaveLength(1);
    await world.clock.advance(12 * MINUTE);
    const [first, second, ...others] = starts();
    expect([first, others]).toEqual([0, []]);
    // Its end, the margin of a lease, and the backoff.
    expect(second).toBeGreaterThan(70 * 60 + 10);
    expect(second).toBeLessThan(70 * 60 + 15);
    expect(await world.runsOf('a')).toMatchObject([{ attempts: [{ attempt: 1, reason: 'heartbeat-missed' }] }]);
    await world.clock.advance(HOUR);
    expect(await world.runsOf('a')).toMatchObject([
      { state: 'FAILED', reason: 'heartbeat-missed', attempt: 2, error: { type: 'HeartbeatMissed' } },
    ]);
    await checkAtRest(world);
  });

  test('has an hour for a sign of life unless said otherwise', async () => {
    await open({ 'job-report': begun });
    await createJob('r', aRequest({ jobId: 'a', completion: 'callback' }), world.ports);
    world.start();
    await world.clock.advance(SECOND);
    expect(await beat()).toMatchObject({ leaseUntil: world.clock.now() + HOUR });
  });

  test('may be completed, and give signs of life, before its code has returned', async () => {
    await begin(async (call, clock) => clock.waitUntil(call.at + 10 * MINUTE), { heartbeatSeconds: 60 });
    await world.clock.advance(3 * MINUTE);
    expect(await beat()).toMatchObject({ isCancelRequested: false });
    await world.clock.advance(3 * MINUTE);
    const done = await complete(returned('1'));
    expect(done).toMatchObject({ state: 'DONE', attempt: 1 });
    await world.clock.advance(HOUR);
    expect(await world.runsOf('a')).toEqual([done]);
    expect(world.callsOf('job-report')).toHaveLength(1);
    expect(eventIds(world, 'notify')).toEqual([`${done.runId}:2`, `${done.runId}:3`]);
    await checkAtRest(world);
  });

  test('whose code throws has failed, and its token names nothing any more', async () => {
    await begin(({ event }) => {
      if (event['attempt'] === 1) throw new Error('not even begun');
    });
    await expect(complete(returned('1'))).rejects.toThrow(ConflictError);
    await world.clock.advance(MINUTE);
    expect(starts()).toEqual([0, 5]);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'STARTED', isAwaited: true, attempt: 2 }]);
  });

  test('that was cancelled is told so with its sign of life, and is CANCELLED when it ends', async () => {
    await begin();
    const [runId] = keyOf(latest(world));
    expect(await cancelRun('a', runId, {}, world.ports)).toMatchObject({ state: 'STARTED' });
    expect(await beat()).toMatchObject({ isCancelRequested: true });
    const cancelled = await complete(returned('"late"'));
    expect(cancelled).toMatchObject({ state: 'CANCELLED' });
    expect(cancelled).not.toHaveProperty('result');
    expect(await complete(returned('"late"'))).toEqual(cancelled);
    await world.clock.advance(HOUR);
    expect(world.callsOf('job-report')).toHaveLength(1);
    await checkAtRest(world);
  });

  test('that was cancelled and gives no further sign is CANCELLED, not tried again', async () => {
    await begin();
    await cancelRun('a', keyOf(latest(world))[0], {}, world.ports);
    await world.clock.advance(HOUR);
    expect(world.callsOf('job-report')).toHaveLength(1);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'CANCELLED', error: { type: 'HeartbeatMissed' } }]);
    await checkAtRest(world);
  });

  test('outlives a restart of the system', async () => {
    await begin();
    await world.takeOver();
    await world.clock.advance(5 * MINUTE);
    expect(await complete(returned('1'))).toMatchObject({ state: 'DONE', attempt: 1 });
    expect(world.callsOf('job-report')).toHaveLength(1);
  });

  test('keeps its token to itself', async () => {
    await begin();
    const [, token] = keyOf(latest(world));
    await complete(returned('1'));
    await world.clock.advance(SECOND);
    const told = [...world.callsOf('notify').map(({ text }) => text), JSON.stringify(world.notes)];
    expect(told.length).toBeGreaterThan(2);
    for (const text of told) expect(text).not.toContain(token);
  });

  test('is ended by nobody without its token, nor where there is none', async () => {
    await begin();
    const [runId] = keyOf(latest(world));
    await expect(completeRun('a', runId, 'guess', returned('1'), world.ports)).rejects.toThrow(ConflictError);
    await expect(completeRun('a', 'nonsense', 'guess', returned('1'), world.ports)).rejects.toThrow(NotFoundError);
    await createJob('r2', aRequest({ jobId: 'plain' }), world.ports);
    await world.clock.advance(SECOND);
    const [plain] = await world.runsOf('plain');
    await expect(completeRun('plain', plain!.runId, '', returned('1'), world.ports)).rejects.toThrow(ConflictError);
  });
});

describe('a process that dies between any two calls of', () => {
  const everythingHeard = async (at: World) => {
    const [run] = await at.runsOf('a');
    const wanted = Array.from({ length: run!.sequence - 1 }, (_, index) => `${run!.runId}:${index + 2}`);
    expect(eventIds(at, 'notify')).toEqual(wanted);
    return run!;
  };
  const arrange = async (at: World) => {
    await create(at);
    await subscribe(at);
  };

  test('beginning it: it is begun again or awaited, and completed by whoever got the latest token', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': begun, notify: () => null },
      arrange,
      rest: 3 * MINUTE,
      act: runVisible,
      check: async (at) => {
        expect(await at.runsOf('a')).toMatchObject([{ state: 'STARTED', isAwaited: true }]);
        await completeRun('a', ...keyOf(latest(at)), returned('1'), at.ports);
        await at.clock.advance(MINUTE);
        expect(await everythingHeard(at)).toMatchObject({ state: 'DONE', result: '1' });
        expect(at.callsOf('job-report').length).toBeLessThanOrEqual(2);
      },
    });
    expect(histories).toBeGreaterThan(12);
  });

  const endings: [string, Completion, boolean, string[]][] = [
    ['completing it', returned('1'), false, ['DONE', 'FAILED']],
    ['completing it, and asks again', returned('1'), true, ['DONE']],
    ['failing it', boom, false, ['FAILED']],
    ['failing it, and asks again', boom, true, ['FAILED']],
  ];
  for (const [what, completion, isAskedAgain, ends] of endings) {
    test(`${what}: it ends, and every transition is announced`, async () => {
      const ending = (at: World, ports: Ports) =>
        completeRun('a', ...keyOf(at.callsOf('job-report')[0]!), completion, ports);
      const histories = await dieEverywhere({
        code: { 'job-report': begun, notify: () => null },
        rest: HOUR,
        arrange: async (at) => {
          await arrange(at);
          await at.untilOver(runVisible(at, at.ports));
        },
        act: ending,
        ...(isAskedAgain ? { again: (at: World) => ending(at, at.ports) } : {}),
        check: async (at, { wasAcknowledged }) => {
          const run = await everythingHeard(at);
          expect(ends).toContain(run.state);
          if (wasAcknowledged && completion.kind === 'returned')
            expect(run).toMatchObject({ state: 'DONE', attempt: 1 });
        },
      });
      expect(histories).toBeGreaterThan(6);
    });
  }

  test('finding that no sign of life came: the next attempt comes, and every transition is announced', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': begun, notify: () => null },
      rest: 3 * HOUR,
      arrange: async (at) => {
        await arrange(at);
        const engine = at.start();
        await at.clock.advance(595 * SECOND);
        await at.stop(engine);
        await at.clock.advance(15 * SECOND);
      },
      act: runVisible,
      check: async (at) => {
        expect(await everythingHeard(at)).toMatchObject({ state: 'FAILED', reason: 'heartbeat-missed', attempt: 2 });
        expect(at.callsOf('job-report')).toHaveLength(2);
      },
    });
    expect(histories).toBeGreaterThan(5);
  });
});
