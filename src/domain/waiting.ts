import { isOutOfTime } from './conclude';
import type { JobRow } from './job';
import type { Run } from './run';

const WAIT_MS = { first: 1_000, most: 30_000 };
/** A run must not outlive the row of its job, which may be removed at any time from its end on. */
const MARGIN_MS = 3_600_000;

/**
 * How long a run that a limit holds back waits before it asks again, in ms: the longer the more often it has waited, half of it
 * left to chance so that those who wait do not all come at once. `chance` is in [0, 1).
 */
export function heldBackMs(waits: number, chance: number): number {
  const most = mostMs(waits);
  return Math.max(WAIT_MS.first, Math.floor(most / 2 + (most / 2) * chance));
}

/** By how much those who wait for the same instant are spread after it, in ms. */
export function spreadMs(waits: number, chance: number): number {
  return Math.floor(mostMs(waits) * chance);
}

function mostMs(waits: number): number {
  return Math.min(WAIT_MS.first * 2 ** waits, WAIT_MS.most);
}

/** Would an attempt that waits until then, epoch ms, come too late for its retry policy, or for its job's own end? */
export function isTooLate(run: Run, { retry, expiresAt = Infinity }: JobRow, untilAt: number): boolean {
  return isOutOfTime(run, retry, untilAt) || untilAt > expiresAt - MARGIN_MS;
}
