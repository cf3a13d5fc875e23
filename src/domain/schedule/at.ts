import { DAY_SECONDS, FIRST_YEAR, LAST_YEAR, dateTimeText, dayNumber, daysInMonth } from './calendar';
import type { AtSchedule } from './schedule';
import { ScheduleError } from './types';
import { zoneOf, type Zone } from './zone';

const FORM = 'at(yyyy-mm-ddThh:mm:ss), for example at(2027-06-01T09:00:00)';

const LAST_LOCAL = dayNumber(LAST_YEAR + 1, 1, 1) * DAY_SECONDS - 1;

function refuse(field: string, value: string, message: string): never {
  throw new ScheduleError(field, value, `${field}: ${message}`);
}

/** `text` stands between the brackets of `at(...)`. */
export function parseAt(text: string, expression: string, timezone: string): AtSchedule {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(text);
  if (match === null) refuse('expression', expression, `"${text}" ${whyNotLocalTime(text)} Write ${FORM}.`);
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];

  const remedy = year < FIRST_YEAR ? FORM : `at(${nearestTime(year, month, day, hour, minute, second, timezone)})`;
  const within = (field: string, value: number, low: number, high: number, hint = '') => {
    if (value >= low && value <= high) return;
    const message = `${value} in at(${text}) is not between ${low} and ${high}${hint}: write ${remedy}.`;
    refuse(field, String(value), message);
  };
  within('year', year, FIRST_YEAR, LAST_YEAR);
  within('month', month, 1, 12);
  const length = daysInMonth(year, month);
  within('day', day, 1, length, `, since that month of ${year} has ${length} days`);
  within('hour', hour, 0, 23, hour === 24 ? ', since midnight is 00:00:00 of the next day' : '');
  within('minute', minute, 0, 59);
  within('second', second, 0, 59);

  const local = dayNumber(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
  const { utc, ambiguous } = instantOfLocal(local, expression, timezone);
  return { kind: 'at', expression, timezone, at: utc * 1000, ambiguous };
}

function whyNotLocalTime(text: string): string {
  if (/(Z|[+-]\d\d:?\d\d)$/i.test(text))
    return 'carries an offset, but the time is local to the time zone of the schedule.';
  if (/^\d{4}-\d\d-\d\d /.test(text)) return 'has a blank where a T must stand.';
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text)) return 'lacks the seconds.';
  if (/\.\d+$/.test(text)) return 'has fractions of a second.';
  return 'is not a local date and time.';
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** The local time that exists and is nearest to what was written, part by part; 24:00:00 is the midnight after. */
function nearestTime(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  timezone: string,
): string {
  const [y, m] = [clamp(year, FIRST_YEAR, LAST_YEAR), clamp(month, 1, 12)];
  const time = clamp(hour, 0, 23) * 3600 + clamp(minute, 0, 59) * 60 + clamp(second, 0, 59);
  const isMidnight = hour === 24 && minute === 0 && second === 0;
  const dayStart = dayNumber(y, m, clamp(day, 1, daysInMonth(y, m))) * DAY_SECONDS;
  const local = Math.min(dayStart + (isMidnight ? DAY_SECONDS : time), LAST_LOCAL);
  const { zone, index } = stretchOf(local, timezone);
  return dateTimeText(Math.max(local, zone.localStart(index)));
}

/** The first stretch of the zone's clock that does not end before this local time: it shows it, unless a gap swallowed it. */
function stretchOf(local: number, timezone: string): { zone: Zone; index: number } {
  const zone = zoneOf(timezone, local);
  // Offsets are less than a day, so that the stretch is this one or one of the next.
  let index = zone.indexAt(local - DAY_SECONDS);
  zone.knowUntil(local + DAY_SECONDS);
  while (local >= zone.localEnd(index)) index++;
  return { zone, index };
}

/** The (first) instant at which the clocks of the zone show this local time, in seconds. */
function instantOfLocal(local: number, expression: string, timezone: string): { utc: number; ambiguous: boolean } {
  const { zone, index } = stretchOf(local, timezone);
  if (local < zone.localStart(index)) {
    const gap = `the clocks go from ${dateTimeText(zone.localEnd(index - 1))} to ${dateTimeText(zone.localStart(index))}`;
    refuse(
      'expression',
      expression,
      `${dateTimeText(local)} does not exist in ${timezone}: ${gap}. ` +
        `Write at(${dateTimeText(zone.localStart(index))}), or a time before the change.`,
    );
  }
  const ambiguous = zone.hasNext(index) && local >= zone.localStart(index + 1);
  return { utc: local - zone.offset(index), ambiguous };
}
