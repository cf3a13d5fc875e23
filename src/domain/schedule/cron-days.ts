import { dayNumber, daysInMonth, weekdayOf } from './calendar';
import { bitsOf, nextBit } from './bits';
import { DAYS_OF_MONTH, WEEKDAY_NAMES, parseField, parseValue, refuseField, type FieldRule } from './cron-field';
import type { Bits, DayItem, Item, WeekdayItem } from './schedule';

export function parseDaysOfMonth(text: string): readonly DayItem[] {
  return parseField<DayItem>(text, DAYS_OF_MONTH, (item) => {
    const word = item.toUpperCase();
    if (word === 'L') return { kind: 'last', before: 0 };
    if (word === 'LW') return { kind: 'last-workday' };
    const before = /^L-(\d+)$/.exec(word)?.[1];
    if (before !== undefined) {
      const days = Number(before);
      if (days >= 1 && days <= 30) return { kind: 'last', before: days };
      refuseField(DAYS_OF_MONTH, item, 'is not a day of any month: write L-1 to L-30, or L for the last day.');
    }
    const nearest = /^(\d+)W$/.exec(word)?.[1];
    if (nearest !== undefined) return { kind: 'nearest-workday', day: parseValue(nearest, DAYS_OF_MONTH) };
    if (/[LW]/.test(word) && !/[A-Z]{3}/.test(word)) {
      refuseField(
        DAYS_OF_MONTH,
        item,
        'is not a day of the month, allowed are 1 to 31: write L, L-3, LW or a single day such as 15W.',
      );
    }
    return undefined;
  });
}

/** The answer counts from 0 (Sunday), whatever the dialect counts from. */
export function parseDaysOfWeek(text: string, rule: FieldRule): readonly WeekdayItem[] {
  const weekday = (value: string) => (parseValue(value, rule) - rule.firstNamed!) % 7;
  const items = parseField<WeekdayItem>(text, rule, (item) => {
    if (item.includes('#')) return parseNth(item, rule, weekday);
    const last = /^(\w+)L$/i.exec(item)?.[1];
    if (last !== undefined) return { kind: 'last-weekday', weekday: weekday(last) };
    if (item.toUpperCase() !== 'L') return undefined;
    // AWS: "the last day of the week", which is 7 = SAT. Unix has no last day of a week.
    if (rule.min === 1) return { kind: 'range', from: rule.max, to: rule.max, step: 1 };
    return refuseField(rule, item, 'is no weekday here: write SAT, or FRIL for the last Friday of the month.');
  });
  return items.map((item) =>
    item.kind === 'range' ? { ...item, from: item.from - rule.firstNamed!, to: item.to - rule.firstNamed! } : item,
  );
}

function parseNth(item: string, rule: FieldRule, weekday: (value: string) => number): WeekdayItem {
  const [day = '', nthText = '', ...more] = item.split('#');
  const nth = /^\d+$/.test(nthText) && more.length === 0 ? Number(nthText) : NaN;
  const isWeekday = /^\w+$/.test(day);
  if (nth >= 1 && nth <= 5 && isWeekday) return { kind: 'nth-weekday', weekday: weekday(day), nth };
  const [, from, to] = /^(\w+)-(\w+)$/.exec(day) ?? [];
  if (nth >= 1 && nth <= 5 && from !== undefined && to !== undefined) {
    const names: string[] = [];
    for (let value = weekday(from); names.length < 7; value = (value + 1) % 7) {
      names.push(`${WEEKDAY_NAMES[value]!}#${nth}`);
      if (value === weekday(to)) break;
    }
    const list = names.join(',');
    const remedy =
      rule.min === 1
        ? `one, such as ${names[0]!}, and make a job for each, or write Unix cron without cron(...) and there ${list}`
        : list;
    refuseField(rule, item, `has "#" after a range, and it takes one weekday: write ${remedy}.`);
  }
  return refuseField(
    rule,
    item,
    'is not a weekday of a month, which has each at most 5 times: write MON#1 to MON#5, or MONL for the last one.',
  );
}

export function isEvery(items: readonly { readonly kind: string }[]): boolean {
  return items[0]?.kind === 'every';
}

/** The values of a field; `offset` is subtracted from each. */
export function valuesOf(items: readonly Item[], rule: FieldRule, offset = 0): Bits {
  const values: number[] = [];
  for (const item of items) {
    const { from, to, step } = item.kind === 'every' ? { from: rule.min, to: rule.max, step: 1 } : item;
    for (let value = from; value <= to; value += step) values.push(value - offset);
  }
  return bitsOf(values, rule.max - offset);
}

/** Where in `dayMasks` the days of such a month are; `firstWeekday` is that of its first day, 0 being Sunday. */
export function dayMaskIndex(length: number, firstWeekday: number): number {
  return (length - 28) * 7 + firstWeekday;
}

/** The days of all 28 kinds of month. `either`: where both fields name days, a day of one of them is enough (Unix). */
export function dayMasksOf(
  daysOfMonth: readonly DayItem[],
  daysOfWeek: readonly WeekdayItem[],
  either: boolean,
): readonly number[] {
  const isUnion = either && !isEvery(daysOfMonth) && !isEvery(daysOfWeek);
  const masks: number[] = [];
  for (let length = 28; length <= 31; length++) {
    for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
      let byMonth = 0;
      let byWeek = 0;
      for (const item of daysOfMonth) byMonth |= maskOfDayItem(item, length, firstWeekday);
      for (const item of daysOfWeek) byWeek |= maskOfWeekdayItem(item, length, firstWeekday);
      masks.push(isUnion ? byMonth | byWeek : byMonth & byWeek);
    }
  }
  return masks;
}

/** The days from `from` to `to`, `step` apart. */
function maskOfDays(from: number, to: number, step: number): number {
  let mask = 0;
  for (let day = from; day <= to; day += step) mask |= 1 << day;
  return mask;
}

function maskOfDayItem(item: DayItem, length: number, firstWeekday: number): number {
  switch (item.kind) {
    case 'every':
      return maskOfDays(1, length, 1);
    case 'range':
      return maskOfDays(item.from, Math.min(item.to, length), item.step);
    case 'last':
      return item.before < length ? 1 << (length - item.before) : 0;
    case 'last-workday':
      return 1 << nearestWorkday(length, length, firstWeekday);
    case 'nearest-workday':
      return item.day <= length ? 1 << nearestWorkday(item.day, length, firstWeekday) : 0;
  }
}

/** A Saturday yields to the Friday before, a Sunday to the Monday after, but neither leaves the month. */
function nearestWorkday(day: number, length: number, firstWeekday: number): number {
  const weekday = (firstWeekday + day - 1) % 7;
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < length ? day + 1 : day - 2;
  return day;
}

/** The first day of the month that is such a weekday. */
function firstDayOf(weekday: number, firstWeekday: number): number {
  return ((weekday - firstWeekday + 7) % 7) + 1;
}

function maskOfWeekdayItem(item: WeekdayItem, length: number, firstWeekday: number): number {
  switch (item.kind) {
    case 'every':
      return maskOfDays(1, length, 1);
    case 'range': {
      let mask = 0;
      // In Unix a range may end at 7, which is Sunday again.
      for (let weekday = item.from; weekday <= item.to; weekday += item.step) {
        mask |= maskOfDays(firstDayOf(weekday % 7, firstWeekday), length, 7);
      }
      return mask;
    }
    case 'last-weekday': {
      const first = firstDayOf(item.weekday, firstWeekday);
      return 1 << (first + 7 * Math.floor((length - first) / 7));
    }
    case 'nth-weekday': {
      const day = firstDayOf(item.weekday, firstWeekday) + 7 * (item.nth - 1);
      return day <= length ? 1 << day : 0;
    }
  }
}

/** Is there any date from 1970 to 2199 in these years and months? At most 2,760 look-ups. */
export function hasAnyDate(years: Bits, months: Bits, dayMasks: readonly number[], firstYear: number): boolean {
  for (let y = nextBit(years, 0); y >= 0; y = nextBit(years, y + 1)) {
    for (let month = nextBit(months, 1); month >= 0; month = nextBit(months, month + 1)) {
      if (dayMasks[dayMaskIndexOf(firstYear + y, month)] !== 0) return true;
    }
  }
  return false;
}

function dayMaskIndexOf(year: number, month: number): number {
  return dayMaskIndex(daysInMonth(year, month), weekdayOf(dayNumber(year, month, 1)));
}
