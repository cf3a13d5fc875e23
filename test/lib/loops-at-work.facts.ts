import { answerTo, loopStartOf, type TickEvent } from '../../lambdas/scheduler/event';
import { startConsumer, type Consumer } from '../../src/local/consumer';
import { createJob } from '../../src/operations/create-job';
import { runActivations } from '../../src/operations/run-activation';
import { tick, type TickPorts } from '../../src/operations/tick';
import { walk, type Definition } from '../support/asl-walker';
import { NOON, SECOND } from '../support/builders';
import { aRequest, rate, World } from '../support/world';

/** A tick sends 15 s ahead, so that a loop sleeps for 10 s at most while a job of every second lives. */
const LONGEST_SLEEP_SECONDS = 11;

interface Loop {
  startedAt: number;
  status?: string;
  endedAt?: number;
}

/** The state machine of the template with the real scheduler, on the local stores and queues and a hand-moved clock. */
export function describeLoopsAtWork(definitionOf: () => Definition): void {
  let world: World;
  let runner: Consumer;
  let loops: Loop[];

  beforeEach(async () => {
    world = await World.open({ code: { 'job-report': () => 'done' } });
    loops = [];
    const { ports, clock } = world;
    runner = startConsumer({
      queue: ports.activations,
      concurrency: 50,
      carry: (messages) => runActivations(messages, ports),
      clock,
      journal: ports.journal,
    });
  });
  afterEach(async () => {
    await world.untilOver(runner.stop());
    await world.close();
  });

  const ticked = async (event: TickEvent, ports: TickPorts = world.ports) =>
    answerTo(await tick({ loopStartedAt: loopStartOf(event), isFirst: event.isFirst }, ports));
  /** Starts loops so many seconds from noon, each as if by the rule. */
  const startLoops = (seconds: readonly number[], scheduler: (event: TickEvent) => Promise<unknown> = ticked) => {
    for (const second of seconds) {
      void world.clock.waitUntil(NOON + second * SECOND).then(async () => {
        const loop: Loop = { startedAt: world.clock.now() };
        loops.push(loop);
        const invoke = (payload: unknown) => scheduler(payload as TickEvent);
        loop.status = (await walk(definitionOf(), { clock: world.clock, invoke })).status;
        loop.endedAt = world.clock.now();
      });
    }
  };
  const createEachSecond = (jobId: string, graceSeconds = 60) =>
    createJob(
      jobId,
      aRequest({ jobId, schedule: rate('rate(1 second)'), misfire: { policy: 'run-once', graceSeconds } }),
      world.ports,
    );
  const secondsOf = (runs: readonly { nominalAt: number }[]) =>
    runs.map(({ nominalAt }) => (nominalAt - NOON) / SECOND);
  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
  /** Each second up to this one has a run that is done by one attempt, and its code was called once, not before its second. */
  const expectEachOnce = async (jobId: string, last: number) => {
    const runs = (await world.runsOf(jobId)).filter(({ nominalAt }) => nominalAt <= NOON + last * SECOND);
    expect(secondsOf(runs)).toEqual(upTo(last));
    expect(runs.filter(({ state, attempt }) => state !== 'DONE' || attempt !== 1)).toEqual([]);
    const calls = world.calls.filter(({ event }) => event['jobId'] === jobId);
    expect(new Set(calls.map(({ event }) => event['runId'])).size).toBe(calls.length);
    expect(calls.filter(({ event, at }) => at < Date.parse(String(event['nominalAt'])))).toEqual([]);
  };

  test('loops that start doubled, at one instant, late or not at all start each run once', async () => {
    await createEachSecond('beat');
    // Of the fourth minute none starts: the third one's goes on in its place.
    startLoops([0, 0, 0.4, 60, 60, 115, 121, 121, 240, 300]);
    await world.clock.advance(330 * SECOND);
    await expectEachOnce('beat', 330);
  });

  test('a loop ends when a newer one has begun, however many there are', async () => {
    await createEachSecond('beat');
    startLoops([120, 180, 180.5, 181, 240, 241, 300]);
    await world.clock.advance(360 * SECOND);
    expect(loops).toHaveLength(7);
    const newer = (startedAt: number) =>
      Math.min(...loops.map((loop) => loop.startedAt).filter((at) => at > startedAt));
    const tooLong = loops.filter(
      ({ startedAt, endedAt = Infinity }) => endedAt > newer(startedAt) + LONGEST_SLEEP_SECONDS * SECOND,
    );
    expect(tooLong).toEqual([]);
    expect(loops.filter(({ status }) => status !== undefined).map(({ status }) => status)).toEqual(
      Array(6).fill('SUCCEEDED'),
    );
  });

  test('while ticks fail nothing is lost: the loop itself catches up, and the misfire policy says how', async () => {
    for (const [jobId, graceSeconds] of [
      ['patient', 60],
      ['impatient', 5],
    ] as const)
      await createEachSecond(jobId, graceSeconds);
    const [failsFrom, failsUntil] = [125, 165];
    startLoops([0, 60, 120], (event) => {
      const second = (world.clock.now() - NOON) / SECOND;
      if (second >= failsFrom && second < failsUntil) throw new Error('by a test');
      return ticked(event);
    });
    await world.clock.advance(failsUntil * SECOND + 5 * SECOND);
    expect(loops).toHaveLength(3);

    await expectEachOnce('patient', failsUntil);
    const misfired = (await world.runsOf('impatient')).filter(({ state }) => state === 'SKIPPED');
    expect(new Set(misfired.map(({ reason }) => reason))).toEqual(new Set(['misfire']));
    const covered = misfired.flatMap(({ nominalAt, alsoCovers = 0 }) =>
      Array.from({ length: alsoCovers + 1 }, (_, back) => ({ nominalAt: nominalAt - back * SECOND })),
    );
    const done = (await world.runsOf('impatient')).filter(({ state }) => state === 'DONE');
    const seconds = secondsOf([...covered, ...done]).sort((a, b) => a - b);
    expect(seconds.filter((second) => second <= failsUntil)).toEqual(upTo(failsUntil));
  });

  test('a tick that was given up and comes to its end beside its successors starts no run twice', async () => {
    await createEachSecond('beat');
    const hangsForMs = 75 * SECOND;
    let hung = 0;
    const jobs = new Proxy(world.ports.jobs, {
      get: (target, key) => {
        const member = Reflect.get(target, key) as (...args: unknown[]) => unknown;
        if (key !== 'readRows') return member.bind(target);
        return async (...args: unknown[]) => {
          const rows: unknown = await member.apply(target, args);
          await world.clock.waitUntil(world.clock.now() + hangsForMs);
          hung += 1;
          return rows;
        };
      },
    });
    startLoops([0, 60, 120, 180, 240], (event) => {
      const hangs = hung === 0 && world.clock.now() >= NOON + 120 * SECOND && world.clock.now() < NOON + 130 * SECOND;
      return ticked(event, hangs ? { ...world.ports, jobs } : world.ports);
    });
    await world.clock.advance(280 * SECOND);
    expect(hung).toBeGreaterThan(0);
    await expectEachOnce('beat', 280);
  });
}
