import { FIRST_YEAR, LAST_YEAR } from './calendar';
import { rateFor } from './duration';
import type { Item } from './schedule';
import { ScheduleError } from './types';

const MONTH_NAMES = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const;
export const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;

/** What one field of a cron expression may hold. */
export interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** where `*` and `5/15` end, if not at `max` */
  readonly openEnd?: number;
  /** names of the values from `firstNamed` up */
  readonly names?: readonly string[];
  readonly firstNamed?: number;
}

export const SECONDS: FieldRule = { name: 'seconds', min: 0, max: 59 };
export const MINUTES: FieldRule = { name: 'minutes', min: 0, max: 59 };
export const HOURS: FieldRule = { name: 'hours', min: 0, max: 23 };
export const DAYS_OF_MONTH: FieldRule = { name: 'day-of-month', min: 1, max: 31 };
export const MONTHS: FieldRule = { name: 'month', min: 1, max: 12, names: MONTH_NAMES, firstNamed: 1 };
export const YEARS: FieldRule = { name: 'year', min: FIRST_YEAR, max: LAST_YEAR };
/** AWS and Quartz count weekdays from 1 = SUN to 7 = SAT. */
export const AWS_WEEKDAYS: FieldRule = { name: 'day-of-week', min: 1, max: 7, names: WEEKDAY_NAMES, firstNamed: 1 };
/** Unix counts them from 0 = SUN to 6 = SAT and takes 7 for SUN too. */
export const UNIX_WEEKDAYS: FieldRule = {
  name: 'day-of-week',
  min: 0,
  max: 7,
  openEnd: 6,
  names: WEEKDAY_NAMES,
  firstNamed: 0,
};

const EVERY: readonly Item[] = [{ kind: 'every' }];

export function refuseField(rule: FieldRule, value: string, message: string): never {
  throw new ScheduleError(rule.name, value, `${rule.name}: "${value}" ${message}`);
}

/** The allowed range in words: `1 to 12 or JAN to DEC`. */
function rangeText(rule: FieldRule): string {
  const numbers = `${rule.min} to ${rule.max}`;
  return rule.names === undefined ? numbers : `${numbers} or ${rule.names[0]} to ${rule.names.at(-1)}`;
}

/**
 * Reads a whole field: `*`, or a list of values, ranges and steps, and of what `special` knows (it answers undefined for
 * what it leaves to the common rules).
 */
export function parseField<Special = never>(
  text: string,
  rule: FieldRule,
  special: (item: string) => Special | undefined = () => undefined,
): readonly (Item | Special)[] {
  if (text === '*') return EVERY;
  return text.split(',').map((item) => {
    if (item === '')
      refuseField(
        rule,
        text,
        `has an empty place in its list: write values between the commas, such as ${exampleOf(rule)},${exampleOf(rule) + 1}.`,
      );
    return special(item) ?? parseItem(item, rule);
  });
}

function parseItem(item: string, rule: FieldRule): Item {
  const [span = '', stepText, ...more] = item.split('/');
  if (more.length > 0)
    refuseField(rule, item, `has more than one "/": write start/step, such as ${exampleOf(rule)}/2.`);
  const step = stepText === undefined ? undefined : parseStep(stepText, item, rule);
  const openEnd = rule.openEnd ?? rule.max;
  if (span === '*') {
    if (step === undefined)
      refuseField(
        rule,
        '*',
        'already means every value and cannot stand in a list: write * alone, or only the values.',
      );
    return { kind: 'range', from: rule.min, to: openEnd, step };
  }
  if (span === '' && step !== undefined) refuseField(rule, item, `lacks its start: write */${step}.`);
  const [fromText = '', toText, ...others] = span.split('-');
  if (others.length > 0 || fromText === '' || toText === '') {
    refuseField(
      rule,
      item,
      `is not a value or a range: allowed are ${rangeText(rule)}; write a range as ${rule.min}-${rule.max}.`,
    );
  }
  const from = parseValue(fromText, rule);
  if (toText === undefined) {
    return step === undefined
      ? { kind: 'range', from, to: from, step: 1 }
      : { kind: 'range', from, to: Math.max(from, openEnd), step };
  }
  const to = parseValue(toText, rule);
  if (from > to) refuseDescending(item, from, to, step ?? 1, rule, /[A-Z]/i.test(span));
  return { kind: 'range', from, to, step: step ?? 1 };
}

function parseStep(text: string, item: string, rule: FieldRule): number {
  const size = (rule.openEnd ?? rule.max) - rule.min + 1;
  const step = /^\d+$/.test(text) ? Number(text) : NaN;
  if (step >= 1 && step <= size) return step;
  let remedy = `write a whole number from 1 to ${size} after the "/"`;
  const longer = rule === MINUTES || rule === SECONDS || rule === HOURS ? rateFor(`${text} ${rule.name}`) : undefined;
  if (step > size && longer !== undefined) remedy += `, or ${longer} for a longer interval`;
  return refuseField(rule, item, `has the step "${text}", which is not between 1 and ${size}: ${remedy}.`);
}

/** One number or name. */
export function parseValue(text: string, rule: FieldRule): number {
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    if (value >= rule.min && value <= rule.max) return value;
    const sunday = rule === AWS_WEEKDAYS && value === 0 ? ': in cron(...) Sunday is 1, so write 1 or SUN' : '';
    return refuseField(
      rule,
      text,
      `is out of range, allowed are ${rangeText(rule)}${sunday || `: write a value in that range`}.`,
    );
  }
  const index = rule.names?.indexOf(text.toUpperCase()) ?? -1;
  if (index >= 0) return index + (rule.firstNamed ?? 0);
  return refuseField(
    rule,
    text,
    `is not a value of this field, allowed are ${rangeText(rule)}: ${remedyFor(text.toUpperCase(), rule)}.`,
  );
}

function remedyFor(word: string, rule: FieldRule): string {
  const short = word.slice(0, 3);
  const isMonth = MONTH_NAMES.some((name) => name === short);
  const isWeekday = WEEKDAY_NAMES.some((name) => name === short);
  if (word.length > 3 && /^[A-Z]+$/.test(word) && rule.names?.includes(short))
    return `names have three letters, write ${short}`;
  if (isMonth && rule !== MONTHS) return `write ${short} in the month field`;
  if (isWeekday && rule.name !== 'day-of-week') return `write ${short} in the day-of-week field`;
  if (/^(L|L-\d+|LW|\d*W)$/.test(word)) return 'L, L-3, LW and 15W belong into the day-of-month field';
  if (/^\w+#\w*$/.test(word)) return '# belongs into the day-of-week field, such as MON#1';
  if (/^\w+L$/.test(word)) return 'a last weekday such as FRIL belongs into the day-of-week field';
  if (word.includes('?'))
    return '? may stand only alone, and only as day-of-month or day-of-week; write * for every value';
  if (/^\d+\.\d+$/.test(word)) return 'write a whole number';
  if (rule === YEARS)
    return 'write a year, a range such as 2027-2030, a list such as 2027,2029 or a step such as 2027/2';
  return 'write a value, a range such as 1-5, a list such as 1,3 or a step such as */5';
}

/** A value for examples: years that lie behind would be bad ones. */
function exampleOf(rule: FieldRule): number {
  return rule === YEARS ? 2027 : rule.min;
}

/** Cron has no ranges that wrap around, and AWS documents none: to take one silently could mean twelve runs or none. */
function refuseDescending(
  item: string,
  from: number,
  to: number,
  step: number,
  rule: FieldRule,
  named: boolean,
): never {
  let remedy = `${to}-${from}`;
  if (rule !== YEARS) {
    const openEnd = rule.openEnd ?? rule.max;
    const values: number[] = [];
    for (let value = from; value <= to + openEnd - rule.min + 1; value += step) {
      values.push(value > openEnd ? value - openEnd + rule.min - 1 : value);
    }
    const span = (low: number, high: number) => (low === high ? `${low}` : `${low}-${high}`);
    if (named && rule.names !== undefined)
      remedy = values.map((value) => rule.names![value - rule.firstNamed!]).join(',');
    else if (step > 1) remedy = values.join(',');
    else remedy = [...(from > openEnd ? [] : [span(from, openEnd)]), span(rule.min, to)].join(',');
  }
  return refuseField(
    rule,
    item,
    `is a range that runs backwards, allowed are ${rangeText(rule)} in ascending order: write ${remedy}.`,
  );
}
