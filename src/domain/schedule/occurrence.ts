import { LAST_YEAR, dayNumber } from './calendar';
import { nextCronSecond, previousCronSecond } from './cron-walk';
import type { RateSchedule, Schedule } from './schedule';

/** Where the occurrences of a `rate` lie: at the anchor + k * period. */
export interface Grid {
  /** epoch ms */
  anchorAt: number;
  /** Is the anchor itself an occurrence? Otherwise the first one is a period later (default). */
  anchorIncluded?: boolean;
}

/** No occurrence lies at or after this instant: 2200-01-01T00:00:00Z for a rate; cron and at end with the local year 2199. */
const RATE_END_AT = dayNumber(LAST_YEAR + 1, 1, 1) * 86_400_000;

/** The first occurrence strictly after an instant (epoch ms), or undefined when the schedule names no more up to 2199. */
export function nextOccurrence(schedule: Schedule, afterAt: number, grid?: Grid): number | undefined {
  switch (schedule.kind) {
    case 'at':
      return schedule.at > afterAt ? schedule.at : undefined;
    case 'rate': {
      const { anchorAt, firstStep } = gridOf(schedule, grid);
      const step = Math.max(Math.floor((afterAt - anchorAt) / schedule.periodMs) + 1, firstStep);
      const at = anchorAt + step * schedule.periodMs;
      return at < RATE_END_AT ? at : undefined;
    }
    case 'cron': {
      const second = nextCronSecond(schedule, Math.floor(afterAt / 1000) + 1);
      return second === undefined ? undefined : second * 1000;
    }
  }
}

/** The last occurrence strictly before an instant (epoch ms), or undefined when there is none from 1970 on. */
export function previousOccurrence(schedule: Schedule, beforeAt: number, grid?: Grid): number | undefined {
  switch (schedule.kind) {
    case 'at':
      return schedule.at < beforeAt ? schedule.at : undefined;
    case 'rate': {
      const { anchorAt, firstStep } = gridOf(schedule, grid);
      const step = Math.ceil((Math.min(beforeAt, RATE_END_AT) - anchorAt) / schedule.periodMs) - 1;
      return step >= firstStep ? anchorAt + step * schedule.periodMs : undefined;
    }
    case 'cron': {
      const second = previousCronSecond(schedule, Math.ceil(beforeAt / 1000) - 1);
      return second === undefined ? undefined : second * 1000;
    }
  }
}

/** The first `limit` occurrences in (afterAt, untilAt], ascending. */
export function occurrencesBetween(
  schedule: Schedule,
  afterAt: number,
  untilAt: number,
  limit: number,
  grid?: Grid,
): number[] {
  const found: number[] = [];
  let at = afterAt;
  while (found.length < limit) {
    const next = nextOccurrence(schedule, at, grid);
    if (next === undefined || next > untilAt) break;
    found.push(next);
    at = next;
  }
  return found;
}

function gridOf(schedule: RateSchedule, grid: Grid | undefined): { anchorAt: number; firstStep: number } {
  if (grid === undefined)
    throw new TypeError(`${schedule.expression} has no occurrences without the grid that it is counted on`);
  return { anchorAt: grid.anchorAt, firstStep: grid.anchorIncluded === true ? 0 : 1 };
}
