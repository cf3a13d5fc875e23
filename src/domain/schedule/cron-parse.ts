import { FIRST_YEAR } from './calendar';
import { dayMasksOf, hasAnyDate, parseDaysOfMonth, parseDaysOfWeek, valuesOf } from './cron-days';
import {
  AWS_WEEKDAYS,
  DAYS_OF_MONTH,
  HOURS,
  MINUTES,
  MONTHS,
  SECONDS,
  UNIX_WEEKDAYS,
  YEARS,
  parseField,
  refuseField,
} from './cron-field';
import type { CronFields, CronSchedule } from './schedule';
import { ScheduleError, type DstOptions } from './types';

const ALL_HOURS = 2 ** 24 - 1;

/** The texts of all seven fields, whichever form they were written in. */
interface FieldTexts {
  seconds: string;
  minutes: string;
  hours: string;
  daysOfMonth: string;
  months: string;
  daysOfWeek: string;
  years: string;
}

export type CronBasis = Pick<CronSchedule, 'expression' | 'timezone'> & { dst: DstOptions | undefined };

/** The fields between the brackets of `cron(...)`: six as AWS has them, or seven with the seconds first. */
export function parseAwsCron(inside: string, basis: CronBasis): CronSchedule {
  const fields = splitFields(inside, basis.expression);
  if (fields.length !== 6 && fields.length !== 7) refuseAwsCount(fields, basis.expression);
  const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years] = (
    fields.length === 7 ? fields : ['0', ...fields]
  ) as [string, string, string, string, string, string, string];
  if ((daysOfMonth === '?') === (daysOfWeek === '?')) refuseMarks(fields, daysOfMonth, daysOfWeek);
  return cronOf({ seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years }, basis, false);
}

/** Unix cron: five fields, or six with the seconds first. */
export function parseUnixCron(text: string, basis: CronBasis): CronSchedule {
  const fields = splitFields(text, basis.expression);
  if (fields.length !== 5 && fields.length !== 6) refuseUnixCount(fields, basis.expression);
  const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek] = (
    fields.length === 6 ? fields : ['0', ...fields]
  ) as [string, string, string, string, string, string];
  if (fields.length === 6 && (fields[2] === '?' || fields[4] === '?' || /^\d{4}/.test(fields[5]!))) {
    const message = `looks like the six fields of AWS, but Unix cron with six begins with the seconds: write cron(${fields.join(' ')}).`;
    throw new ScheduleError('expression', basis.expression, `expression: "${basis.expression}" ${message}`);
  }
  return cronOf({ seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years: '*' }, basis, true);
}

function cronOf(texts: FieldTexts, basis: CronBasis, isUnix: boolean): CronSchedule {
  const weekdayRule = isUnix ? UNIX_WEEKDAYS : AWS_WEEKDAYS;
  const starOf = (text: string) => (text === '?' ? '*' : text);
  const fields: CronFields = {
    seconds: parseField(texts.seconds, SECONDS),
    minutes: parseField(texts.minutes, MINUTES),
    hours: parseField(texts.hours, HOURS),
    daysOfMonth: parseDaysOfMonth(starOf(texts.daysOfMonth)),
    months: parseField(texts.months, MONTHS),
    daysOfWeek: parseDaysOfWeek(starOf(texts.daysOfWeek), weekdayRule),
    years: parseField(texts.years, YEARS),
  };
  const hours = valuesOf(fields.hours, HOURS);
  const months = valuesOf(fields.months, MONTHS);
  const years = valuesOf(fields.years, YEARS, FIRST_YEAR);
  const dayMasks = dayMasksOf(fields.daysOfMonth, fields.daysOfWeek, isUnix);
  if (!hasAnyDate(years, months, dayMasks, FIRST_YEAR)) refuseImpossible(texts, fields);
  return {
    kind: 'cron',
    expression: basis.expression,
    timezone: basis.timezone,
    dst: { gap: basis.dst?.gap ?? 'skip', overlap: basis.dst?.overlap ?? 'first' },
    fields,
    seconds: valuesOf(fields.seconds, SECONDS),
    minutes: valuesOf(fields.minutes, MINUTES),
    hours,
    months,
    years,
    dayMasks,
    everyHour: hours[0] === ALL_HOURS,
  };
}

function splitFields(text: string, expression: string): string[] {
  const fields = text.split(/[ \t]+/).filter((field) => field !== '');
  if (fields.some((field) => field.startsWith(',') || field.endsWith(','))) {
    const joined = fields.join(' ').replace(/ ?, ?/g, ',');
    const message = `has a list that ends in a comma, or blanks beside one: write its values together, as in ${joined}.`;
    throw new ScheduleError('expression', expression, `expression: "${expression}" ${message}`);
  }
  return fields;
}

function refuseCount(expression: string, count: number, message: string): never {
  throw new ScheduleError(
    'expression',
    expression,
    `expression: "${expression}" has ${count} field${count === 1 ? '' : 's'}, ${message}`,
  );
}

function refuseAwsCount(fields: string[], expression: string): never {
  const form =
    'but cron(...) takes six (minutes hours day-of-month month day-of-week year) or seven with the seconds first';
  if (fields.length !== 5) refuseCount(expression, fields.length, `${form}: write for example cron(0 9 * * ? *).`);
  const withYear = fields.includes('?') ? fields : fields.with(fields[4] === '*' ? 4 : 2, '?');
  const unix = fields.includes('?') ? '' : `, or ${fields.join(' ')} without cron(...) for Unix cron`;
  return refuseCount(expression, 5, `${form}; the year is missing: write cron(${withYear.join(' ')} *)${unix}.`);
}

function refuseUnixCount(fields: string[], expression: string): never {
  const form = 'but Unix cron takes five (minutes hours day-of-month month day-of-week) or six with the seconds first';
  const remedy =
    fields.length === 7
      ? `cron(${fields.join(' ')})`
      : '0 9 * * MON-FRI, cron(0 9 * * ? *), rate(5 minutes) or at(2027-06-01T09:00:00)';
  return refuseCount(expression, fields.length, `${form}: write for example ${remedy}.`);
}

/** AWS: day-of-month and day-of-week cannot both be given; exactly one of them is `?`. */
function refuseMarks(fields: string[], daysOfMonth: string, daysOfWeek: string): never {
  const monthPlace = fields.length - 4;
  const weekPlace = fields.length - 2;
  const corrected = (place: number, text: string) => `cron(${fields.with(place, text).join(' ')})`;
  if (daysOfMonth === '?') {
    refuseField(
      DAYS_OF_MONTH,
      '?',
      `stands in day-of-week too, but exactly one of the two is "?": write ${corrected(monthPlace, '*')}.`,
    );
  }
  const rule = 'cannot both be given, exactly one of the two is "?"';
  if (daysOfWeek === '*')
    refuseField(AWS_WEEKDAYS, '*', `and day-of-month "${daysOfMonth}" ${rule}: write ${corrected(weekPlace, '?')}.`);
  const other =
    daysOfMonth === '*'
      ? ''
      : ` or ${corrected(weekPlace, '?')}; Unix cron, without cron(...), takes either of the two days`;
  return refuseField(
    AWS_WEEKDAYS,
    daysOfWeek,
    `and day-of-month "${daysOfMonth}" ${rule}: write ${corrected(monthPlace, '?')}${other}.`,
  );
}

function refuseImpossible(texts: FieldTexts, fields: CronFields): never {
  const within = `in month "${texts.months}" and year "${texts.years}" from 1970 to 2199`;
  if (fields.daysOfMonth[0]?.kind === 'every') {
    refuseField(
      AWS_WEEKDAYS,
      texts.daysOfWeek,
      `never comes ${within}: write #1 to #4, or L after the weekday for the last one of a month.`,
    );
  }
  return refuseField(
    DAYS_OF_MONTH,
    texts.daysOfMonth,
    `never comes ${within}: write a day that these months have, or L for the last day.`,
  );
}
