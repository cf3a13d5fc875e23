import { LEASE_MS } from '../../src/domain/claim';
import { answerCommand } from '../../src/operations/answer-command';
import { deliverNotices } from '../../src/operations/deliver-notices';
import { runActivations } from '../../src/operations/run-activation';
import { sweep } from '../../src/operations/sweep';
import { tick, type TickResult } from '../../src/operations/tick';
import type { CommandName, ReceivedMessage, Settings } from '../../src/ports';
import { Chance } from './chance';
import type { Faults } from './faults';
import { type FaultKind } from './faults';
import { Functions, type Completed } from './functions';
import { Process } from './process';
import { SimulatedQueue } from './queue';
import {
  SimulatedCodeStore,
  SimulatedControlTable,
  SimulatedGroupStore,
  SimulatedJobStore,
  SimulatedNotificationStore,
  SimulatedRunStore,
  type TableWorld,
} from './tables';
import { VirtualTime } from './virtual-time';
import { Witness } from './witness';

/** The settings that the stack deploys these with: see lib/running.ts, lib/notifying.ts, lib/commands.ts, lib/tick-loop.ts. */
const VISIBILITY_MS = { runner: 900_000, notifier: 180_000, command: 30_000 };
const MAX_RECEIVES = { runner: 5, notifier: 10, command: 5 };
const LONGEST_LOOP_MS = 150_000;
const LONGEST_TICK_MS = 60_000;
const AFTER_FAILURE_MS = 2_000;
const FUNCTION_LIFE_MS = 900_000;
const API_PATIENCE_MS = 29_000;
const RULE_PERIOD_MS = 60_000;
/** Long enough for a message to be received so often that it is given up. */
const LONGEST_FULL_MS = 6_000_000;
/** Few, so that there is a next page where a real table would have one only under load. */
const PAGE_ITEMS = 2;
const COMMANDS: readonly CommandName[] = ['job-create', 'job-delete', 'notify-create', 'notify-delete'];
const REPLIES = ['job-created', 'job-deleted', 'notify-created', 'notify-deleted'] as const;

export interface CloudOptions {
  seed: number;
  startAt: number;
  faults: Faults;
  settings: Settings;
}

/**
 * A deployment of Escapement in a cloud that lives in this process: the same operations, between tables, queues, mappings and a rule
 * that behave as those of AWS do on a bad day.
 */
export class Cloud {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly witness = new Witness();
  readonly settings: Settings;
  readonly stores;
  readonly queues;
  /** whose call takes effect at the moment */
  actor: Process | undefined;
  onCompletion: (completed: Completed) => void = () => {};
  onAddition: (batchId: string, requestId: string, count: number) => void = () => {};
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #idle = new Map<string, Process[]>();
  readonly #throttledUntil = new Map<string, number>();
  #processes = 0;
  #guids = 0;
  #calls = 0;
  #isRuleOn = true;

  constructor({ seed, startAt, faults, settings }: CloudOptions) {
    this.#seed = seed;
    this.faults = faults;
    this.settings = settings;
    this.time = new VirtualTime(startAt);
    this.#chance = new Chance(seed, 'cloud');
    const world = this.#tableWorld();
    this.stores = {
      jobs: new SimulatedJobStore(world, settings.shards),
      runs: new SimulatedRunStore(world, settings.shards),
      groups: new SimulatedGroupStore(world),
      notifications: new SimulatedNotificationStore(),
      code: new SimulatedCodeStore(),
      control: new SimulatedControlTable(),
      invoker: new Functions(this),
    };
    const deadActivations = this.#queue('job-activation-dead', VISIBILITY_MS.command);
    const runner = (name: string) =>
      this.#queue(name, VISIBILITY_MS.runner, { queue: deadActivations, maxReceives: MAX_RECEIVES.runner });
    const deadNotices = this.#queue('notify-dead', VISIBILITY_MS.command);
    const deadCommands = this.#queue('command-dead', VISIBILITY_MS.command);
    const command = (name: string) =>
      this.#queue(name, VISIBILITY_MS.command, { queue: deadCommands, maxReceives: MAX_RECEIVES.command });
    const notify = { queue: deadNotices, maxReceives: MAX_RECEIVES.notifier };
    this.queues = {
      activations: runner('job-activation'),
      highActivations: runner('job-activation-high'),
      deadActivations,
      notify: this.#queue('notify', VISIBILITY_MS.notifier, notify),
      deadNotices,
      deadCommands,
      commands: byName(COMMANDS, (name) => command(name)),
      replies: byName(REPLIES, (name) => this.#queue(name, VISIBILITY_MS.command)),
    };
    this.#mapQueues();
    this.#startRule();
  }

  /** The same for the same history, and unlike any other. */
  guid(): string {
    return `guid-${String(++this.#guids).padStart(6, '0')}`;
  }

  isOddCall(): boolean {
    return this.#calls++ % 2 === 1;
  }

  isThrottled(port: string): boolean {
    const { time, faults } = this;
    if ((this.#throttledUntil.get(port) ?? 0) > time.now) return !faults.isOver && this.#chance.isHit(0.7);
    if (!faults.strikes('throttle', 0.002, time.now, `${port} refuses calls`)) return false;
    this.#throttledUntil.set(port, time.now + faults.amount('throttle', 100, 40_000));
    return true;
  }

  /** From now on no minute starts a loop; what runs goes on. */
  stopRule(): void {
    this.#isRuleOn = false;
  }

  /** The daily sweep, as its rule starts it. */
  async sweep(): Promise<void> {
    await this.#invoke('scheduler', FUNCTION_LIFE_MS, ({ ports }) => sweep(ports));
  }

  /** A request to the API. Undefined: no answer came. Rejects with what the operation threw. */
  ask<Answer>(work: (process: Process) => Promise<Answer>): Promise<{ answer: Answer } | undefined> {
    return this.#invoke('api', API_PATIENCE_MS, work);
  }

  #tableWorld(): TableWorld {
    const { faults, time, witness } = this;
    const seen = () => ({ at: time.now, by: this.actor?.name ?? '-', skewMs: this.actor?.skewMs ?? 0 });
    return {
      lagMs: () => (faults.strikes('lag', 0.15, time.now, 'an index lags') ? faults.amount('lag', 500, 120_000) : 15),
      after: (ms, happen) => time.after(ms, happen),
      pageItems: PAGE_ITEMS,
      wrote: {
        jobs: (before, after) => witness.jobs.push({ ...seen(), before, after }),
        runs: (before, after) => {
          const jobRevisions = [...(this.actor?.jobsRead.get(after.jobId) ?? [])];
          witness.runs.push({ ...seen(), before, after, jobRevisions });
        },
        groups: (before, after) => witness.groups.push({ ...seen(), before, after }),
        parts: (before, after) => witness.parts.push({ ...seen(), before, after }),
      },
    };
  }

  #queue(name: string, visibilityMs: number, deadLetters?: { queue: SimulatedQueue; maxReceives: number }) {
    const { time, faults } = this;
    const chance = new Chance(this.#seed, `queue ${name}`);
    return new SimulatedQueue({ name, time, chance, faults, visibilityMs, ...(deadLetters ? { deadLetters } : {}) });
  }

  #mapQueues(): void {
    const { activations, highActivations, notify, commands } = this.queues;
    for (const [port, queue] of [
      ['activations', activations],
      ['highActivations', highActivations],
    ] as const) {
      this.#map(queue, 'runner', 10, async ({ ports }, messages) => {
        const receipts = messages.map(({ receipt }) => receipt);
        await ports[port].hide(receipts, LEASE_MS).catch(() => {});
        return runActivations(messages, ports, ports[port]);
      });
    }
    this.#map(notify, 'notifier', 10, ({ ports }, messages) => deliverNotices(messages, ports));
    for (const name of COMMANDS) {
      this.#map(commands[name], name, 1, async ({ ports }, [message]) => {
        await answerCommand(name, message!, ports);
        return [];
      });
    }
  }

  /** Feeds a queue to a function, as an event source mapping does: what it does not name in its answer is removed. */
  #map(
    queue: SimulatedQueue,
    role: string,
    most: number,
    work: (process: Process, messages: ReceivedMessage[]) => Promise<string[]>,
  ): void {
    const { time, faults } = this;
    let isPolling = false;
    let noRoomUntil = 0;
    queue.onVisible = () => {
      if (isPolling) return;
      isPolling = true;
      time.after(this.#chance.between(1, 30), poll);
    };
    const poll = () => {
      isPolling = false;
      const messages = queue.take(most);
      if (messages.length === 0) return;
      if (faults.strikes('mapping', 0.01, time.now, `no room for the ${role}`)) {
        noRoomUntil = time.now + faults.amount('mapping', 1_000, LONGEST_FULL_MS);
      }
      // What found no room comes again when its visibility ends, and has been received once more.
      if (time.now < noRoomUntil) return;
      const life = role === 'runner' ? FUNCTION_LIFE_MS : VISIBILITY_MS[role === 'notifier' ? role : 'command'];
      this.#invoke(role, life, (process) => work(process, messages)).then(
        (done) => {
          if (!done) return;
          const over = messages.filter(({ messageId }) => !done.answer.includes(messageId));
          if (faults.strikes('lost-answer', 0.004, time.now, `what the ${role} has done is not removed`)) return;
          time.after(this.#chance.between(1, 20), () => void queue.remove(over.map(({ receipt }) => receipt)));
        },
        (error: Error) => this.witness.tell(time.now, role, `throws ${error.name}: ${error.message}`),
      );
    };
  }

  /** In a process that is free, or a new one. Undefined when it died, or did not come to an end in its time. */
  #invoke<Answer>(
    role: string,
    lifeMs: number,
    work: (process: Process) => Promise<Answer>,
    patienceMs: number = lifeMs,
  ): Promise<{ answer: Answer } | undefined> {
    const idle = this.#idle.get(role) ?? [];
    this.#idle.set(role, idle);
    const process = idle.pop() ?? this.#newProcess(role);
    process.begin();
    return new Promise((resolve, reject) => {
      let isOver = false;
      process.onDeath(() => resolve(undefined));
      work(process).then(
        (answer) => {
          if (process.isDead) return;
          isOver = true;
          process.freeze();
          idle.push(process);
          resolve({ answer });
        },
        (error: Error) => {
          if (process.isDead) return;
          isOver = true;
          process.freeze();
          idle.push(process);
          reject(error);
        },
      );
      this.time.after(patienceMs, () => resolve(undefined));
      this.time.after(lifeMs, () => {
        if (!isOver) process.die('its time is over');
      });
    });
  }

  #newProcess(role: string): Process {
    const name = `${role}-${++this.#processes}`;
    return new Process(this, name, new Chance(this.#seed, `process ${name}`));
  }

  #startRule(): void {
    const { time, faults } = this;
    let noneUntil = 0;
    const minute = () => {
      if (!this.#isRuleOn) return;
      time.after(RULE_PERIOD_MS, minute);
      if (faults.strikes('loop', 0.03, time.now, 'no loop starts for a while')) {
        noneUntil = time.now + faults.amount('loop', 1, 600_000);
      }
      if (time.now < noneUntil) return;
      const isLate = faults.strikes('loop', 0.1, time.now, 'a loop starts late');
      const start = () => void this.#loop(time.now, true);
      time.after(isLate ? faults.amount('loop', 1_000, 60_000) : this.#chance.between(0, 500), start);
      if (faults.strikes('loop', 0.05, time.now, 'a loop starts twice')) {
        time.after(faults.amount('loop', 0, 90_000), start);
      }
    };
    minute();
  }

  /** The state machine: tick, wait, tick; a failure is waited for and the tick done again. */
  async #loop(loopStartedAt: number, isFirst: boolean): Promise<void> {
    const { time, witness } = this;
    const endsAt = loopStartedAt + LONGEST_LOOP_MS;
    if (time.now >= endsAt) return;
    let result: { answer: TickResult } | undefined;
    try {
      result = await this.#invoke(
        'scheduler',
        FUNCTION_LIFE_MS,
        ({ ports }) => tick({ loopStartedAt, isFirst }, ports),
        LONGEST_TICK_MS,
      );
    } catch (error) {
      witness.tell(time.now, 'loop', `a tick threw ${(error as Error).name}: ${(error as Error).message}`);
    }
    if (result?.answer.done) return;
    const wakeAt = result?.answer.done === false ? result.answer.wakeAt : time.now + AFTER_FAILURE_MS;
    time.at(Math.floor(wakeAt / 1000) * 1000, () => void this.#loop(loopStartedAt, result ? false : isFirst));
  }
}

function byName<Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}

export type { FaultKind };
