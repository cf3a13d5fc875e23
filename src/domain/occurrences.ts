import { createHash } from 'node:crypto';
import type { JobRow } from './job';
import { misfiresToRun } from './misfire';
import { allBetween, gapsIn, nextOf, previousOf, type Recurring } from './recurrence';

/** A tick dispatches at most so many occurrences of one job; the job stays due for the rest. */
const MOST_DISPATCHED = 500;
/** Missed occurrences are counted up to here; beyond, the record's count is a lower bound. */
const MOST_COUNTED = 100_000;

const YEAR_MS = 366 * 86_400_000;
/** Nothing is late that starts within so little, whatever its grace: a runner takes its time too. */
const LEAST_GRACE_SECONDS = 5;

/** An instant that the schedule names, and when it is due: later by the job's jitter. Epoch ms. */
export interface Occurrence {
  nominalAt: number;
  dueAt: number;
}

/** Occurrences that deliberately do not run; those found together share one record, at the latest of them. */
export interface Skip {
  nominalAt: number;
  dueAt: number;
  alsoCovers: number;
  reason: 'misfire' | 'dst-gap';
}

/** What is to be done with a due job. */
export interface DispatchDecision {
  dispatch: readonly Occurrence[];
  skip: readonly Skip[];
  /** absent when the schedule names nothing more */
  nextDueAt?: number;
  reason: string;
}

/** By how much every occurrence of this job is due later, in ms: the same for the same job, below its jitter. */
export function jitterMs({ jobId, jitterSeconds = 0 }: Pick<JobRow, 'jobId' | 'jitterSeconds'>): number {
  if (jitterSeconds === 0) return 0;
  return createHash('sha256').update(jobId).digest().readUInt32BE(0) % (jitterSeconds * 1000);
}

type Scheduled = Pick<JobRow, 'jobId' | 'schedule' | 'jitterSeconds'>;

/** When the first occurrence after the instant `afterAt` of the schedule is due. */
export function nextRunAt(job: Scheduled, afterAt: number): number | undefined {
  const { schedule } = job;
  const nominalAfter = afterAt - jitterMs(job);
  const next = schedule.kind === 'recurring' ? nextOf(schedule, nominalAfter) : schedule.at;
  return next === undefined || next <= nominalAfter ? undefined : next + jitterMs(job);
}

/**
 * When a job has to be looked at next: at its next occurrence, or where a change of the clocks swallows one before that, so
 * that a record can be left of it.
 */
export function nextDueAt(job: Scheduled, afterAt: number): number | undefined {
  const next = nextRunAt(job, afterAt);
  if (job.schedule.kind === 'once') return next;
  const offset = jitterMs(job);
  // The clocks may swallow the very last one: they change at least once within a year, if at all.
  const gap = gapsIn(job.schedule, afterAt - offset, (next ?? afterAt + YEAR_MS) - offset)[0];
  return gap === undefined ? next : Math.min(next ?? Infinity, gap.gapAt + offset);
}

/**
 * Which occurrences of this job, from its `dueAt` to `untilAt`, are dispatched now, which are skipped, and when it is
 * due next. An occurrence found later than its grace is a misfire; a one-off never is: it runs, late.
 */
export function decideDispatch(job: JobRow, now: number, untilAt: number): DispatchDecision {
  const { schedule, dueAt } = job;
  if (dueAt === undefined || job.state !== 'ACTIVE') return { dispatch: [], skip: [], reason: 'not-due' };
  if (dueAt > untilAt) return { dispatch: [], skip: [], nextDueAt: dueAt, reason: 'not-yet-due' };
  if (schedule.kind === 'once') return { dispatch: [occurrence(job, schedule.at)], skip: [], reason: 'due' };

  // Decided on nominal instants, then put off by the jitter.
  const offset = jitterMs(job);
  const from = dueAt - offset;
  const until = untilAt - offset;
  const missedBefore = Math.max(from, now - offset - graceMs(job));
  const { stillRun, skipped } = decideMissed(schedule, from, missedBefore, misfiresToRun(job.misfire.policy));
  const onTime = allBetween(schedule, missedBefore - 1, until, MOST_DISPATCHED);
  const lookedUntil = onTime.length === MOST_DISPATCHED ? onTime.at(-1)! : Math.max(until, missedBefore - 1);
  const gaps = gapsIn(schedule, from - 1, lookedUntil);

  const left = (job.maxRuns ?? Infinity) - (job.runsDispatched ?? 0);
  const dispatch = [...stillRun, ...onTime].slice(0, left);
  const next = dispatch.length < left ? nextDueAt(job, lookedUntil + offset) : undefined;
  const missed = stillRun.length + (skipped?.count ?? 0);
  return {
    dispatch: dispatch.map((nominalAt) => occurrence(job, nominalAt)),
    skip: [
      ...(skipped
        ? [{ ...occurrence(job, skipped.latest), alsoCovers: skipped.count - 1, reason: 'misfire' as const }]
        : []),
      // The millisecond before the change: an occurrence at the very end of the gap has a record of its own.
      ...gaps.map(({ gapAt, lost }) => ({
        ...occurrence(job, gapAt - 1),
        alsoCovers: lost - 1,
        reason: 'dst-gap' as const,
      })),
    ],
    ...(next === undefined ? {} : { nextDueAt: next }),
    reason: missed > 0 ? `misfire: ${missed} missed, policy ${job.misfire.policy}` : 'due',
  };
}

/** When a schedule goes on whose next occurrence lies after the nominal instant `afterAt`; undefined when it has ended. */
export function dueAtFrom(job: JobRow, afterAt: number): number | undefined {
  return isUsedUp(job) ? undefined : nextDueAt(job, afterAt + jitterMs(job));
}

function isUsedUp({ maxRuns, runsDispatched = 0 }: JobRow): boolean {
  return maxRuns !== undefined && runsDispatched >= maxRuns;
}

/**
 * A change lets go of what was dispatched ahead, after the nominal instant `afterAt`: those runs are superseded, or skipped,
 * and dispatched anew by what comes after. They must not count twice.
 */
export function withoutDispatchedAhead(job: JobRow, afterAt: number): JobRow {
  const { maxRuns, runsDispatched = 0, dispatchedUntil = 0, schedule } = job;
  if (maxRuns === undefined || schedule.kind === 'once') return job;
  const ahead = allBetween(schedule, afterAt, dispatchedUntil, MOST_COUNTED).length;
  return { ...job, runsDispatched: Math.max(0, runsDispatched - ahead) };
}

/** Of the occurrences in [from, before): the latest few that still run, and how many before them do not. */
function decideMissed(schedule: Recurring, from: number, before: number, mayRun: number) {
  const latestBefore = (at: number) => {
    const previous = previousOf(schedule, at);
    return previous !== undefined && previous >= from ? previous : undefined;
  };
  const stillRun: number[] = [];
  let latest = latestBefore(before);
  while (latest !== undefined && stillRun.length < mayRun) {
    stillRun.unshift(latest);
    latest = latestBefore(latest);
  }
  const skipped =
    latest === undefined ? undefined : { latest, count: allBetween(schedule, from - 1, latest, MOST_COUNTED).length };
  return { stillRun, skipped };
}

export function occurrence(job: Scheduled, nominalAt: number): Occurrence {
  return { nominalAt, dueAt: nominalAt + jitterMs(job) };
}

/**
 * Is this occurrence, found only now, one that its job's misfire policy lets go? Decided again when a runner gets it late.
 * `validUntil`: where the definition was replaced by an edit, the instant from which its occurrences are superseded.
 */
export function isMisfireToSkip(job: JobRow, nominalAt: number, now: number, validUntil = Infinity): boolean {
  const { schedule, misfire } = job;
  const nominalNow = now - jitterMs(job);
  if (schedule.kind === 'once' || nominalNow <= nominalAt + graceMs(job)) return false;
  const mayRun = misfiresToRun(misfire.policy);
  // Only a later occurrence that will run itself takes the place of this one.
  const last = isUsedUp(job) ? (job.dispatchedUntil ?? nominalAt) : Infinity;
  const until = Math.min(nominalNow, last, validUntil - 1);
  return until <= nominalAt ? mayRun === 0 : allBetween(schedule, nominalAt, until, mayRun).length === mayRun;
}

function graceMs({ misfire }: JobRow): number {
  return Math.max(misfire.graceSeconds, LEAST_GRACE_SECONDS) * 1000;
}
