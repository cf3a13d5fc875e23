import * as fc from 'fast-check';
import { ConflictError } from '../../src/domain/errors';
import type { JobRequest } from '../../src/domain/job-request';
import { createJob } from '../../src/operations/create-job';
import { runActivations } from '../../src/operations/run-activation';
import { triggerJob } from '../../src/operations/trigger-job';
import type { Ports } from '../../src/ports';
import { HOUR, SECOND } from './builders';
import { CrashError, doomedProcess } from './crashing-ports';
import { checkAtRest } from './invariants';
import { aRequest, rate, World } from './world';

/** Where a process dies, if it does: see `doomedProcess`. */
type Death = { crashAt: number; when: 'before' | 'after' } | undefined;

/** What callers have been told so far. */
interface Told {
  accepted: string[];
  refused: string[];
  /** who asked and got no answer, nor asked again */
  unanswered: string[];
  triggered: number;
}

type ChaosCommand = fc.AsyncCommand<Told, World>;

export type Chaos = Iterable<ChaosCommand>;

/** The job that persons trigger; its schedule names nothing near. */
const TRIGGERED = 'triggered';
/** Shorter than a lease: code that outlives its runner is over before its attempt is taken for lost. */
const LONGEST_WORK_SECONDS = 30;

function doom(ports: Ports, death: Death): Ports {
  return death ? doomedProcess(ports, death.crashAt, death.when).ports : ports;
}

async function untilDeath<Answer>(work: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CrashError) return undefined;
    throw error;
  }
}

const death = (most: number): fc.Arbitrary<Death> =>
  fc.option(fc.record({ crashAt: fc.integer({ min: 1, max: most }), when: fc.constantFrom('before', 'after') }), {
    nil: undefined,
    freq: 2,
  });

/** Callers, runners and time, in any order; messages come twice and out of order, processes die between any two calls. */
export function chaos(limits: Partial<JobRequest>): fc.Arbitrary<Chaos> {
  const retry = { maxAttempts: 4, backoff: { kind: 'fixed' as const, seconds: 3 }, jitter: 'none' as const };
  const work = fc.record({
    lastsSeconds: fc.integer({ min: 0, max: LONGEST_WORK_SECONDS }),
    failures: fc.integer({ min: 0, max: 2 }),
  });
  const create = fc
    .record({ name: fc.integer({ min: 1, max: 1_000 }), work, death: death(10), asksAgain: fc.boolean() })
    .map(({ name, work: payload, death: dies, asksAgain }): ChaosCommand => {
      const jobId = `job-${name}`;
      const request = aRequest({ jobId, retry, payload: JSON.stringify(payload), ...limits });
      return {
        check: ({ accepted, unanswered }) => ![...accepted, ...unanswered].includes(jobId),
        async run(told, { ports, clock }) {
          const ask = (by: Ports) => untilDeath(createJob(jobId, request, by));
          try {
            const answer = (await ask(doom(ports, dies))) ?? (asksAgain ? await ask(ports) : undefined);
            (answer ? told.accepted : told.unanswered).push(jobId);
          } catch (error) {
            if (!(error instanceof ConflictError)) throw error;
            told.refused.push(jobId);
          }
          await clock.settle();
        },
        toString: () => `create ${jobId} ${request.payload}${shown(dies)}${asksAgain ? ', ask again' : ''}`,
      };
    });
  const trigger = fc.constant<ChaosCommand>({
    check: () => true,
    async run(told, { ports }) {
      await triggerJob(`t${told.triggered++}`, TRIGGERED, ports);
    },
    toString: () => 'trigger',
  });
  const carry = fc
    .record({
      most: fc.integer({ min: 1, max: 10 }),
      isTwice: fc.boolean(),
      isReversed: fc.boolean(),
      death: death(40),
    })
    .map(({ most, isTwice, isReversed, death: dies }): ChaosCommand => ({
      check: () => true,
      async run(_, { ports, clock }) {
        const messages = await ports.activations.receive(most);
        if (isReversed) messages.reverse();
        if (isTwice) await ports.activations.send(messages.map(({ body }) => ({ body })));
        const runner = doom(ports, dies);
        const carrying = runActivations(messages, runner).then((left) => {
          const done = messages.filter(({ messageId }) => !left.includes(messageId));
          return runner.activations.remove(done.map(({ receipt }) => receipt));
        });
        void untilDeath(carrying);
        await clock.settle();
      },
      toString: () => `carry ${most}${isTwice ? ' twice' : ''}${isReversed ? ' backwards' : ''}${shown(dies)}`,
    }));
  const wait = fc.integer({ min: 1, max: 40_000 }).map((ms): ChaosCommand => ({
    check: () => true,
    run: (_, { clock }) => clock.advance(ms),
    toString: () => `wait ${ms}`,
  }));
  return fc.commands([create, carry, carry, wait, trigger], { maxCommands: 40 });
}

function shown(dies: Death): string {
  return dies ? `, die ${dies.when} call ${dies.crashAt}` : '';
}

/** Lives through the chaos, lets everything come to its end, and then has `check` look at what happened. */
export async function liveThrough(
  commands: Chaos,
  limits: Partial<JobRequest>,
  check: (world: World, told: Told) => Promise<void> | void,
): Promise<void> {
  const world = await World.open({
    code: {
      'job-report': async (call, clock) => {
        const { lastsSeconds, failures } = workOf(call.event);
        await clock.waitUntil(call.at + lastsSeconds * SECOND);
        if (Number(call.event['attempt']) <= failures) throw new Error('not yet');
      },
    },
  });
  try {
    const retry = { maxAttempts: 4, backoff: { kind: 'fixed' as const, seconds: 3 }, jitter: 'none' as const };
    const payload = JSON.stringify({ lastsSeconds: 7, failures: 0 });
    const triggered = aRequest({ jobId: TRIGGERED, schedule: rate('rate(1000 hours)'), retry, payload, ...limits });
    await createJob(TRIGGERED, triggered, world.ports);
    const told: Told = { accepted: [], refused: [], unanswered: [], triggered: 0 };
    await fc.asyncModelRun(() => ({ model: told, real: world }), commands);
    world.start();
    await world.clock.advance(2 * HOUR);
    for (const jobId of told.accepted) expect(await world.runsOf(jobId)).toHaveLength(1);
    expect(await world.runsOf(TRIGGERED)).toHaveLength(told.triggered);
    await checkAtRest(world);
    await check(world, told);
  } finally {
    await world.close();
  }
}

interface Work {
  lastsSeconds: number;
  failures: number;
}

function workOf(event: Record<string, unknown>): Work {
  return event['payload'] as Work;
}

/** How many calls were at work at the same time, at most: code goes on though its runner dies. */
export function mostAtWork({ calls }: World): number {
  const spans = calls.map(({ at, event }) => ({ from: at, to: at + workOf(event).lastsSeconds * SECOND }));
  return Math.max(0, ...spans.map(({ from }) => spans.filter((span) => span.from <= from && from < span.to).length));
}

/** How many calls began within any period of this length, at most. */
export function mostWithin({ calls }: World, periodMs: number): number {
  const within = (until: number) => calls.filter(({ at }) => at > until - periodMs && at <= until).length;
  return Math.max(0, ...calls.map(({ at }) => within(at)));
}
