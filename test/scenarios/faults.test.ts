import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { runActivations } from '../../src/operations/run-activation';
import type { InvokeOutcome, Ports } from '../../src/ports';
import { functionArn, MINUTE, SECOND } from '../support/builders';
import { checkAtRest } from '../support/invariants';
import { aRequest, World, type Code } from '../support/world';

/** Faults that job systems have had in public, tried on this one. */
let world: World;
const open = async (code: Record<string, Code>) => {
  world = await World.open({ code });
};
afterEach(() => world.close());
const create = (jobId: string, changes: Parameters<typeof aRequest>[0] = {}, ports: Ports = world.ports) =>
  createJob(`create-${jobId}`, aRequest({ jobId, ...changes }), ports);
const once = { maxAttempts: 1, backoff: { kind: 'fixed' as const, seconds: 0 }, jitter: 'none' as const };

test('one start message delivered three times is one run, one call, one set of notices', async () => {
  await open({ 'job-report': async (call, clock) => clock.waitUntil(call.at + 20 * SECOND), notify: () => null });
  await create('a', { schedule: { kind: 'delay', delaySeconds: 10 } });
  for (const state of ['STARTED', 'DONE'] as const) {
    await createNotification(state, { jobId: 'a', state, functionArn: functionArn('notify') }, world.ports);
  }
  await world.clock.advance(10 * SECOND);
  const [message] = await world.ports.activations.receive(1);
  const deliver = (receives: number) => runActivations([{ ...message!, receives }], world.ports);
  const first = deliver(1);
  await world.clock.advance(40);
  const second = deliver(2);
  await world.clock.advance(35 * SECOND);
  const third = deliver(3);
  expect(await world.untilOver(Promise.all([first, second, third]))).toEqual([[], [], []]);
  await world.ports.activations.remove([message!.receipt]);
  world.start();
  await world.clock.advance(5 * MINUTE);
  expect(world.callsOf('job-report')).toHaveLength(1);
  const notices = world.callsOf('notify').map(({ event }) => String(event['id']));
  expect(new Set(notices).size).toBe(2);
  await checkAtRest(world);
});

test('a conclusion whose write fails five times is written apart from the job, which is not called again', async () => {
  await open({ 'job-report': () => 'done' });
  const { runs } = world.ports;
  let failures = 5;
  const failing: Ports['runs'] = {
    read: (jobId, runId) => runs.read(jobId, runId),
    list: (query) => runs.list(query),
    due: (query) => runs.due(query),
    failed: (query) => runs.failed(query),
    scan: (query) => runs.scan(query),
    put: async (run, seen) => {
      if (run.state === 'DONE' && failures-- > 0) throw new Error('contention');
      return runs.put(run, seen);
    },
  };
  world.start({ ...world.ports, runs: failing });
  await create('a');
  await world.clock.advance(MINUTE);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  expect(world.calls).toHaveLength(1);
});

test('a job that always fails with two attempts is called twice', async () => {
  await open({
    'job-report': () => {
      throw new Error('never');
    },
  });
  world.start();
  await create('a', { retry: { ...once, maxAttempts: 2 } });
  await world.clock.advance(10 * MINUTE);
  expect(world.calls).toHaveLength(2);
});

test('fifty jobs due at once on code that takes five at a time all run, each with its one attempt', async () => {
  let running = 0;
  await open({
    'job-report': async (call, clock) => {
      running++;
      await clock.waitUntil(call.at + 2 * SECOND);
      running--;
    },
  });
  const { invoker } = world.ports;
  const busy: InvokeOutcome = { kind: 'held-back', reason: 'throttled', message: 'five run already' };
  const fiveAtATime: Ports['invoker'] = { invoke: async (call) => (running >= 5 ? busy : invoker.invoke(call)) };
  for (let k = 0; k < 50; k++) {
    await create(`job-${k}`, { schedule: { kind: 'delay', delaySeconds: 30 }, retry: once });
  }
  world.start({ ...world.ports, invoker: fiveAtATime });
  await world.clock.advance(15 * MINUTE);
  for (let k = 0; k < 50; k++) expect(await world.runsOf(`job-${k}`)).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  expect(world.calls).toHaveLength(50);
});

test('what is throttled for hours ends as FAILED with that reason, and was never called', async () => {
  await open({ 'job-report': () => 'done' });
  const busy: InvokeOutcome = { kind: 'held-back', reason: 'throttled', message: 'busy' };
  world.start({ ...world.ports, invoker: { invoke: async () => busy } });
  await create('a', { retry: once });
  await world.clock.advance(7 * 60 * MINUTE);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', reason: 'throttled' }]);
  expect(world.calls).toEqual([]);
});

test('code that throws, or runs out of its time, failed; code that returns something like an error did not', async () => {
  await open({
    throws: () => {
      throw new RangeError('too far');
    },
    hangs: async (call, clock) => clock.waitUntil(call.at + 100 * MINUTE),
    returns: () => ({ errorMessage: 'x' }),
  });
  world.start();
  for (const code of ['throws', 'hangs', 'returns']) await create(code, { code, retry: once, timeoutSeconds: 5 });
  await world.clock.advance(MINUTE);
  expect((await world.runsOf('throws'))[0]).toMatchObject({
    state: 'FAILED',
    error: { type: 'RangeError', message: 'too far' },
  });
  expect((await world.runsOf('hangs'))[0]).toMatchObject({
    state: 'FAILED',
    error: { type: 'Timeout' },
  });
  expect((await world.runsOf('returns'))[0]).toMatchObject({ state: 'DONE', result: '{"errorMessage":"x"}' });
});

test('of ten messages two fail: only these come again', async () => {
  await open({ 'job-report': () => 'done' });
  for (let k = 0; k < 10; k++) await create(`job-${k}`);
  const messages = await world.ports.activations.receive(10);
  const bad = messages.map((message, k) => (k === 2 || k === 6 ? { ...message, body: 'not an activation' } : message));
  const left = await world.untilOver(runActivations(bad, world.ports));
  expect(left).toEqual([messages[2]!.messageId, messages[6]!.messageId]);
  expect(world.calls).toHaveLength(8);
});

test('a run that outlasts its lease and its message’s visibility many times is called once', async () => {
  await open({ 'job-report': async (call, clock) => clock.waitUntil(call.at + 13 * MINUTE) });
  world.start();
  await create('a');
  await world.clock.advance(20 * MINUTE);
  expect(world.calls).toHaveLength(1);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  await checkAtRest(world);
});
