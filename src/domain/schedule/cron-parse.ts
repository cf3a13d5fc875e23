import { FIRST_YEAR } from './calendar';
import {
  refuseAwsCount,
  refuseAwsInUnix,
  refuseComma,
  refuseMarks,
  refuseNthList,
  refuseUnixCount,
} from './cron-advice';
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
  const fields = splitFields(inside, 'aws', basis.expression);
  if (fields.length !== 6 && fields.length !== 7) refuseAwsCount(fields, basis.expression, isAccepted);
  const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years] = (
    fields.length === 7 ? fields : ['0', ...fields]
  ) as [string, string, string, string, string, string, string];
  if ((daysOfMonth === '?') === (daysOfWeek === '?')) refuseMarks(fields, isAccepted);
  const cron = cronOf({ seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years }, basis, false);
  const weekdays = cron.fields.daysOfWeek;
  if (weekdays.length > 1 && weekdays.some(({ kind }) => kind === 'nth-weekday'))
    refuseNthList(fields, cron.fields, isAccepted);
  return cron;
}

/** Unix cron: five fields, or six with the seconds first. */
export function parseUnixCron(text: string, basis: CronBasis): CronSchedule {
  const fields = splitFields(text, 'unix', basis.expression);
  if (fields.length !== 5 && fields.length !== 6) refuseUnixCount(fields, basis.expression, isAccepted);
  const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek] = (
    fields.length === 6 ? fields : ['0', ...fields]
  ) as [string, string, string, string, string, string];
  if (fields.length === 6 && (fields[2] === '?' || fields[4] === '?' || /^\d{4}/.test(fields[5]!)))
    refuseAwsInUnix(fields, basis.expression, isAccepted);
  return cronOf({ seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years: '*' }, basis, true);
}

/** For advice only. The zone does not matter: whether local times exist is not asked of cron. */
function isAccepted(form: 'aws' | 'unix', text: string): boolean {
  const basis = { expression: text, timezone: 'UTC', dst: undefined };
  try {
    if (form === 'aws') parseAwsCron(text, basis);
    else parseUnixCron(text, basis);
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
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

function splitFields(text: string, form: 'aws' | 'unix', expression: string): string[] {
  const fields = text.split(/[ \t]+/).filter((field) => field !== '');
  if (fields.some((field) => field.startsWith(',') || field.endsWith(',')))
    refuseComma(fields, form, expression, isAccepted);
  return fields;
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
