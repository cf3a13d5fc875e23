import type { RateLimitPolicy } from './job';

/** When the latest attempts under a rate key began, earliest first, epoch ms. */
export interface Starts {
  /** the longest period that any job of this key counts over */
  perMs: number;
  at: readonly number[];
}

export type StartDecision =
  /** write these, and begin */
  | { action: 'begin'; starts: Starts; reason: 'below-limit' }
  /** the earliest instant, epoch ms, at which one more may begin */
  | { action: 'wait'; untilAt: number; reason: 'rate-limit' };

/** Clocks of runners differ: what counts for nobody by one clock may count by another. */
const CLOCKS_DIFFER_MS = 5_000;
/** No limit is higher, so that older starts count for nobody. */
const MOST_KEPT = 1_000;

/** May an attempt begin now? Counted exactly: in no period of this length begin more than `limit`. */
export function decideStart(policy: RateLimitPolicy, starts: Starts | undefined, now: number): StartDecision {
  const perMs = policy.perSeconds * 1000;
  const longestMs = Math.max(perMs, starts?.perMs ?? 0);
  const kept = (starts?.at ?? []).filter((at) => at > now - longestMs - CLOCKS_DIFFER_MS);
  const counted = kept.filter((at) => at > now - perMs);
  const inTheWay = counted[counted.length - policy.limit];
  if (inTheWay !== undefined) return { action: 'wait', untilAt: inTheWay + perMs, reason: 'rate-limit' };
  // Clocks of runners differ: another's start may lie ahead of ours.
  const at = [...kept, now].sort((a, b) => a - b).slice(-MOST_KEPT);
  return { action: 'begin', starts: { perMs: longestMs, at }, reason: 'below-limit' };
}

/** From then on they count for nobody: epoch ms. */
export function countedUntil({ perMs, at }: Starts): number {
  return at.at(-1)! + perMs + CLOCKS_DIFFER_MS;
}

/** The starts without one at this instant, which did not take place. Those of the same instant are alike. */
export function withoutStart(starts: Starts, at: number): Starts {
  const place = starts.at.indexOf(at);
  return place < 0 ? starts : { ...starts, at: starts.at.toSpliced(place, 1) };
}
