import { holdsLease } from './claim';
import type { Run, RunKey } from './run';

/** One of the places of a concurrency key, held by an attempt. */
export interface Slot extends RunKey {
  /** the sequence of the run with which the attempt begins: tells it from the attempts before and after */
  sequence: number;
  /** when the attempt was last known to be at work, epoch ms */
  seenAt: number;
}

export type SlotDecision =
  | { action: 'begin'; reason: 'held-already' }
  /** write these slots, its own among them, and begin */
  | { action: 'take'; slots: readonly Slot[]; reason: 'place-free' }
  /** all places are taken; look whether these are still at work, then decide again */
  | { action: 'look'; at: readonly Slot[]; reason: 'places-in-doubt' }
  | { action: 'wait'; reason: 'concurrency' };

/**
 * Nobody looks at an attempt before: a lease and its margin. An attempt whose claim takes longer to write finds too little of
 * its lease left, and does not start its code.
 */
const TRUSTED_MS = 65_000;
/** Looked at in one go, those first that nobody looked at for longest: what is found at work is trusted again. */
const MOST_LOOKED_AT = 25;

/** May the attempt begin that `run`, as it is to be claimed, stands for? */
export function decideSlot(input: { slots: readonly Slot[]; run: Run; limit: number; now: number }): SlotDecision {
  const { run, limit, now } = input;
  const { jobId, runId, sequence } = run;
  // Whoever claims the next attempt has seen that the one before is over, though its place may not have been given back.
  const slots = input.slots.filter((slot) => slot.runId !== runId || slot.sequence >= sequence);
  // A message that came twice claims the same attempt: one of the two succeeds, and both mean this place.
  if (slots.some((slot) => slot.runId === runId && slot.sequence === sequence)) {
    return { action: 'begin', reason: 'held-already' };
  }
  if (slots.length < limit) {
    return { action: 'take', slots: [...slots, { jobId, runId, sequence, seenAt: now }], reason: 'place-free' };
  }
  const inDoubt = slots.filter(({ seenAt }) => now - seenAt > TRUSTED_MS).sort((a, b) => a.seenAt - b.seenAt);
  if (inDoubt.length === 0) return { action: 'wait', reason: 'concurrency' };
  return { action: 'look', at: inDoubt.slice(0, MOST_LOOKED_AT), reason: 'places-in-doubt' };
}

/** The slots after a look at some of them; `runs` are those of the slots looked at, in their order. */
export function afterLook(
  slots: readonly Slot[],
  lookedAt: readonly Slot[],
  runs: readonly (Run | undefined)[],
  now: number,
): Slot[] {
  return slots.flatMap((slot) => {
    const place = lookedAt.indexOf(slot);
    if (place < 0) return [slot];
    const run = runs[place];
    return run?.sequence === slot.sequence && holdsLease(run, now) ? [{ ...slot, seenAt: now }] : [];
  });
}

/** The slots without those that this state of a run has no use for. A later attempt of the same run keeps its own. */
export function withoutSlotsOf(run: Run, slots: readonly Slot[]): readonly Slot[] {
  const isOver = ({ sequence }: Slot) =>
    sequence < run.sequence || (sequence === run.sequence && run.state !== 'STARTED');
  return slots.filter((slot) => slot.runId !== run.runId || !isOver(slot));
}
