import type { Clock } from '../../../src/ports';

/** Waits take no time: whoever waits for an instant finds it there, and `waitedMs` tells what the waits came to. */
export class SkippingClock implements Clock {
  private at: number;
  waitedMs = 0;

  constructor(at = 1_772_366_400_000) {
    this.at = at;
  }

  now(): number {
    return this.at;
  }

  async waitUntil(at: number): Promise<void> {
    this.waitedMs += Math.max(0, at - this.at);
    this.at = Math.max(this.at, at);
  }

  pass(ms: number): void {
    this.at += ms;
  }
}

export const HALF = { next: () => 0.5 };
