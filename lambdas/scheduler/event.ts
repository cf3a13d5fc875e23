import type { TickResult } from '../../src/operations/tick';

/** What the state machine sends: `startedAt` is the start of its loop, ISO 8601. */
export interface TickEvent {
  startedAt: string;
  /** no tick of this loop has succeeded yet */
  isFirst: boolean;
}

export type SchedulerEvent = TickEvent | { sweep: true };

/** The state of the loop until its next tick. */
export type SchedulerAnswer =
  | { isFirst: false; done: true; reason: string }
  /** `wakeAt`: ISO 8601, a whole second, since Step Functions cuts what follows it */
  | { isFirst: false; done: false; wakeAt: string; reason: string };

/** In epoch ms. @throws Error for what no state machine of ours sends */
export function loopStartOf({ startedAt, isFirst }: TickEvent): number {
  const at = Date.parse(startedAt);
  if (Number.isNaN(at) || typeof isFirst !== 'boolean') {
    throw new Error(
      'the scheduler takes { "startedAt": an ISO 8601 instant, "isFirst": true or false } or { "sweep": true }',
    );
  }
  return at;
}

export function answerTo(result: TickResult): SchedulerAnswer {
  const { reason } = result;
  if (result.done) return { isFirst: false, done: true, reason };
  return { isFirst: false, done: false, wakeAt: `${new Date(result.wakeAt).toISOString().slice(0, 19)}Z`, reason };
}
