import type { JobRow, JobSchedule } from './job';
import { misfiresToRun } from './misfire';
import { nextOccurrence, occurrencesBetween, parseSchedule, previousOccurrence, type Schedule } from './schedule';

/** A tick dispatches at most so many occurrences of one job; the job stays due for the rest. */
const MOST_DISPATCHED = 500;
/** Missed occurrences are counted up to here; beyond, the record's count is a lower bound. */
const MOST_COUNTED = 100_000;

/** What is to be done with a due job. Instants are epoch ms. */
export interface DispatchDecision {
  dispatch: readonly number[];
  /** one record for all misfires that will not run, at the latest of them */
  skip?: { nominalAt: number; alsoCovers: number };
  /** absent when the schedule names nothing more */
  nextDueAt?: number;
  reason: string;
}

const parsed = new Map<string, Schedule>();

/** The parsed form of a recurring job's expression, kept for the next call: a tick asks for the same few again and again. */
export function scheduleOf(schedule: Extract<JobSchedule, { kind: 'recurring' }>): Schedule {
  const key = JSON.stringify([schedule.expression, schedule.timezone, schedule.dst]);
  let found = parsed.get(key);
  if (!found) {
    if (parsed.size >= 10_000) parsed.clear();
    found = parseSchedule(schedule.expression, schedule);
    parsed.set(key, found);
  }
  return found;
}

/** The first instant after `afterAt` that the schedule names. */
export function nextDueAt(schedule: JobSchedule, afterAt: number): number | undefined {
  if (schedule.kind === 'once') return schedule.at > afterAt ? schedule.at : undefined;
  return nextOccurrence(scheduleOf(schedule), afterAt, { anchorAt: schedule.anchorAt });
}

/**
 * Which occurrences of this job, from its `dueAt` to `untilAt`, are dispatched now, which are skipped, and when it is
 * due next. An occurrence found later than its grace is a misfire; a one-off never is: it runs, late.
 */
export function decideDispatch(job: JobRow, now: number, untilAt: number): DispatchDecision {
  const { schedule, dueAt } = job;
  if (dueAt === undefined || job.state !== 'ACTIVE') return { dispatch: [], reason: 'not-due' };
  if (dueAt > untilAt) return { dispatch: [], nextDueAt: dueAt, reason: 'not-yet-due' };
  if (schedule.kind === 'once') return { dispatch: [schedule.at], reason: 'due' };

  const parsedSchedule = scheduleOf(schedule);
  const grid = { anchorAt: schedule.anchorAt };
  const missedBefore = Math.max(dueAt, now - job.misfire.graceSeconds * 1000);
  const stillRun: number[] = [];
  const latestBefore = (at: number) => {
    const previous = previousOccurrence(parsedSchedule, at, grid);
    return previous !== undefined && previous >= dueAt ? previous : undefined;
  };
  let latestSkipped = latestBefore(missedBefore);
  while (latestSkipped !== undefined && stillRun.length < misfiresToRun(job.misfire.policy)) {
    stillRun.unshift(latestSkipped);
    latestSkipped = latestBefore(latestSkipped);
  }
  const skipped =
    latestSkipped === undefined
      ? 0
      : occurrencesBetween(parsedSchedule, dueAt - 1, latestSkipped, MOST_COUNTED, grid).length;
  const onTime = occurrencesBetween(parsedSchedule, missedBefore - 1, untilAt, MOST_DISPATCHED, grid);
  const next = nextDueAt(
    schedule,
    onTime.length === MOST_DISPATCHED ? onTime.at(-1)! : Math.max(untilAt, missedBefore - 1),
  );
  return {
    dispatch: [...stillRun, ...onTime],
    ...(latestSkipped === undefined ? {} : { skip: { nominalAt: latestSkipped, alsoCovers: skipped - 1 } }),
    ...(next === undefined ? {} : { nextDueAt: next }),
    reason:
      stillRun.length + skipped > 0
        ? `misfire: ${stillRun.length + skipped} missed, policy ${job.misfire.policy}`
        : 'due',
  };
}

/** Is this occurrence, found only now, one that its job's misfire policy lets go? Decided again when a runner gets it late. */
export function isMisfireToSkip(job: JobRow, nominalAt: number, now: number): boolean {
  const { schedule, misfire } = job;
  if (schedule.kind === 'once' || now <= nominalAt + misfire.graceSeconds * 1000) return false;
  const mayRun = misfiresToRun(misfire.policy);
  if (mayRun === 0) return true;
  const laterOnes = occurrencesBetween(scheduleOf(schedule), nominalAt, now, mayRun, { anchorAt: schedule.anchorAt });
  return laterOnes.length === mayRun;
}
