import type { FieldError } from '../domain/errors';
import { iso } from '../domain/event';
import { checkTimezone, parseSchedule, ScheduleError } from '../domain/schedule';

/** Fields that say more about a schedule, and mean nothing without one. */
const OF_ANY_SCHEDULE = ['timezone', 'jitterSeconds'] as const;
/** Fields that mean something only where there is more than one occurrence. */
const OF_RECURRENCE = ['dst', 'start', 'end', 'maxRuns', 'overlap'] as const;

export type ScheduleField = (typeof OF_ANY_SCHEDULE)[number] | (typeof OF_RECURRENCE)[number];

/** What a job's fields come to: created anew, or changed by an edit and seen as a whole. */
export interface ScheduleFields {
  /** `none`: at once or after a delay; `unknown`: there is an expression, and it is wrong in itself */
  kind: 'none' | 'one-off' | 'recurring' | 'unknown';
  given: ReadonlySet<ScheduleField>;
  /** epoch ms; undefined also where it is wrong in itself */
  startAt: number | undefined;
  /** epoch ms */
  endAt: number | undefined;
}

/** Which of these fields may not stand together, with one entry each? `remedy` says how a caller leaves a field out. */
export function fieldsApart(
  { kind, given, startAt, endAt }: ScheduleFields,
  remedy: 'leave it out' | 'take it away with null',
): FieldError[] {
  const apart = (fields: readonly ScheduleField[], beside: string): FieldError[] =>
    fields
      .filter((field) => given.has(field))
      .map((field) => ({ field, message: `must stand beside ${beside} only; ${remedy}` }));
  switch (kind) {
    case 'none':
      return [
        ...apart(OF_ANY_SCHEDULE, 'a schedule'),
        ...apart(OF_RECURRENCE, 'a recurring schedule, such as rate(1 hour) or cron(0 9 * * ? *),'),
      ];
    case 'one-off':
      return apart(OF_RECURRENCE, 'a recurring schedule, not an at(...),');
    case 'recurring':
    case 'unknown':
      return startAt === undefined || endAt === undefined || endAt > startAt
        ? []
        : [{ field: 'end', message: `must lie after start; got ${iso(endAt)}, and the start is ${iso(startAt)}` }];
  }
}

/**
 * What is wrong with an expression and a time zone as they were written, and what the expression is; a zone that is not
 * given, or wrong, counts as UTC.
 */
export function readExpression(
  schedule: string | undefined,
  timezone: string | undefined,
): { errors: FieldError[]; kind: ScheduleFields['kind'] } {
  const ofZone = timezone === undefined ? undefined : faultOf('timezone', () => checkTimezone(timezone));
  const errors = ofZone ? [ofZone] : [];
  if (schedule === undefined) return { errors, kind: 'none' };
  let kind: ScheduleFields['kind'] = 'unknown';
  const ofExpression = faultOf('schedule', () => {
    const zone = timezone === undefined || ofZone ? 'UTC' : timezone;
    kind = parseSchedule(schedule, { timezone: zone }).kind === 'at' ? 'one-off' : 'recurring';
  });
  return { errors: ofExpression ? [...errors, ofExpression] : errors, kind };
}

/** The text of a field of a body, unless it is none or one of these errors is about it. */
export function textIn(body: unknown, field: string, errors: readonly FieldError[]): string | undefined {
  const value = ((body ?? {}) as Record<string, unknown>)[field];
  return typeof value === 'string' && !errors.some((error) => error.field === field) ? value : undefined;
}

function faultOf(field: string, parse: () => void): FieldError | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return { field, message: messageOf(error) };
  }
}

/** Without the name of the part: an entry names its field beside the message. */
export function messageOf(error: ScheduleError): string {
  return error.message.replace(/^(?:expression|timezone): /, '').toWellFormed();
}
