import type { GroupPart, MemberState } from './group';
import type { Run } from './run';

/** The places of jobs in a part that follow one after another: both included, from 0. */
export interface Stretch {
  first: number;
  last: number;
}

/** The chains of a part in their order; a job by itself is a chain of one. */
export function stretchesOf({ states, lengths }: Pick<GroupPart, 'states' | 'lengths'>): Stretch[] {
  if (!lengths) return Array.from(states, (_, index) => ({ first: index, last: index }));
  let first = 0;
  return lengths.map((length) => {
    const stretch = { first, last: first + length - 1 };
    first += length;
    return stretch;
  });
}

function lastAfter(part: GroupPart, index: number): number {
  return part.lengths ? stretchesOf(part).find(({ last }) => last >= index)!.last : index;
}

/** Is every job of the part over? */
export function isSettled({ states }: Pick<GroupPart, 'states'>): boolean {
  return !states.includes('P');
}

export function stateAt({ states }: Pick<GroupPart, 'states'>, index: number): MemberState | undefined {
  return states[index] as MemberState | undefined;
}

/** The nominal instant of a job's run as it is now. */
export function nominalAtIn({ nominalAts }: GroupPart, index: number, groupCreatedAt: number): number {
  return nominalAts?.[index] ?? groupCreatedAt;
}

/** Was the job put on its way once more, after it had been skipped? What stopped its group before does not concern it. */
export function isAnew({ nominalAts, sequences, states }: GroupPart, index: number): boolean {
  return nominalAts?.[index] !== undefined || (states[index] === 'P' && sequences?.[index] !== undefined);
}

/** What a run has come to, as far as its group is concerned. */
export interface Outcome {
  /** the place of its job in the part */
  index: number;
  state: MemberState;
  /** of the run; see Run.sequence */
  sequence: number;
  /** of the run, epoch ms */
  nominalAt: number;
  /** when the run came to it, epoch ms */
  changedAt: number;
}

export interface Settlement {
  /** the row to write over the one as seen; absent: that knows it already */
  next?: GroupPart;
  /** the job whose turn it is */
  turn?: number;
  /** jobs whose turn does not come any more: each gets a run that was skipped */
  skipped: readonly number[];
  /** jobs that were skipped, and wait for their turn again */
  revived: readonly number[];
  reason: 'recorded' | 'sent-again' | 'repeated' | 'superseded' | 'of-another-life';
}

/**
 * The part after a run of one of its jobs came to something, and what follows. The highest sequence of a run decides, so that what
 * comes twice, late or out of order changes nothing; what follows from what is known already is told again.
 */
export function decideSettle(part: GroupPart, outcome: Outcome): Settlement {
  const { index, state, sequence, nominalAt } = outcome;
  const known = stateAt(part, index);
  const lifeAt = part.nominalAts?.[index];
  if (known === undefined || (lifeAt !== undefined && lifeAt !== nominalAt)) return nothing('of-another-life');
  // Nothing leads on from these, so that their sequences need not be kept.
  const isLast = known === 'D' || known === 'S' || known === 'C';
  const knownSequence = part.sequences?.[index] ?? 0;
  if (isLast ? known === state : sequence === knownSequence) return repeated(part, index);
  if (isLast || sequence < knownSequence) return nothing('superseded');

  const later = laterThan(part, index);
  switch (state) {
    case 'P':
    case 'D': {
      const revived = known === 'F' ? runOf(later, (place) => part.states[place] === 'S') : [];
      const next = sentAgain(withOutcome(part, outcome), revived, outcome.changedAt, nominalAt);
      return {
        next,
        ...turnAfter(next, index),
        skipped: [],
        revived,
        reason: state === 'P' ? 'sent-again' : 'recorded',
      };
    }
    case 'F':
    case 'S':
    case 'C': {
      const skipped = later.filter((place) => part.states[place] === 'P');
      return { next: skippedAt(withOutcome(part, outcome), skipped), skipped, revived: [], reason: 'recorded' };
    }
  }
}

function nothing(reason: Settlement['reason']): Settlement {
  return { skipped: [], revived: [], reason };
}

/** A process may have died between the write and what follows from it. */
function repeated(part: GroupPart, index: number): Settlement {
  const later = laterThan(part, index);
  const hasEnded = part.states[index] !== 'P' && part.states[index] !== 'D';
  return {
    ...turnAfter(part, index),
    skipped: hasEnded ? runOf(later, (place) => part.states[place] === 'S') : [],
    revived: hasEnded ? [] : runOf(later, (place) => part.states[place] === 'P' && isAnew(part, place)),
    reason: 'repeated',
  };
}

function laterThan(part: GroupPart, index: number): number[] {
  return placesOf({ first: index + 1, last: lastAfter(part, index) });
}

/** From the first to the last; none where that lies before it. */
export function placesOf({ first, last }: Stretch): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset);
}

/** The first of them for as long as they are such. */
function runOf(indexes: readonly number[], isSuch: (index: number) => boolean): number[] {
  const end = indexes.findIndex((index) => !isSuch(index));
  return end < 0 ? [...indexes] : indexes.slice(0, end);
}

function turnAfter(part: GroupPart, index: number): { turn?: number } {
  const isNext = part.states[index] === 'D' && index < lastAfter(part, index) && part.states[index + 1] === 'P';
  return isNext ? { turn: index + 1 } : {};
}

function withOutcome(part: GroupPart, { index, state, sequence }: Outcome): GroupPart {
  const { [index]: _, ...others } = part.sequences ?? {};
  const isKept = state === 'F' || state === 'P';
  const { sequences: _before, ...rest } = withStates(part, [index], state);
  const sequences = isKept ? { ...others, [index]: sequence } : others;
  return Object.keys(sequences).length > 0 ? { ...rest, sequences } : rest;
}

function withStates(part: GroupPart, indexes: readonly number[], state: MemberState): GroupPart {
  const states = [...part.states];
  for (const index of indexes) states[index] = state;
  return { ...part, revision: part.revision + 1, states: states.join('') };
}

/** The part, a revision of which is to be written anyway, with these jobs waiting for their turn again under another nominal instant. */
function sentAgain(part: GroupPart, indexes: readonly number[], at: number, before: number): GroupPart {
  if (indexes.length === 0) return part;
  const nominalAts = { ...part.nominalAts };
  // Never the same again: that run was skipped.
  for (const index of indexes) nominalAts[index] = Math.max(at, (nominalAts[index] ?? before) + 1);
  return { ...withStates(part, indexes, 'P'), revision: part.revision, nominalAts };
}

function skippedAt(part: GroupPart, indexes: readonly number[]): GroupPart {
  return { ...withStates(part, indexes, 'S'), revision: part.revision };
}

/** The part once these jobs, whose runs were skipped, are known to be; undefined where all of them are. Only what is pending is marked. */
export function withSkipped(
  part: GroupPart,
  runs: readonly { index: number; nominalAt: number }[],
  groupCreatedAt: number,
): GroupPart | undefined {
  const news = runs.filter(
    ({ index, nominalAt }) => part.states[index] === 'P' && nominalAtIn(part, index, groupCreatedAt) === nominalAt,
  );
  const indexes = news.map(({ index }) => index);
  return indexes.length === 0 ? undefined : withStates(part, indexes, 'S');
}

/** Those jobs whose turn it is, and the job before them in their chain, which is DONE. */
export function turnsOf(part: GroupPart): { index: number; previous?: number }[] {
  return stretchesOf(part).flatMap((stretch) => {
    const index = placesOf(stretch).find((place) => part.states[place] !== 'D');
    if (index === undefined || part.states[index] !== 'P') return [];
    return [{ index, ...(index > stretch.first ? { previous: index - 1 } : {}) }];
  });
}

/** Where each chain of the part broke off: its first job that is skipped or cancelled, with no failed one before it. */
export function brokenOff(part: GroupPart): number[] {
  return stretchesOf(part).flatMap((stretch) => {
    const index = placesOf(stretch).find((place) => part.states[place] !== 'D');
    return index !== undefined && (part.states[index] === 'S' || part.states[index] === 'C') ? [index] : [];
  });
}

/** The part with these jobs, at which chains broke off, and what was skipped after them waiting for their turn again. */
export function decideRevival(
  part: GroupPart,
  indexes: readonly number[],
  at: number,
  groupCreatedAt: number,
): GroupPart {
  const all = indexes.flatMap((index) => [
    index,
    ...runOf(laterThan(part, index), (place) => part.states[place] === 'S'),
  ]);
  return sentAgain({ ...part, revision: part.revision + 1 }, all, at, groupCreatedAt);
}

/** Did anything end other than DONE by itself: did it fail, or was it skipped for a reason of its own? */
export function isBroken(parts: readonly GroupPart[]): boolean {
  return parts.some((part) => part.states.includes('F') || brokenOff(part).some((index) => part.states[index] === 'S'));
}

/**
 * Does this part, with one more of its jobs over, look after a percent that the whole may have reached? Each percent is looked
 * after by one part, so that hardly any outcome has to read them all.
 */
export function reachesPercent(before: GroupPart, after: GroupPart): boolean {
  const { progressParts, partId } = after;
  if (progressParts === undefined) return false;
  const nth = Number(partId.split('-').at(-1));
  for (let percent = percentOf(before) + 1; percent <= percentOf(after); percent++) {
    if (percent % progressParts === nth % progressParts) return true;
  }
  return false;
}

function percentOf({ states }: GroupPart): number {
  const pending = [...states].filter((state) => state === 'P').length;
  return Math.floor((100 * (states.length - pending)) / states.length);
}

export const GROUP_ENDS = { chain: 'chain-cancelled', batch: 'batch-cancelled' } as const;

/** Did this run end because its chain or batch was cancelled or stopped? */
export function endedWithGroup({ reason = '' }: Pick<Run, 'reason'>): boolean {
  return Object.values(GROUP_ENDS).some((end) => reason === end || reason.endsWith(`: ${end}`));
}
