import { timeText } from './calendar';
import { nextBit } from './bits';
import { isEvery } from './cron-days';
import { describeDays, describeMonths, describeYears } from './describe-dates';
import { listOf, spanOf } from './describe-list';
import type { Bits, CronSchedule, Item, RateSchedule, Schedule } from './schedule';
import { toLocalText } from './zone';

/** Up to so many times of day are told one by one. */
const MOST_TIMES = 12;

/** The schedule in plain English, such as `At 09:30 on Monday to Friday (Europe/Berlin)`. */
export function describeSchedule(schedule: Schedule): string {
  switch (schedule.kind) {
    case 'at': {
      const [date, time] = toLocalText(schedule.at, schedule.timezone).slice(0, 19).split('T');
      const which = schedule.ambiguous ? ', the first of the two times that the clocks show it' : '';
      return `Once, on ${date} at ${time} (${schedule.timezone})${which}`;
    }
    case 'rate':
      return describeRate(schedule);
    case 'cron':
      return describeCron(schedule);
  }
}

function describeRate({ value, unit }: RateSchedule): string {
  const hours = unit === 'day' ? ` of 24 hours` : '';
  return value === 1 ? `Every ${unit}${hours}` : `Every ${value} ${unit}s${hours}`;
}

function describeCron(cron: CronSchedule): string {
  const time = describeTimes(cron);
  const everyDay = /\bevery\b/.test(time) ? '' : 'every day';
  const days = describeDays(cron.fields) || everyDay;
  const words = [time, days, describeMonths(cron.fields.months), describeYears(cron.fields.years)];
  const text = words.filter((word) => word !== '').join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} (${cron.timezone})`;
}

function describeTimes(cron: CronSchedule): string {
  const { seconds, minutes, hours } = cron.fields;
  const times = timesOfDay(cron);
  if (times.length <= MOST_TIMES) return `at ${listOf(times)}`;

  const onTheMinute = nextBit(cron.seconds, 1) < 0 && nextBit(cron.seconds, 0) === 0;
  const inHours = isEvery(hours) ? '' : ` in ${unitOf(hours, 'hour', 0, 23)}`;
  const minuteWords = rhythmOf(minutes, 'minute', 59);
  if (onTheMinute) {
    if (minuteWords !== undefined) return `${minuteWords}${inHours}`;
    return `at ${unitOf(minutes, 'minute', 0, 59)} of ${isEvery(hours) ? 'every hour' : unitOf(hours, 'hour', 0, 23)}`;
  }
  const secondWords = rhythmOf(seconds, 'second', 59) ?? `at ${unitOf(seconds, 'second', 0, 59)}`;
  if (isEvery(minutes)) return `${secondWords}${secondWords.startsWith('at') ? ' of every minute' : ''}${inHours}`;
  return `${secondWords} of ${unitOf(minutes, 'minute', 0, 59)}${isEvery(hours) ? '' : inHours.replace(' in ', ' of ')}`;
}

/** `every minute`, `every 5 minutes`; undefined for what has no even rhythm from one hour (minute) to the next. */
function rhythmOf(items: readonly Item[], unit: string, max: number): string | undefined {
  const [item] = items;
  if (items.length !== 1 || item === undefined) return undefined;
  if (item.kind === 'every') return `every ${unit}`;
  const isEven = item.from === 0 && item.to === max && (max + 1) % item.step === 0;
  if (!isEven) return undefined;
  return item.step === 1 ? `every ${unit}` : `every ${item.step} ${unit}s`;
}

/** `minute 5`, `minutes 0 to 10 and 30`, `every 7th minute from 0 to 59` */
function unitOf(items: readonly Item[], unit: string, min: number, max: number): string {
  if (isEvery(items)) return `every ${unit}`;
  const spans = items.map((item) =>
    item.kind === 'every' ? spanOf({ from: min, to: max, step: 1 }, unit) : spanOf(item, unit),
  );
  const [only] = items;
  const isPlural = items.length > 1 || (only?.kind === 'range' && only.from !== only.to);
  const needsUnit = items.some((item) => item.kind === 'range' && item.step === 1);
  return needsUnit ? `${unit}${isPlural ? 's' : ''} ${listOf(spans)}` : listOf(spans);
}

/** All times of a day, but not many more than are told. */
function timesOfDay(cron: CronSchedule): string[] {
  const times: string[] = [];
  const isWhole = nextBit(cron.seconds, 1) < 0;
  for (const hour of membersOf(cron.hours)) {
    for (const minute of membersOf(cron.minutes)) {
      for (const second of membersOf(cron.seconds)) {
        if (times.length > MOST_TIMES) return times;
        const text = timeText(hour * 3600 + minute * 60 + second);
        times.push(isWhole ? text.slice(0, 5) : text);
      }
    }
  }
  return times;
}

function* membersOf(bits: Bits): Generator<number> {
  for (let value = nextBit(bits, 0); value >= 0; value = nextBit(bits, value + 1)) yield value;
}
