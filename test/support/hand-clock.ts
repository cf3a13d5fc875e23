import type { Clock } from '../../src/ports';

interface Waiter {
  at: number;
  wake: () => void;
}

/** Quiet turns of the event loop in a row after which nothing more is expected to happen by itself. */
const QUIET_TURNS = 2;

/**
 * A clock that only a test moves. `advance` goes from one awaited instant to the next, in their order, and at each lets everything
 * settle that follows from it before it goes on: a whole day of jobs in the time that its work takes.
 */
export class HandClock implements Clock {
  #now: number;
  #waiters: Waiter[] = [];
  readonly #busyChecks: (() => boolean)[] = [];

  /** `startAt`: epoch ms */
  constructor(startAt: number) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  waitUntil(at: number, signal?: AbortSignal): Promise<void> {
    if (at <= this.#now || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter: Waiter = {
        at,
        wake: () => {
          signal?.removeEventListener('abort', callOff);
          resolve();
        },
      };
      const callOff = (): void => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        waiter.wake();
      };
      signal?.addEventListener('abort', callOff);
      this.#insert(waiter);
    });
  }

  /**
   * Tells of work that goes on outside promises and immediates, such as a commit by a native thread or a request to a server: time
   * does not move while a check answers true. For a database of ours: `clock.holdWhile(() => database.isBusy)`.
   */
  holdWhile(isBusy: () => boolean): void {
    this.#busyChecks.push(isBusy);
  }

  /** Instants that somebody waits for, earliest first. */
  get awaited(): readonly number[] {
    return this.#waiters.map((waiter) => waiter.at);
  }

  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.#now + ms);
  }

  /** Moves to `at`, never backwards, waking whoever waits for an instant on the way at that instant. */
  async advanceTo(at: number): Promise<void> {
    await this.settle();
    for (let next = this.#waiters[0]; next !== undefined && next.at <= at; next = this.#waiters[0]) {
      this.#now = Math.max(this.#now, next.at);
      while (this.#waiters[0] !== undefined && this.#waiters[0].at <= this.#now) this.#waiters.shift()!.wake();
      await this.settle();
    }
    this.#now = Math.max(this.#now, at);
  }

  /** Until nothing happens by itself any more, at the instant that it is. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS;) {
      await new Promise((resolve) => setImmediate(resolve));
      quiet = this.#busyChecks.some((isBusy) => isBusy()) ? 0 : quiet + 1;
    }
  }

  #insert(waiter: Waiter): void {
    let place = this.#waiters.length;
    while (place > 0 && this.#waiters[place - 1]!.at > waiter.at) place -= 1;
    this.#waiters.splice(place, 0, waiter);
  }
}
