import type { JobRow } from '../../src/domain/job';
import { cachedCode } from '../../src/operations/cached-code';
import { cachedSubscriptions } from '../../src/operations/cached-subscriptions';
import type { Clock, Ports } from '../../src/ports';
import type { Chance } from './chance';
import type { Cloud } from './cloud';

/** What the SDK throws where a call did not succeed: the caller knows nothing about its effect. */
export class CloudError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

const STORES = ['jobs', 'runs', 'notifications', 'code', 'groups', 'invoker'] as const;
const QUEUES = ['activations', 'highActivations', 'deadActivations', 'notify'] as const;

/** Those that a caller may not repeat unseen: they take effect, and their answer may be lost. */
const READS = new Set([
  'read',
  'readRows',
  'readDefinition',
  'readPart',
  'readParts',
  'list',
  'due',
  'failed',
  'scan',
  'of',
]);

/** One process of a function: its clock, and its way to everything else. It may die, or stand still, between any two of its calls. */
export class Process {
  readonly name: string;
  readonly ports: Ports;
  /** how far its clock is ahead of the others', ms */
  readonly skewMs: number;
  /** the revisions of jobs that this process read since it got its present work, for the laws about what may begin */
  readonly jobsRead = new Map<string, Set<number>>();
  readonly #cloud: Cloud;
  readonly #chance: Chance;
  #isDead = false;
  #stillUntil = 0;
  #isFrozen = false;
  #held: (() => void)[] = [];
  #onDeath: (() => void)[] = [];

  constructor(cloud: Cloud, name: string, chance: Chance) {
    this.#cloud = cloud;
    this.#chance = chance;
    this.name = name;
    const { faults, time } = cloud;
    this.skewMs = faults.strikes('skew', 0.7, time.now, `the clock of ${name} is wrong`)
      ? chance.between(-2_000, 2_000)
      : 0;
    const clock: Clock = {
      now: () => time.now + this.skewMs,
      waitUntil: (at, signal) => this.#wait(at - this.skewMs, signal),
    };
    const shared = cloud.stores;
    const control = this.#guarded('control', shared.control.seenBy(clock));
    this.ports = {
      clock,
      ids: { guid: () => cloud.guid() },
      random: { next: () => chance.next() },
      ...pick(STORES, (store) => this.#guarded(store, shared[store])),
      ...pick(QUEUES, (queue) => this.#guarded(queue, cloud.queues[queue])),
      commands: this.#eachGuarded('commands', cloud.queues.commands),
      replies: this.#eachGuarded('replies', cloud.queues.replies),
      control: cachedSubscriptions(control, clock),
      journal: {
        transition: (run) =>
          this.tell(`${run.jobId} ${run.runId} is ${run.state} (${run.sequence}) ${run.reason ?? ''}`),
        note: (what, details) => this.tell(`${what} ${JSON.stringify(details)}`),
      },
      settings: cloud.settings,
    };
    this.ports.code = cachedCode(this.ports.code);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** What it was doing is never heard of again. */
  die(why: string): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.tell(`dies: ${why}`);
    for (const hear of this.#onDeath) hear();
  }

  onDeath(hear: () => void): void {
    this.#onDeath.push(hear);
  }

  tell(what: string): void {
    this.#cloud.witness.tell(this.#cloud.time.now, this.name, what);
  }

  /** New work: what it reads from now on is what it decides by. What it left undone goes on beside it. */
  begin(): void {
    this.jobsRead.clear();
    this.#onDeath = [];
    this.#isFrozen = false;
    for (const happen of this.#held.splice(0)) this.#whenAwake(happen);
  }

  /** It has answered: what it has not waited for stands still until it gets new work, if ever. */
  freeze(): void {
    this.#isFrozen = true;
  }

  #guarded<Port extends object>(port: string, target: Port): Port {
    const methods = new Map<string, unknown>();
    return new Proxy(target, {
      get: (_, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        const name = String(key);
        let method = methods.get(name);
        if (!method) {
          const act = member.bind(target) as (...args: unknown[]) => Promise<unknown>;
          method = (...args: unknown[]) => this.#call(port, name, args, act);
          methods.set(name, method);
        }
        return method;
      },
    });
  }

  #eachGuarded<Name extends string, Port extends object>(port: string, record: Record<Name, Port>): Record<Name, Port> {
    return Object.fromEntries(
      Object.entries<Port>(record).map(([name, one]) => [name, this.#guarded(`${port}.${name}`, one)]),
    ) as Record<Name, Port>;
  }

  #call(
    port: string,
    method: string,
    args: unknown[],
    act: (...args: unknown[]) => Promise<unknown>,
  ): Promise<unknown> {
    const { time, faults, witness } = this.#cloud;
    const what = `${port}.${method}`;
    witness.calls++;
    return new Promise((resolve, reject) => {
      if (this.#isDead) return;
      const strikes = (kind: Parameters<typeof faults.strikes>[0], probability: number, how: string) =>
        faults.strikes(kind, probability, time.now, `${this.name} ${how} ${what}`);
      if (strikes('crash', 0.003, 'dies before')) return this.die(`before ${what}`);
      if (strikes('stall', 0.001, 'stands still before')) this.#stand();
      const isRead = READS.has(method) || method === 'receive';
      const isInvoke = port === 'invoker';
      const answer = (hear: () => void) => time.after(this.#latencyMs(), () => this.#whenAwake(hear));

      time.after(this.#latencyMs(), () => {
        // A call may have left before its process died: it takes effect all the same.
        if (this.#isDead) {
          if (this.#chance.isHit(0.5)) void this.#act(() => act(...args));
          return;
        }
        this.#whenAwake(() => {
          if (!isInvoke && this.#cloud.isThrottled(port)) {
            return answer(() => reject(new CloudError('ThrottlingException', `${what} was throttled`)));
          }
          const isPartial =
            Array.isArray(args[0]) &&
            (method === 'send' || method === 'putAll') &&
            strikes('partial', 0.03, 'has a part refused of');
          const given = isPartial ? [this.#chance.shuffled(args[0] as unknown[]).slice(1), ...args.slice(1)] : args;
          const isLost = !isInvoke && !isRead && strikes('lost-answer', 0.008, 'hears an error after');
          const diesAfter = strikes('crash', 0.003, 'dies after');
          const acting = this.#act(() => act(...given));
          if (diesAfter && !isInvoke) this.die(`after ${what}`);
          acting.then(
            (value) =>
              answer(() => {
                if (isPartial) reject(new CloudError('PartialFailure', `some of ${what} was refused`));
                else if (isLost) reject(new CloudError('TimeoutError', `no answer came to ${what}`));
                else {
                  this.#noteRead(method, port, value);
                  resolve(value);
                }
              }),
            (error: Error) => answer(() => reject(error)),
          );
        });
      });
    });
  }

  /** What takes effect does so at once, so that the cloud knows whose it is. */
  #act<Value>(act: () => Promise<Value>): Promise<Value> {
    this.#cloud.actor = this;
    const acting = act();
    this.#cloud.actor = undefined;
    acting.catch(() => {});
    return acting;
  }

  #noteRead(method: string, port: string, value: unknown): void {
    if (port !== 'jobs' || (method !== 'read' && method !== 'readRows')) return;
    for (const row of [value].flat() as (JobRow | undefined)[]) {
      if (!row) continue;
      const revisions = this.jobsRead.get(row.jobId) ?? new Set();
      this.jobsRead.set(row.jobId, revisions.add(row.revision));
    }
  }

  #latencyMs(): number {
    return this.#chance.mostlySmall(1, 30);
  }

  #stand(): void {
    const { time, faults } = this.#cloud;
    const forMs = faults.amount('stall', 5_000, 600_000);
    this.#stillUntil = Math.max(this.#stillUntil, time.now + forMs);
    this.tell(`stands still for ${Math.round(forMs / 1000)} s`);
  }

  #whenAwake(happen: () => void): void {
    if (this.#isDead) return;
    if (this.#isFrozen) return void this.#held.push(happen);
    const { time } = this.#cloud;
    if (time.now < this.#stillUntil) time.at(this.#stillUntil, () => this.#whenAwake(happen));
    else happen();
  }

  #wait(at: number, signal?: AbortSignal): Promise<void> {
    const { time } = this.#cloud;
    if (at <= time.now || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      time.at(Math.ceil(at), () => this.#whenAwake(resolve));
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

function pick<Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value): Record<Name, never> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, never>;
}
