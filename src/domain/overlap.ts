import type { OverlapPolicy } from './job';
import { isFinal, type Run } from './run';

/** Who holds a job's place, of which there is one under every policy but "allow". */
export interface Place {
  runId: string;
  /** of the run, epoch ms */
  nominalAt: number;
  /** epoch ms */
  takenAt: number;
}

/** A run whose holder died between taking the place and claiming the run has lost it after so long. */
const UNCLAIMED_MS = 90_000;

export type OverlapDecision =
  /** take the place, over `Place` if there is one, and begin */
  | { action: 'begin'; reason: string }
  | { action: 'skip'; reason: 'overlap' }
  /** wait for the place to be free; at most one run of a job does */
  | { action: 'queue'; reason: string }
  /** end the holder first, then begin */
  | { action: 'cancel-holder'; holder: Run; reason: string };

/**
 * May the first attempt of `runId` begin? `holder` is the run in `place`, if it has a row; a run that waits for its retry
 * counts as running. `next` is the run that waits already, and whether it still does.
 */
export function decideOverlap(input: {
  policy: OverlapPolicy;
  runId: string;
  nominalAt: number;
  place: Place | undefined;
  holder: Run | undefined;
  next: { runId: string; isWaiting: boolean } | undefined;
  now: number;
}): OverlapDecision {
  const { policy, runId, nominalAt, place, holder, next, now } = input;
  if (policy === 'allow') return { action: 'begin', reason: 'overlap-allowed' };
  if (!place) return { action: 'begin', reason: 'place-free' };
  if (place.runId === runId) return { action: 'begin', reason: 'place-held' };
  if (holder ? isFinal(holder.state) : now - place.takenAt > UNCLAIMED_MS) {
    return { action: 'begin', reason: 'place-left' };
  }
  switch (policy) {
    case 'skip':
      return { action: 'skip', reason: 'overlap' };
    case 'queue-one': {
      const isTaken = next !== undefined && next.isWaiting && next.runId !== runId;
      return isTaken ? { action: 'skip', reason: 'overlap' } : { action: 'queue', reason: 'predecessor-running' };
    }
    case 'cancel-previous':
      // It is the previous one that is cancelled, never a later one by one that comes late.
      if (place.nominalAt > nominalAt) return { action: 'skip', reason: 'overlap' };
      // A holder without a row is about to claim: it is cancelled once it has one.
      return holder
        ? { action: 'cancel-holder', holder, reason: 'predecessor-running' }
        : { action: 'queue', reason: 'predecessor-starting' };
  }
}
