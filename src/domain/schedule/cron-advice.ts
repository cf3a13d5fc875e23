import { AWS_WEEKDAYS, DAYS_OF_MONTH, WEEKDAY_NAMES, refuseField } from './cron-field';
import type { CronFields, WeekdayItem } from './schedule';
import { ScheduleError } from './types';

/**
 * Is this text accepted, inside of `cron(...)` or as Unix cron? What is computed from a refused expression is advised only
 * if it is: it may have other faults.
 */
export type Judge = (form: 'aws' | 'unix', text: string) => boolean;

const EXAMPLE = 'for example cron(0 9 * * ? *)';

function refuse(expression: string, message: string): never {
  throw new ScheduleError('expression', expression, `expression: "${expression}" ${message}`);
}

/** The same six or seven fields with exactly one "?" at the two days, as `cron(...)`: none, one or two that are accepted. */
function withOneMark(fields: readonly string[], isAccepted: Judge): string[] {
  const [monthPlace, weekPlace] = [fields.length - 4, fields.length - 2];
  const [daysOfMonth, daysOfWeek] = [fields[monthPlace], fields[weekPlace]];
  let choices: (readonly string[])[];
  if (daysOfMonth === '?' && daysOfWeek === '?') choices = [fields.with(monthPlace, '*')];
  else if (daysOfMonth === '?' || daysOfWeek === '?') choices = [fields];
  else if (daysOfWeek === '*') choices = [fields.with(weekPlace, '?')];
  else if (daysOfMonth === '*') choices = [fields.with(monthPlace, '?')];
  else choices = [fields.with(monthPlace, '?'), fields.with(weekPlace, '?')];
  return choices
    .map((choice) => choice.join(' '))
    .filter((text) => isAccepted('aws', text))
    .map((text) => `cron(${text})`);
}

/** A comma at an end of a field: the values are meant to stand together, or the comma is one too many. */
export function refuseComma(
  fields: readonly string[],
  form: 'aws' | 'unix',
  expression: string,
  isAccepted: Judge,
): never {
  const together = fields.join(' ').replace(/ ?, ?/g, ',');
  const without = fields.map((field) => field.replace(/^,+|,+$/g, '')).join(' ');
  // A text that still ends a field in a comma would be judged by coming back to here.
  const choices = /(^| ),|,( |$)/.test(together) ? [without] : [together, without];
  const meant = choices.find((text) => isAccepted(form, text));
  const remedy =
    meant === undefined ? 'such as 1,2 in one field' : `as in ${form === 'aws' ? `cron(${meant})` : meant}`;
  return refuse(
    expression,
    `has a list that ends in a comma, or blanks beside one: write its values together, ${remedy}.`,
  );
}

function refuseCount(expression: string, count: number, message: string): never {
  refuse(expression, `has ${count} field${count === 1 ? '' : 's'}, ${message}`);
}

export function refuseAwsCount(fields: readonly string[], expression: string, isAccepted: Judge): never {
  const form =
    'but cron(...) takes six (minutes hours day-of-month month day-of-week year) or seven with the seconds first';
  if (fields.length !== 5) refuseCount(expression, fields.length, `${form}: write ${EXAMPLE}.`);
  const remedies = withOneMark([...fields, '*'], isAccepted);
  const asUnix = fields.join(' ');
  if (!fields.includes('?') && isAccepted('unix', asUnix)) remedies.push(`${asUnix} without cron(...) for Unix cron`);
  return refuseCount(expression, 5, `${form}; the year is missing: write ${remedies.join(', or ') || EXAMPLE}.`);
}

export function refuseUnixCount(fields: readonly string[], expression: string, isAccepted: Judge): never {
  const form = 'but Unix cron takes five (minutes hours day-of-month month day-of-week) or six with the seconds first';
  const remedy =
    (fields.length === 7 && withOneMark(fields, isAccepted).join(' or ')) ||
    'for example 0 9 * * MON-FRI, cron(0 9 * * ? *), rate(5 minutes) or at(2027-06-01T09:00:00)';
  return refuseCount(expression, fields.length, `${form}: write ${remedy}.`);
}

/** Six fields whose last is a year, or one of whose days is "?" where AWS has it. */
export function refuseAwsInUnix(fields: readonly string[], expression: string, isAccepted: Judge): never {
  const remedy = withOneMark(fields, isAccepted).join(' or ') || EXAMPLE;
  return refuse(
    expression,
    `looks like the six fields of AWS, but Unix cron with six begins with the seconds: write ${remedy}.`,
  );
}

/** AWS: day-of-month and day-of-week cannot both be given; exactly one of them is `?`. */
export function refuseMarks(fields: readonly string[], isAccepted: Judge): never {
  const daysOfMonth = fields.at(-4)!;
  const daysOfWeek = fields.at(-2)!;
  const remedy = withOneMark(fields, isAccepted).join(' or ') || EXAMPLE;
  if (daysOfMonth === '?') {
    const message = `stands in day-of-week too, but exactly one of the two is "?": write ${remedy}.`;
    refuseField(DAYS_OF_MONTH, '?', message);
  }
  const either =
    daysOfMonth === '*' || daysOfWeek === '*' ? '' : '; Unix cron, without cron(...), takes either of the two days';
  return refuseField(
    AWS_WEEKDAYS,
    daysOfWeek,
    `and day-of-month "${daysOfMonth}" cannot both be given, exactly one of the two is "?": write ${remedy}${either}.`,
  );
}

/** AWS takes only one expression where there is a "#"; Unix cron has no years. `fields` are those of the parsed `texts`. */
export function refuseNthList(texts: readonly string[], fields: CronFields, isAccepted: Judge): never {
  const asUnix = [...texts.slice(0, -2), fields.daysOfWeek.map(unixText).join(',')].join(' ').replace('?', '*');
  const remedy =
    texts.at(-1) === '*' && isAccepted('unix', asUnix) ? `, or write Unix cron without cron(...), ${asUnix}` : '';
  return refuseField(
    AWS_WEEKDAYS,
    texts.at(-2)!,
    `has "#" in a list, and AWS takes only one expression there: make a job for each${remedy}.`,
  );
}

/** By names, since Unix counts its weekdays otherwise. */
function unixText(item: WeekdayItem): string {
  const nameOf = (weekday: number) => WEEKDAY_NAMES[weekday]!;
  switch (item.kind) {
    case 'every':
      return '*';
    case 'last-weekday':
      return `${nameOf(item.weekday)}L`;
    case 'nth-weekday':
      return `${nameOf(item.weekday)}#${item.nth}`;
    case 'range': {
      const span = item.from === item.to ? nameOf(item.from) : `${nameOf(item.from)}-${nameOf(item.to)}`;
      return item.step === 1 ? span : `${span}/${item.step}`;
    }
  }
}
