import { Chance } from './chance';

/** What can go wrong in the simulated cloud, and what it is like. */
export const FAULTS = {
  crash: 'a process dies between any two of its calls, or with an answer under way',
  stall: 'a process stands still for up to ten minutes, and then goes on',
  skew: 'clocks of processes differ by up to 2 s',
  twice: 'a queue delivers a message twice, or once more after it was removed',
  late: 'a queue holds a message back for minutes',
  disorder: 'a queue delivers in any order, and answers an empty page though there is something',
  partial: 'of what is sent or written together some is accepted, and the answer is an error',
  'lost-answer': 'a write takes effect, and its answer is an error',
  throttle: 'a table or queue refuses calls, in bursts',
  lag: 'an index shows for up to minutes what was before',
  mapping: 'a mapping takes messages and finds no room for its function, in bursts',
  invoke: 'a call is throttled, fails, or is answered by an error after the code has run',
  loop: 'a loop starts twice or a minute late, or for minutes none does',
} as const;

export type FaultKind = keyof typeof FAULTS;
export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

/** One thing that went wrong: the so-manieth time that this kind was asked about in the history. */
export interface Injected {
  kind: FaultKind;
  ordinal: number;
  at: number;
  what: string;
}

/**
 * Decides what goes wrong. Each kind has a stream of chance and an intensity of its own, so that of two histories one has many of a
 * kind and the other few.
 */
export class Faults {
  readonly injected: Injected[] = [];
  readonly #streams = new Map<FaultKind, { chance: Chance; intensity: number; asked: number }>();
  readonly #only: ReadonlySet<string> | undefined;
  #isOver = false;

  /** `only`: nothing goes wrong but these, named `kind:ordinal`. */
  constructor(seed: number, kinds: readonly FaultKind[], only?: readonly string[]) {
    this.#only = only && new Set(only);
    for (const kind of kinds) {
      const chance = new Chance(seed, `fault ${kind}`);
      this.#streams.set(kind, { chance, intensity: chance.pick([0.1, 0.5, 1, 1, 3]), asked: 0 });
    }
  }

  /** From now on nothing goes wrong any more. */
  stop(): void {
    this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  has(kind: FaultKind): boolean {
    return this.#streams.has(kind) && !this.#isOver;
  }

  /** Does it happen this time? `probability` at the usual intensity. */
  strikes(kind: FaultKind, probability: number, now: number, what: string): boolean {
    const stream = this.#streams.get(kind);
    if (!stream || this.#isOver) return false;
    const ordinal = stream.asked++;
    const isHit = stream.chance.isHit(Math.min(0.9, probability * stream.intensity));
    if (!isHit || (this.#only && !this.#only.has(`${kind}:${ordinal}`))) return false;
    this.injected.push({ kind, ordinal, at: now, what });
    return true;
  }

  /** How much, for a fault that strikes. */
  amount(kind: FaultKind, least: number, most: number): number {
    return this.#streams.get(kind)?.chance.mostlySmall(least, most) ?? 0;
  }
}
