import fc from 'fast-check';
import { ConflictError, NotFoundError } from '../../src/domain/errors';
import { groupIdOf, memberStateOf, tallyOf, type GroupKind, type MemberState } from '../../src/domain/group';
import { endedWithGroup } from '../../src/domain/group-part';
import { isFinal, type Run } from '../../src/domain/run';
import type { Engine } from '../../src/local/engine';
import { cancelGroup, retryGroup } from '../../src/operations/change-group';
import { createGroup } from '../../src/operations/create-group';
import { retryFailed } from '../../src/operations/failed-runs';
import { followUp } from '../../src/operations/follow-up';
import type { OutgoingMessage, Ports, Queue } from '../../src/ports';
import { MINUTE, SECOND } from '../support/builders';
import { CrashError, doomedProcess } from '../support/crashing-ports';
import { altered, CALLBACKS, callbackCounts, GroupOf, tries } from '../support/groups';
import { checkAtRest } from '../support/invariants';
import { runs as cases } from '../support/property-runs';
import { aRequest, World } from '../support/world';

/** Few jobs make many parts. */
jest.mock('../../src/domain/group', () => ({ ...jest.requireActual<object>('../../src/domain/group'), PART_JOBS: 2 }));

/** How the series of attempts of a job end: the first one, and those that a person starts. Beyond the list all is well. */
type Ending = 'ok' | 'flaky' | 'fails';
interface Plan {
  kind: GroupKind;
  allowFailures: boolean;
  /** of each job of each member */
  members: Ending[][][];
  /** chance of the queue: how many copies of a message, each how late, in seconds */
  copies: number[][];
}

const plans: fc.Arbitrary<Plan> = fc
  .record({
    kind: fc.constantFrom<GroupKind>('chain', 'batch', 'batch'),
    allowFailures: fc.boolean(),
    members: fc.array(
      fc.array(fc.array(fc.constantFrom<Ending>('ok', 'ok', 'flaky', 'fails'), { maxLength: 2 }), {
        minLength: 1,
        maxLength: 4,
      }),
      { minLength: 1, maxLength: 5 },
    ),
    copies: fc.array(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 8,
    }),
  })
  .map((plan) => (plan.kind === 'chain' ? { ...plan, allowFailures: false, members: [plan.members[0]!] } : plan));

/** What a person knows who asked: no more is needed to tell what has to become of every job. */
interface Model {
  isCancelled: boolean;
}

class Real {
  world!: World;
  group!: GroupOf;
  engine!: Engine;
  /** the members' calls at which the job before had not been DONE */
  readonly early: string[] = [];
  readonly plan: Plan;

  constructor(plan: Plan) {
    this.plan = plan;
  }

  async open() {
    const callback = () => 'ok';
    this.world = await World.open({
      code: {
        job: async ({ event, at }, clock) => {
          const key = { jobId: String(event['jobId']), runId: String(event['runId']) };
          const [nth, step, index] = event['payload'] as number[] as [number, number, number];
          await this.noteIfEarly(index, step);
          const run = await this.world.ports.runs.read(key.jobId, key.runId);
          await clock.waitUntil(at + SECOND);
          const series = run?.series?.number ?? 1;
          const ending = this.plan.members[nth]![step]![series - 1] ?? 'ok';
          const isFirst = Number(event['attempt']) - (run?.series?.after ?? 0) === 1;
          if (ending === 'fails') throw Object.assign(new Error('no'), { name: 'NonRetriableError' });
          if (ending === 'flaky' && isFirst) throw new Error('not yet');
          return index;
        },
        'on-then': callback,
        'on-catch': callback,
        'on-finally': callback,
      },
    });
    let index = 0;
    const members = this.plan.members.map((member, nth) =>
      member.map((_, step) =>
        aRequest({ code: 'job', payload: JSON.stringify([nth, step, index++]), retry: tries(20, 2) }),
      ),
    );
    const { kind, allowFailures } = this.plan;
    this.group = new GroupOf(this.world, { kind, groupId: groupIdOf(kind, 'r1') });
    const request = { members, callbacks: CALLBACKS, ...(allowFailures ? { allowFailures } : {}) };
    await this.world.untilOver(createGroup(kind, 'r1', request, this.ports));
    this.engine = this.world.start(this.ports);
  }

  /** Messages come several times, and in another order. */
  get ports(): Ports {
    const { activations, highActivations } = this.world.ports;
    return {
      ...this.world.ports,
      activations: this.unruly(activations),
      highActivations: this.unruly(highActivations),
    };
  }

  private sent = 0;
  private unruly(queue: Queue): Queue {
    const copiesOf = (message: OutgoingMessage) =>
      this.plan.copies[this.sent++ % this.plan.copies.length]!.map((seconds) => ({
        ...message,
        delayMs: (message.delayMs ?? 0) + seconds * SECOND,
      }));
    return altered(queue, { send: (messages) => queue.send(messages.flatMap(copiesOf)) });
  }

  private async noteIfEarly(index: number, step: number) {
    if (step === 0) return;
    const before = (await this.group.members())[index - 1]!;
    const run = await this.world.ports.runs.read(before.jobId, before.runId);
    if (run?.state !== 'DONE') this.early.push(`job ${index} while the one before it is ${run?.state}`);
  }

  /** Does this through ports that die at that call, and then once more, as a caller does who got no answer. */
  async ask(work: (ports: Ports) => Promise<unknown>, crashAt: number) {
    const doomed = doomedProcess(this.ports, crashAt, crashAt % 2 === 0 ? 'before' : 'after');
    await this.world.untilOver(work(doomed.ports)).catch((error: unknown) => {
      if (!(error instanceof CrashError)) throw error;
    });
    if (doomed.hasCrashed()) await this.world.untilOver(work(this.ports));
  }

  async rest() {
    // The longest lease, a redelivery, and the retries of what was on its way.
    await this.world.clock.advance(20 * MINUTE);
  }

  async close() {
    await this.world.close();
  }
}

/** A request that may come too early, too late or in vain. */
async function unlessRefused(work: Promise<unknown>) {
  await work.catch((error: unknown) => {
    if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
  });
}

type Command = fc.AsyncCommand<Model, Real>;

class Doing implements Command {
  readonly text: string;
  readonly work: (model: Model, real: Real) => Promise<void>;
  constructor(text: string, work: (model: Model, real: Real) => Promise<void>) {
    this.text = text;
    this.work = work;
  }
  check = () => true;
  run = (model: Model, real: Real) => this.work(model, real);
  toString = () => this.text;
}

const advance = (seconds: number) =>
  new Doing(`advance(${seconds})`, (_, real) => real.world.clock.advance(seconds * SECOND));

const runnerDies = (crashAt: number, when: 'before' | 'after') =>
  new Doing(`runnerDies(${crashAt}, ${when})`, async (_, real) => {
    await real.world.stop(real.engine);
    const doomed = doomedProcess(real.ports, crashAt, when);
    const engine = real.world.start(doomed.ports);
    for (let seconds = 0; !doomed.hasCrashed() && seconds < 90; seconds++) await real.world.clock.advance(SECOND);
    await real.world.stop(engine);
    if (crashAt % 3 === 0) await real.world.takeOver();
    real.engine = real.world.start(real.ports);
  });

/** What followed from the end of a run follows once more. */
const toldAgain = (nth: number) =>
  new Doing(`toldAgain(${nth})`, async (_, real) => {
    const ended = (await real.group.runs()).filter((run): run is Run => run !== undefined && isFinal(run.state));
    const run = ended[nth % Math.max(1, ended.length)];
    if (!run) return;
    const [job] = await real.world.ports.jobs.readRows([run.jobId]);
    await real.world.untilOver(followUp(run, job, real.ports));
  });

const retryOne = (nth: number, crashAt: number) =>
  new Doing(`retryOne(${nth}, ${crashAt})`, async (_, real) => {
    const failed = (await real.group.members()).filter(({ state }) => state === 'F');
    const member = failed[nth % Math.max(1, failed.length)];
    if (!member) return;
    await unlessRefused(real.ask((ports) => retryFailed(member.jobId, member.runId, ports), crashAt));
  });

const retryAll = (crashAt: number) =>
  new Doing(`retryAll(${crashAt})`, async (_, real) => {
    const { kind, groupId } = real.group;
    await unlessRefused(real.ask((ports) => retryGroup(kind, groupId, ports), crashAt));
  });

const cancel = (crashAt: number) =>
  new Doing(`cancel(${crashAt})`, async (model, real) => {
    const { kind, groupId } = real.group;
    await unlessRefused(real.ask((ports) => cancelGroup(kind, groupId, ports), crashAt));
    model.isCancelled = (await real.group.standing()).group.cancelledAt !== undefined;
  });

const crashAt = fc.integer({ min: 1, max: 40 });
const often = [
  fc.integer({ min: 1, max: 90 }).map(advance),
  fc
    .tuple(fc.integer({ min: 1, max: 200 }), fc.constantFrom('before' as const, 'after' as const))
    .map(([at, when]) => runnerDies(at, when)),
  fc.nat(20).map(toldAgain),
  fc.tuple(fc.nat(20), crashAt).map(([nth, at]) => retryOne(nth, at)),
  crashAt.map(retryAll),
];

/** What has to become of each job where no failure stops another's chain, and nobody cancels: by the series that each one had. */
function expectedStates(plan: Plan, runs: readonly (Run | undefined)[]): string {
  let index = 0;
  return plan.members
    .map((member) => {
      let isBroken = false;
      return member
        .map((endings): MemberState => {
          const series = runs[index++]?.series?.number ?? 1;
          if (isBroken) return 'S';
          isBroken = (endings[series - 1] ?? 'ok') === 'fails';
          return isBroken ? 'F' : 'D';
        })
        .join('');
    })
    .join('');
}

async function checkGroup(model: Model, real: Real) {
  const { group, world, plan } = real;
  const { group: head, tally } = await group.standing();
  const states = await group.states();
  const runs = await group.runs();
  // Every job has one fate, which is that of its run, and is counted once.
  expect(states).toMatch(/^[DFSC]+$/);
  expect(runs.map((run) => run && memberStateOf(run.state)).join('')).toBe(states);
  expect(tally).toEqual(tallyOf([{ states }]));
  expect(real.early).toEqual([]);

  const canPredict = !model.isCancelled && (plan.kind === 'chain' || plan.allowFailures);
  if (canPredict) expect(states).toBe(expectedStates(plan, runs));
  const isAllDone = /^D+$/.test(states);
  expect(head.state).toBe(model.isCancelled ? 'CANCELLED' : isAllDone || plan.allowFailures ? 'DONE' : 'FAILED');
  expect(head.finishedAt).toBeDefined();

  const hasFailed = runs.some((run) => run?.state === 'FAILED' || run?.series !== undefined);
  const counts = callbackCounts(world);
  expect(counts['on-finally']).toBe(1);
  if (head.state === 'DONE') expect(counts['on-then']).toBe(1);
  if (!model.isCancelled) expect(counts['on-catch']).toBe(hasFailed ? 1 : 0);
  expect(Math.max(...Object.values(counts))).toBeLessThanOrEqual(1);

  const mayStop = model.isCancelled || (plan.kind === 'batch' && !plan.allowFailures && hasFailed);
  const ended = world.transitions.filter(({ state }) => state === 'SKIPPED' || state === 'CANCELLED');
  for (const { run } of ended) {
    if (mayStop && endedWithGroup(run)) continue;
    expect(run).toMatchObject({ state: 'SKIPPED', reason: 'chain-stopped' });
  }
  await checkAtRest(world);
}

async function live(plan: Plan, commands: Iterable<Command>) {
  const real = new Real(plan);
  const model: Model = { isCancelled: false };
  await real.open();
  try {
    await fc.asyncModelRun(() => ({ model, real }), commands);
    await real.rest();
    await checkGroup(model, real);
    if (model.isCancelled) return;
    // Each series was given its ending: sent again often enough, everything is well in the end.
    for (let rounds = 0; !/^D+$/.test(await real.group.states()); rounds++) {
      expect(rounds).toBeLessThan(20);
      await real.world.untilOver(retryGroup(plan.kind, real.group.groupId, real.ports));
      await real.rest();
      await checkGroup(model, real);
    }
  } finally {
    await real.close();
  }
}

jest.setTimeout(600_000);

test('whatever is repeated, overtaken, sent again and lost on the way, a group comes to its right end', async () => {
  await fc.assert(fc.asyncProperty(plans, fc.commands(often, { maxCommands: 8 }), live), { numRuns: cases(25) });
});

test('the same of a group that somebody cancels', async () => {
  const cancelled = fc.commands([...often, crashAt.map(cancel)], { maxCommands: 8 });
  await fc.assert(fc.asyncProperty(plans, cancelled, live), { numRuns: cases(25) });
});
