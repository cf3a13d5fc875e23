import { isEvery } from './cron-days';
import { listOf, ordinal, spanOf } from './describe-list';
import type { CronFields, DayItem, Item, WeekdayItem } from './schedule';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const weekdayName = (weekday: number) => WEEKDAYS[weekday % 7]!;

/** `on Monday to Friday`, `on day 13 of the month or on Fridays`; empty for every day */
export function describeDays(fields: Pick<CronFields, 'daysOfMonth' | 'daysOfWeek'>): string {
  const ofMonth = isEvery(fields.daysOfMonth) ? [] : [`on ${describeDaysOfMonth(fields.daysOfMonth)}`];
  const ofWeek = isEvery(fields.daysOfWeek) ? [] : [`on ${listOf(fields.daysOfWeek.map(describeWeekday))}`];
  return listOf([...ofMonth, ...ofWeek], 'or');
}

/** `in April and May`; empty for every month */
export function describeMonths(months: readonly Item[]): string {
  return isEvery(months) ? '' : `in ${listOf(spansOf(months, 'month', (month) => MONTHS[month - 1]!))}`;
}

/** `in 2027 to 2031`; empty for every year */
export function describeYears(years: readonly Item[]): string {
  return isEvery(years) ? '' : `in ${listOf(spansOf(years, 'year'))}`;
}

function spansOf(items: readonly Item[], unit: string, nameOf?: (value: number) => string): string[] {
  return items.flatMap((item) => (item.kind === 'range' ? [spanOf(item, unit, nameOf)] : []));
}

function describeDaysOfMonth(items: readonly DayItem[]): string {
  const spans: string[] = [];
  let isPlural = false;
  const others: string[] = [];
  for (const item of items) {
    if (item.kind !== 'range') others.push(describeSpecialDay(item));
    else if (item.step > 1 && item.from !== item.to) others.push(spanOf(item, 'day'));
    else {
      isPlural ||= spans.length > 0 || item.from !== item.to;
      spans.push(spanOf(item, 'day'));
    }
  }
  const plain = spans.length > 0 ? [`day${isPlural ? 's' : ''} ${listOf(spans)}`] : [];
  return `${listOf([...plain, ...others])} of the month`;
}

function describeSpecialDay(item: Exclude<DayItem, { kind: 'range' }>): string {
  switch (item.kind) {
    case 'every':
      return 'every day';
    case 'last':
      if (item.before === 0) return 'the last day';
      return `the day ${item.before} day${item.before === 1 ? '' : 's'} before the last`;
    case 'last-workday':
      return 'the last workday (Monday to Friday)';
    case 'nearest-workday':
      return `the workday (Monday to Friday) nearest to day ${item.day}`;
  }
}

function describeWeekday(item: WeekdayItem): string {
  switch (item.kind) {
    case 'every':
      return 'every day';
    case 'range':
      return item.from === item.to ? `${weekdayName(item.from)}s` : spanOf(item, 'day', weekdayName);
    case 'last-weekday':
      return `the last ${weekdayName(item.weekday)} of the month`;
    case 'nth-weekday':
      return `the ${ordinal(item.nth)} ${weekdayName(item.weekday)} of the month`;
  }
}
