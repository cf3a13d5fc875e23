import { RUN_STATES } from '../../src/domain/run';
import { cancelRun } from '../../src/operations/cancel-run';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deliverNotices } from '../../src/operations/deliver-notices';
import { dispatchJobs } from '../../src/operations/dispatch';
import { pauseJob } from '../../src/operations/pause-job';
import { retryFailed } from '../../src/operations/failed-runs';
import { runActivations } from '../../src/operations/run-activation';
import type { Ports, Queue } from '../../src/ports';
import { functionArn, MINUTE, NOON, SECOND } from '../support/builders';
import { altered, fail, ok, tries } from '../support/groups';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
const open = async (code: Code) => {
  world = await World.open({ code: { 'job-report': code, notify: ok } });
};
afterEach(() => world.close());

const ARN = functionArn('notify');
const create = (changes: Parameters<typeof aRequest>[0] = {}) =>
  createJob('c', aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 5 }, ...changes }), world.ports);
const subscribeToAll = async () => {
  for (const state of RUN_STATES) await createNotification(state, { jobId: 'a', state, functionArn: ARN }, world.ports);
};
const heard = () => world.callsOf('notify').map(({ event }) => (event['data'] as { state: string }).state);
/** A notify queue that refuses so many sends. */
const refusing = (times: number): Queue => {
  let left = times;
  const send: Queue['send'] = (messages) =>
    left-- > 0 ? Promise.reject(new Error('refused')) : world.ports.notify.send(messages);
  return altered(world.ports.notify, { send });
};
/** A runner that writes what the attempt came to, and dies before anybody hears of it. */
const runnerDiesAfter = async (state: string) => {
  const runs = altered(world.ports.runs, {
    put: async (run, seen) => {
      const isWritten = await world.ports.runs.put(run, seen);
      return run.state === state ? new Promise<never>(() => {}) : isWritten;
    },
  });
  await world.clock.advance(5 * SECOND);
  void runActivations(await world.ports.activations.receive(1), { ...world.ports, runs });
  await world.clock.advance(SECOND);
};
const carryNotices = async () => {
  for (let all = await world.ports.notify.receive(10); all.length > 0; all = await world.ports.notify.receive(10)) {
    await deliverNotices(all, world.ports);
    await world.ports.notify.remove(all.map(({ receipt }) => receipt));
  }
};

test('the start of an attempt is told though the queue refuses it for a while, and before its end is', async () => {
  await open(ok);
  await create();
  await subscribeToAll();
  world.start({ ...world.ports, notify: refusing(4) });
  await world.clock.advance(MINUTE);
  expect(heard()).toEqual(['STARTED', 'DONE']);
});

test('a failure of which nobody heard is told before a person sends the run again', async () => {
  await open(fail);
  await create({ retry: tries(1) });
  await subscribeToAll();
  await runnerDiesAfter('FAILED');
  const [run] = await world.runsOf('a');
  expect(run!.state).toBe('FAILED');
  await retryFailed('a', run!.runId, world.ports);
  await carryNotices();
  expect(heard()).toEqual(['STARTED', 'FAILED', 'RELEASED']);
});

test('a wait of which nobody heard is told before a person takes the run back', async () => {
  await open(fail);
  await create({ retry: tries(3, 300) });
  await subscribeToAll();
  await runnerDiesAfter('RELEASED');
  const [run] = await world.runsOf('a');
  expect(run!.state).toBe('RELEASED');
  await cancelRun('a', run!.runId, {}, world.ports);
  await carryNotices();
  expect(heard()).toEqual(['STARTED', 'RELEASED', 'CANCELLED']);
});

test('a record of misfires is left at the one before, where the latest of them has a run of its own', async () => {
  await open(ok);
  const misfire = { policy: 'run-once' as const, graceSeconds: 10 };
  const dies = () => Promise.reject(new Error('died before the row was advanced'));
  const ports: Ports = {
    ...world.ports,
    jobs: altered(world.ports.jobs, { update: dies }),
    // Of what was to be sent the queue has taken the run at 30 s.
    activations: altered(world.ports.activations, {
      send: (messages) => world.ports.activations.send(messages.slice(2, 3)),
    }),
  };
  await expect(
    createJob('c', aRequest({ jobId: 'a', schedule: rate('rate(10 seconds)'), misfire }), ports),
  ).rejects.toThrow('died');
  await world.clock.advanceTo(NOON + 30 * SECOND);
  await runActivations(await world.ports.activations.receive(1), world.ports);
  await world.clock.advanceTo(NOON + 55 * SECOND);
  const [row] = await world.ports.jobs.readRows(['a']);
  await dispatchJobs([row!], NOON + 55 * SECOND, world.ports);
  const records = (await world.runsOf('a')).map((run) => [
    (run.nominalAt - NOON) / SECOND,
    run.state,
    run.reason,
    run.alsoCovers,
  ]);
  // 40 s is the latest that came too late, and runs.
  expect(records).toEqual([
    [20, 'SKIPPED', 'misfire', 1],
    [30, 'DONE', undefined, undefined],
  ]);
});

test('the end of a run is told that waited in the due index and was cancelled by the next, whose runner died then', async () => {
  await open(fail);
  const retry = { maxAttempts: 3, backoff: { kind: 'fixed' as const, seconds: 2_000 }, jitter: 'none' as const };
  await create({ schedule: rate('rate(1 minute)'), overlap: 'cancel-previous', retry });
  await subscribeToAll();
  const engine = world.start();
  await world.clock.advanceTo(NOON + 90 * SECOND);
  await world.stop(engine);
  await world.clock.advanceTo(NOON + 120 * SECOND);
  const runs = altered(world.ports.runs, {
    put: async (run, seen) => {
      const isWritten = await world.ports.runs.put(run, seen);
      return run.state === 'CANCELLED' ? new Promise<never>(() => {}) : isWritten;
    },
  });
  void runActivations(await world.ports.activations.receive(1), { ...world.ports, runs });
  await world.clock.advance(SECOND);
  expect((await world.runsOf('a'))[0]!.state).toBe('CANCELLED');
  await pauseJob('a', {}, world.ports);
  world.start();
  await world.clock.advance(5 * MINUTE);
  expect(heard()).toContain('CANCELLED');
});
