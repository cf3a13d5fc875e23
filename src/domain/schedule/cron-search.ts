import { DAY_SECONDS, FIRST_YEAR, LAST_YEAR, dayNumber, daysInMonth, packedDate, weekdayOf } from './calendar';
import { hasBit, nextBit, nextBitOfWord, previousBit, previousBitOfWord } from './bits';
import { dayMaskIndex } from './cron-days';
import type { CronSchedule } from './schedule';

/**
 * The search over local times as if no clock were ever changed. Local times are seconds since 1970-01-01T00:00:00 as the
 * wall shows them. Each step is a look-up in a bit set, so that a search is a handful of them, and never more than one per
 * year and month that the expression names.
 */
export function nextLocal(cron: CronSchedule, from: number): number {
  if (from === -Infinity) return nextLocal(cron, 0);
  const day = Math.floor(from / DAY_SECONDS);
  const packed = packedDate(day);
  let year = packed >> 9;
  let month = (packed >> 5) & 15;
  const dayOfMonth = packed & 31;
  if (year < FIRST_YEAR) return nextLocal(cron, 0);
  if (year > LAST_YEAR) return Infinity;

  if (hasBit(cron.years, year - FIRST_YEAR) && hasBit(cron.months, month)) {
    const mask = maskOfMonth(cron, year, month, day - dayOfMonth + 1);
    if ((mask >>> dayOfMonth) & 1) {
      const second = nextTime(cron, from - day * DAY_SECONDS);
      if (second >= 0) return day * DAY_SECONDS + second;
    }
    const found = nextBitOfWord(mask, dayOfMonth + 1);
    if (found >= 0) return (day - dayOfMonth + found) * DAY_SECONDS + nextTime(cron, 0);
  }
  month = hasBit(cron.years, year - FIRST_YEAR) ? nextBit(cron.months, month + 1) : -1;
  for (;;) {
    for (; month >= 0; month = nextBit(cron.months, month + 1)) {
      const first = dayNumber(year, month, 1);
      const found = nextBitOfWord(maskOfMonth(cron, year, month, first), 1);
      if (found >= 0) return (first + found - 1) * DAY_SECONDS + nextTime(cron, 0);
    }
    year = nextBit(cron.years, year - FIRST_YEAR + 1) + FIRST_YEAR;
    if (year < FIRST_YEAR) return Infinity;
    month = nextBit(cron.months, 1);
  }
}

/** The latest matching local time that is not after `from`, or -Infinity. */
export function previousLocal(cron: CronSchedule, from: number): number {
  const day = Math.floor(from / DAY_SECONDS);
  const packed = packedDate(day);
  let year = packed >> 9;
  let month = (packed >> 5) & 15;
  const dayOfMonth = packed & 31;
  if (!(year >= FIRST_YEAR)) return -Infinity;
  if (year > LAST_YEAR) return previousLocal(cron, dayNumber(LAST_YEAR + 1, 1, 1) * DAY_SECONDS - 1);

  const lastTime = DAY_SECONDS - 1;
  if (hasBit(cron.years, year - FIRST_YEAR) && hasBit(cron.months, month)) {
    const mask = maskOfMonth(cron, year, month, day - dayOfMonth + 1);
    if ((mask >>> dayOfMonth) & 1) {
      const second = previousTime(cron, from - day * DAY_SECONDS);
      if (second >= 0) return day * DAY_SECONDS + second;
    }
    const found = previousBitOfWord(mask, dayOfMonth - 1);
    if (found >= 0) return (day - dayOfMonth + found) * DAY_SECONDS + previousTime(cron, lastTime);
  }
  month = hasBit(cron.years, year - FIRST_YEAR) ? previousBit(cron.months, month - 1) : -1;
  for (;;) {
    for (; month >= 0; month = previousBit(cron.months, month - 1)) {
      const first = dayNumber(year, month, 1);
      const found = previousBitOfWord(maskOfMonth(cron, year, month, first), 31);
      if (found >= 0) return (first + found - 1) * DAY_SECONDS + previousTime(cron, lastTime);
    }
    year = previousBit(cron.years, year - FIRST_YEAR - 1) + FIRST_YEAR;
    if (year < FIRST_YEAR) return -Infinity;
    month = previousBit(cron.months, 12);
  }
}

function maskOfMonth(cron: CronSchedule, year: number, month: number, firstDay: number): number {
  return cron.dayMasks[dayMaskIndex(daysInMonth(year, month), weekdayOf(firstDay))]!;
}

/** The first matching second of a day that is at least `from`, or -1. */
function nextTime(cron: CronSchedule, from: number): number {
  const hour = Math.floor(from / 3600);
  const minute = Math.floor(from / 60) % 60;
  if (hasBit(cron.hours, hour)) {
    if (hasBit(cron.minutes, minute)) {
      const second = nextBit(cron.seconds, from % 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const later = nextBit(cron.minutes, minute + 1);
    if (later >= 0) return hour * 3600 + later * 60 + nextBit(cron.seconds, 0);
  }
  const laterHour = nextBit(cron.hours, hour + 1);
  return laterHour < 0 ? -1 : laterHour * 3600 + nextBit(cron.minutes, 0) * 60 + nextBit(cron.seconds, 0);
}

/** The last matching second of a day that is at most `from`, or -1. */
function previousTime(cron: CronSchedule, from: number): number {
  const hour = Math.floor(from / 3600);
  const minute = Math.floor(from / 60) % 60;
  if (hasBit(cron.hours, hour)) {
    if (hasBit(cron.minutes, minute)) {
      const second = previousBit(cron.seconds, from % 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const earlier = previousBit(cron.minutes, minute - 1);
    if (earlier >= 0) return hour * 3600 + earlier * 60 + previousBit(cron.seconds, 59);
  }
  const earlierHour = previousBit(cron.hours, hour - 1);
  return earlierHour < 0 ? -1 : earlierHour * 3600 + previousBit(cron.minutes, 59) * 60 + previousBit(cron.seconds, 59);
}
