/** Two periods of the rule that starts a loop each minute and a margin, since a start may come up to a minute late. */
export const HORIZON_MS = 130_000;
/** The successor of a loop has begun so long after it, at the latest. */
const SUCCESSOR_MS = 120_000;
/** A tick dispatches what falls due so long after the next tick is planned, so that a slow tick is no late start. */
export const TICK_MARGIN_MS = 5_000;

/** Clocks differ: a loop that began later than this from now began before the clock was set back, and counts no more. */
const CLOCK_MARGIN_MS = 60_000;

export type LoopDecision =
  | { action: 'go-on'; wakeAt: number; reason: string }
  /** `nothing-due`: dispatch the rest of what was found within the horizon, then end */
  | { action: 'end'; reason: 'nothing-due' | 'newer-loop' | 'too-old' };

/** Should this loop end before it even looks for what is due? Instants are epoch ms. */
export function decideLoopStart(input: {
  now: number;
  loopStartedAt: number;
  newestLoopStartedAt: number | undefined;
}): LoopDecision | undefined {
  const { now, loopStartedAt, newestLoopStartedAt } = input;
  if (
    newestLoopStartedAt !== undefined &&
    newestLoopStartedAt > loopStartedAt &&
    mayHaveBegun(newestLoopStartedAt, now)
  ) {
    return { action: 'end', reason: 'newer-loop' };
  }
  if (now - loopStartedAt >= HORIZON_MS) return { action: 'end', reason: 'too-old' };
  return undefined;
}

/** Has a loop begun at this instant, by the clock as it is now? */
export function mayHaveBegun(startedAt: number, now: number): boolean {
  return startedAt <= now + CLOCK_MARGIN_MS;
}

/** After a tick: when is the next one? `nextDueAt` is the first instant that was found and not dispatched. */
export function decideNextTick(input: {
  now: number;
  loopStartedAt: number;
  nextDueAt: number | undefined;
  tickSeconds: number;
}): LoopDecision {
  const { now, loopStartedAt, nextDueAt, tickSeconds } = input;
  if (nextDueAt === undefined || nextDueAt >= loopStartedAt + SUCCESSOR_MS) {
    return { action: 'end', reason: 'nothing-due' };
  }
  const wanted = Math.max(now + tickSeconds * 1000, nextDueAt - TICK_MARGIN_MS);
  // Step Functions cuts the fraction off the instant it waits for, so that one must be whole and still ahead.
  const wakeAt = Math.ceil(wanted / 1000) * 1000;
  return { action: 'go-on', wakeAt: wakeAt > now ? wakeAt : wakeAt + 1000, reason: 'due-before-the-next-loop' };
}
