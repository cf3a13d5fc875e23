import type { JobSchedule } from './job';
import {
  nextOccurrence,
  occurrencesBetween,
  parseSchedule,
  previousOccurrence,
  skippedBetween,
  type Grid,
  type Schedule,
} from './schedule';

export type Recurring = Extract<JobSchedule, { kind: 'recurring' }>;

const MOST_PARSED = 10_000;
/** More local times than this are not lost in one change of the clocks but for schedules of every second. */
const MOST_LOST = 10_000;

const parsed = new Map<string, Schedule>();

/** The parsed form of a recurring job's expression, kept for the next call: a tick asks for the same few again and again. */
function scheduleOf(recurring: Recurring): Schedule {
  const { expression, timezone, dst } = recurring;
  const key = JSON.stringify([expression, timezone, dst]);
  let found = parsed.get(key);
  if (!found) {
    if (parsed.size >= MOST_PARSED) parsed.clear();
    found = parseSchedule(expression, { timezone, ...(dst === undefined ? {} : { dst }) });
    parsed.set(key, found);
  }
  return found;
}

function gridOf({ anchorAt, startAt }: Recurring): Grid {
  return { anchorAt, anchorIncluded: anchorAt === startAt };
}

/** The first occurrence after this instant, within start and end. All instants are epoch ms. */
export function nextOf(recurring: Recurring, afterAt: number): number | undefined {
  const { startAt = -Infinity, endAt = Infinity } = recurring;
  const next = nextOccurrence(scheduleOf(recurring), Math.max(afterAt, startAt - 1), gridOf(recurring));
  return next !== undefined && next <= endAt ? next : undefined;
}

/** The last occurrence before this instant, within start and end. */
export function previousOf(recurring: Recurring, beforeAt: number): number | undefined {
  const { startAt = -Infinity, endAt = Infinity } = recurring;
  const previous = previousOccurrence(scheduleOf(recurring), Math.min(beforeAt, endAt + 1), gridOf(recurring));
  return previous !== undefined && previous >= startAt ? previous : undefined;
}

/** The first `limit` occurrences in (afterAt, untilAt], within start and end. */
export function allBetween(recurring: Recurring, afterAt: number, untilAt: number, limit: number): number[] {
  const { startAt = -Infinity, endAt = Infinity } = recurring;
  const [from, to] = [Math.max(afterAt, startAt - 1), Math.min(untilAt, endAt)];
  return to <= from ? [] : occurrencesBetween(scheduleOf(recurring), from, to, limit, gridOf(recurring));
}

/** Where the clocks went forward over local times that the schedule names: how many were lost at which instant. */
export function gapsIn(recurring: Recurring, afterAt: number, untilAt: number): { gapAt: number; lost: number }[] {
  const { startAt = -Infinity, endAt = Infinity } = recurring;
  const [from, to] = [Math.max(afterAt, startAt - 1), Math.min(untilAt, endAt)];
  if (to <= from) return [];
  const lost = new Map<number, number>();
  for (const { gapAt } of skippedBetween(scheduleOf(recurring), from, to, MOST_LOST)) {
    lost.set(gapAt, (lost.get(gapAt) ?? 0) + 1);
  }
  return [...lost].map(([gapAt, count]) => ({ gapAt, lost: count }));
}
