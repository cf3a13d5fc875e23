import type { RetryPolicy } from '../../src/domain/retry-policy';
import { activationOf, scheduledRunIdOf } from '../../src/domain/activation';
import { createJob } from '../../src/operations/create-job';
import { readJob } from '../../src/operations/read-job';
import { sendActivations } from '../../src/operations/send-activations';
import type { Ports } from '../../src/ports';
import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { CrashError, doomedProcess } from '../support/crashing-ports';
import { runVisible } from '../support/die-everywhere';
import { checkAtRest } from '../support/invariants';
import { aRequest, World, type Code } from '../support/world';

let world: World;
const open = async (code: Record<string, Code>) => {
  world = await World.open({ code });
};
afterEach(() => world.close());
const create = (jobId: string, changes: Parameters<typeof aRequest>[0] = {}, ports: Ports = world.ports) =>
  createJob(`create-${jobId}`, aRequest({ jobId, ...changes }), ports);
const starts = () => world.calls.map(({ at }) => (at - NOON) / SECOND);
const list = (seconds: number[], more: Partial<RetryPolicy> = {}): RetryPolicy => ({
  maxAttempts: seconds.length + 1,
  backoff: { kind: 'list', seconds },
  jitter: 'none',
  ...more,
});
class NamedError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
const failing: Code = () => {
  throw new Error('never');
};

test('waits of 12 hours and of 15 days are found by the due index, and end at their second', async () => {
  await open({ 'job-report': failing });
  await create('a', { retry: list([43_200, 15 * 86_400]) });
  const dues = [NOON + 12 * HOUR, NOON + 12 * HOUR + 15 * DAY];
  for (const due of [NOON, ...dues]) {
    await world.clock.advanceTo(due - 3 * MINUTE);
    const engine = world.start();
    await world.clock.advanceTo(due + MINUTE);
    await world.stop(engine);
    const next = dues.find((at) => at > due);
    if (next === undefined) break;
    expect(await world.runsOf('a')).toMatchObject([{ state: 'RELEASED', dueAt: next, indexDueAt: next }]);
    expect(await world.ports.activations.receive(1)).toEqual([]);
  }
  expect(world.calls.map(({ at }) => at)).toEqual([NOON, ...dues]);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', reason: 'out-of-attempts', attempt: 3 }]);
});

test('the waits of a list are taken one after the other, and the last again', async () => {
  await open({ 'job-report': failing });
  await create('a', { retry: { ...list([10, 60, 300]), maxAttempts: 6 } });
  world.start();
  await world.clock.advance(HOUR);
  expect(starts()).toEqual([0, 10, 70, 370, 670, 970]);
});

test('full jitter takes a part of the wait, and equal jitter at least half of it', async () => {
  await open({ 'job-report': failing });
  // Chance is 0.5 here.
  for (const [jitter, second] of [
    ['full', 30],
    ['equal', 45],
  ] as const) {
    world.calls.length = 0;
    const begin = (world.clock.now() - NOON) / SECOND;
    await create(jitter, { retry: list([60], { jitter }) });
    const engine = world.start();
    await world.clock.advance(5 * MINUTE);
    expect(starts()).toEqual([begin, begin + second]);
    await world.stop(engine);
  }
});

test('a hundred attempts with big errors end in FAILED, in a row of bounded size', async () => {
  await open({
    'job-report': () => {
      throw new Error('é'.repeat(50_000));
    },
  });
  world.start();
  await create('a', { retry: { maxAttempts: 100, backoff: { kind: 'fixed', seconds: 1 }, jitter: 'none' } });
  await world.clock.advance(HOUR);
  const [run] = await world.runsOf('a');
  expect(run).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts', attempt: 100 });
  expect(world.calls).toHaveLength(100);
  expect(Buffer.byteLength(JSON.stringify(run))).toBeLessThan(32_000);
  await checkAtRest(world);
});

test('a run whose runner was killed at work starts again within 90 seconds, and that counts as an attempt', async () => {
  await open({ 'job-report': () => 'done' });
  await create('a');
  let doomed;
  for (let crashAt = 1; ; crashAt++) {
    doomed = doomedProcess(world.ports, crashAt, 'after');
    await world.untilOver(runVisible(world, doomed.ports)).catch((error: unknown) => {
      if (!(error instanceof CrashError)) throw error;
    });
    if (doomed.calls.at(crashAt - 1) === 'runs.put') break;
    await world.close();
    await open({ 'job-report': () => 'done' });
    await create('a');
  }
  expect(await world.runsOf('a')).toMatchObject([{ state: 'STARTED', attempt: 1 }]);
  const startedAt = (await world.runsOf('a'))[0]!.startedAt!;
  world.calls.length = 0;
  world.start();
  await world.clock.advanceTo(startedAt + 90 * SECOND);
  expect(world.calls).toMatchObject([{ event: { attempt: 2 } }]);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempts: [{ reason: 'attempt-lost' }] }]);
});

describe('code that says what is to become of it', () => {
  test('by a RetryAfterError comes back then, with the same attempt, as often as it likes', async () => {
    let calls = 0;
    await open({
      'job-report': () => {
        if (++calls === 1) throw new NamedError('RetryAfterError', '30 the shop is closed');
        if (calls === 2) throw new NamedError('RetryAfterError', new Date(NOON + 2 * HOUR).toISOString());
      },
    });
    await create('a', { retry: list([]) });
    world.start();
    await world.clock.advance(3 * HOUR);
    expect(starts()).toEqual([0, 30, 7_200]);
    expect(world.calls.map(({ event }) => event['attempt'])).toEqual([1, 1, 1]);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 1, attempts: [] }]);
  });

  test('by a NonRetriableError is called no more', async () => {
    await open({
      'job-report': () => {
        throw new NamedError('NonRetriableError', 'no such order');
      },
    });
    world.start();
    await create('a', { retry: list([1, 1, 1]) });
    await world.clock.advance(MINUTE);
    expect(world.calls).toHaveLength(1);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', reason: 'non-retriable' }]);
  });
});

test('after retryUntil no attempt starts, also where the runners were away when it passed', async () => {
  await open({ 'job-report': failing });
  const retry = list([60, 60, 60], { retryUntil: NOON + 90 * SECOND });
  await create('a', { retry });
  await create('b', { retry: { ...retry, backoff: { kind: 'fixed', seconds: 95 } } });
  const engine = world.start();
  await world.clock.advance(30 * SECOND);
  await world.stop(engine);
  await world.clock.advanceTo(NOON + 100 * SECOND);
  world.start();
  await world.clock.advance(10 * MINUTE);
  expect(starts()).toEqual([0, 0]);
  for (const jobId of ['a', 'b']) {
    expect(await world.runsOf(jobId)).toMatchObject([
      { state: 'FAILED', reason: 'out-of-time', error: { type: 'Error', message: 'never' } },
    ]);
  }
});

test('a failed run keeps its one-off job as long as it is kept itself', async () => {
  await open({ 'job-report': failing });
  const settings = { ...world.ports.settings, retentionMs: HOUR, failedRetentionMs: DAY };
  const ports = { ...world.ports, settings };
  await create('a', { retry: list([60]), payload: '"precious"' }, ports);
  world.start(ports);
  await world.clock.advance(20 * HOUR);
  await world.sweepExpired();
  expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', expiresAt: NOON + MINUTE + DAY }]);
  expect(await readJob('a', ports)).toMatchObject({ job: { payload: '"precious"' } });
  await world.clock.advance(5 * HOUR);
  await world.sweepExpired();
  expect(await world.runsOf('a')).toEqual([]);
  expect(await world.ports.jobs.read('a')).toBeUndefined();
});

test('what could not be read before the call uses no attempt, and its lease is not kept', async () => {
  await open({ 'job-report': () => 'done' });
  let failures = 2;
  const { code } = world.ports;
  const flaky: Ports['code'] = {
    put: (one) => code.put(one),
    read: async (codeId) => {
      if (failures-- > 0) throw new Error('the table is slow');
      return code.read(codeId);
    },
  };
  await create('a', { retry: list([]) });
  world.start({ ...world.ports, code: flaky });
  await world.clock.advance(MINUTE);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  expect(world.calls).toHaveLength(1);
});

test('code gets what the job before it in its chain returned, to the last digit', async () => {
  await open({ 'job-report': () => 'done' });
  const returns = async (result: string) => ({ kind: 'returned' as const, result });
  const engine = world.start({
    ...world.ports,
    invoker: { invoke: () => returns('{"id":9007199254740993,"z":-0.0}') },
  });
  await create('first');
  await create('second', { schedule: { kind: 'delay', delaySeconds: 30 }, payload: '[1.50]' });
  await world.clock.advance(SECOND);
  await world.stop(engine);
  await world.ports.activations.receive(10);
  const previous = { jobId: 'first', runId: scheduledRunIdOf('first', NOON) };
  const [row] = await world.ports.jobs.readRows(['second']);
  const activation = {
    version: 1 as const,
    jobId: 'second',
    generation: row!.lifeId,
    origin: 'scheduled' as const,
    nominalAt: NOON + 30 * SECOND,
    dueAt: NOON + 2 * SECOND,
    sequence: 1,
    previous,
  };
  await sendActivations([{ activation, deliverAt: NOON }], world.ports);
  world.start();
  await world.clock.advance(5 * SECOND);
  expect(world.calls).toHaveLength(1);
  expect(world.calls[0]!.text).toContain(
    `,"previous":{"jobId":"first","runId":"${previous.runId}","result":{"id":9007199254740993,"z":-0.0}},"payload":[1.50]}`,
  );
  const [run] = await world.runsOf('second');
  expect(activationOf(run!).previous).toEqual(previous);
});
