import { dateTimeText } from './calendar';
import { nextLocal } from './cron-search';
import { nextLost } from './cron-walk';
import type { Schedule } from './schedule';
import { zoneOf, type Zone } from './zone';

/** A local time that an expression names and that a change of the clocks leaves out. */
export interface SkippedOccurrence {
  /** `2027-03-14T02:30:00`, which the clocks of the zone never show */
  localTime: string;
  /** the instant at which the clocks go forward, epoch ms */
  gapAt: number;
}

/** A local time that an expression names and that the clocks show twice, once before and once after they go back. */
export interface RepeatedOccurrence {
  localTime: string;
  /** epoch ms */
  firstAt: number;
  secondAt: number;
}

/**
 * The first `limit` local times that are lost, or with `dst.gap: 'run-after'` put off to `gapAt`, in gaps that lie in
 * (afterAt, untilAt], ascending. Expressions for every hour lose only what falls out of their real rhythm; `rate` and `at` nothing.
 */
export function gapsBetween(schedule: Schedule, afterAt: number, untilAt: number, limit: number): SkippedOccurrence[] {
  const skipped: SkippedOccurrence[] = [];
  if (schedule.kind !== 'cron') return skipped;
  forEachChange(schedule.timezone, afterAt, untilAt, (zone, index) => {
    let local = nextLost(schedule, zone, index, zone.localEnd(index - 1));
    while (local !== undefined && skipped.length < limit) {
      skipped.push({ localTime: dateTimeText(local), gapAt: zone.start(index) * 1000 });
      local = nextLost(schedule, zone, index, local + 1);
    }
    return skipped.length < limit;
  });
  return skipped;
}

/** What `gapsBetween` finds, but nothing where those local times run after the gap. */
export function skippedBetween(
  schedule: Schedule,
  afterAt: number,
  untilAt: number,
  limit: number,
): SkippedOccurrence[] {
  if (schedule.kind === 'cron' && schedule.dst.gap === 'run-after') return [];
  return gapsBetween(schedule, afterAt, untilAt, limit);
}

/** The first `limit` local times that exist twice, where the clocks go back in (afterAt, untilAt]. */
export function repeatedBetween(
  schedule: Schedule,
  afterAt: number,
  untilAt: number,
  limit: number,
): RepeatedOccurrence[] {
  const repeated: RepeatedOccurrence[] = [];
  if (schedule.kind !== 'cron' || schedule.everyHour) return repeated;
  forEachChange(schedule.timezone, afterAt, untilAt, (zone, index) => {
    const end = zone.localEnd(index - 1);
    let local = nextLocal(schedule, zone.localStart(index));
    for (; local < end && repeated.length < limit; local = nextLocal(schedule, local + 1)) {
      repeated.push({
        localTime: dateTimeText(local),
        firstAt: (local - zone.offset(index - 1)) * 1000,
        secondAt: (local - zone.offset(index)) * 1000,
      });
    }
    return repeated.length < limit;
  });
  return repeated;
}

/** Shows each stretch that begins in (afterAt, untilAt], until `visit` answers false. */
function forEachChange(
  timezone: string,
  afterAt: number,
  untilAt: number,
  visit: (zone: Zone, index: number) => boolean,
): void {
  const after = Math.floor(afterAt / 1000);
  const until = Math.floor(untilAt / 1000);
  const zone = zoneOf(timezone, after);
  let index = zone.indexAt(after) + 1;
  for (;;) {
    // A year at a time, so that a range without end is looked up only as far as it is of use.
    while (zone.hasNext(index - 1)) {
      if (zone.start(index) > until || !visit(zone, index)) return;
      index++;
    }
    if (!zone.knowMore(until)) return;
  }
}
