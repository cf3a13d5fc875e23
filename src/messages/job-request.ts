import * as z from 'zod';
import { InputError, PayloadTooLargeError, type FieldError } from '../domain/errors';
import type { JobRequest, ScheduleRequest } from '../domain/job-request';
import { LIMITS } from '../domain/limits';
import type { DstOptions } from '../domain/schedule';
import { parseInstant } from './instant';
import * as fields from './job-fields';
import { hasLoneSurrogate, rawAt } from './raw-json';
import { amount, check, identifier, instant, object, oneEach, target } from './rules';
import { fieldsApart, readExpression, textIn, type ScheduleField } from './schedule-fields';

/** What `POST /jobs` takes, and `job` in the message `job-create`. */
export const jobBody = object(
  {
    jobId: identifier().optional(),
    name: fields.name.optional(),
    tags: fields.tags.default([]),
    target: target(),
    schedule: fields.schedule.optional(),
    delaySeconds: amount('of seconds ', 0, LIMITS.delaySeconds).optional(),
    timezone: fields.timezone.optional(),
    dst: fields.dst.optional(),
    start: instant().optional(),
    end: instant().optional(),
    maxRuns: fields.maxRuns.optional(),
    overlap: fields.overlap.optional(),
    jitterSeconds: fields.jitterSeconds.optional(),
    payload: z.unknown().optional(),
    retry: fields.retry.prefault({}),
    misfire: fields.misfire.prefault({}),
    timeoutSeconds: fields.timeoutSeconds.default(LIMITS.timeoutSeconds),
  },
  'an object with at least a target',
);

/**
 * The job that a text asks for; `value` is what JSON.parse makes of the text.
 * @throws InputError with an entry per wrong field; PayloadTooLargeError where one of them is a payload too large
 */
export function readJobRequest(text: string, value: unknown): JobRequest {
  const payload = rawAt(text, ['payload']) ?? 'null';
  const checked = check(jobBody, value);
  const errors = oneEach([
    ...(checked.errors ?? []),
    ...scheduleErrors((value ?? {}) as Record<string, unknown>, checked.errors ?? []),
    ...payloadErrors(payload),
  ]);
  refuse(errors, payload);

  const { jobId, name, target, tags, retry, misfire, overlap, jitterSeconds, maxRuns, timeoutSeconds } = checked.value!;
  return {
    ...(jobId === undefined ? {} : { jobId }),
    ...(name === undefined ? {} : { name }),
    tags,
    functionArn: target.functionArn,
    schedule: scheduleOf(checked.value!),
    payload,
    retry,
    misfire,
    ...(overlap === undefined ? {} : { overlap }),
    ...(jitterSeconds === undefined ? {} : { jitterSeconds }),
    ...(maxRuns === undefined ? {} : { maxRuns }),
    timeoutSeconds,
  };
}

/** @throws InputError when there are errors; PayloadTooLargeError where one of them is a payload too large */
export function refuse(errors: readonly FieldError[], payload: string): void {
  if (Buffer.byteLength(payload) > LIMITS.payloadBytes) throw new PayloadTooLargeError(errors);
  if (errors.length > 0) throw new InputError(errors);
}

function scheduleOf(body: z.output<typeof jobBody>): ScheduleRequest {
  const { schedule, delaySeconds, timezone = 'UTC', dst, start, end } = body;
  if (schedule === undefined) {
    return delaySeconds === undefined ? { kind: 'immediate' } : { kind: 'delay', delaySeconds };
  }
  const [startAt, endAt] = [start, end].map((text) => (text === undefined ? undefined : parseInstant(text)));
  return {
    kind: 'expression',
    expression: schedule,
    timezone,
    ...(dst === undefined ? {} : { dst: dstOf(dst) }),
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
  };
}

export function dstOf({ gap, overlap }: z.output<typeof fields.dst>): DstOptions {
  return { ...(gap === undefined ? {} : { gap }), ...(overlap === undefined ? {} : { overlap }) };
}

/** What one field alone does not show. */
function scheduleErrors(body: Record<string, unknown>, others: readonly FieldError[]): FieldError[] {
  const { schedule, delaySeconds } = body;
  const errors: FieldError[] = [];
  if (schedule !== undefined && delaySeconds !== undefined) {
    errors.push({ field: 'delaySeconds', message: 'must not stand beside schedule; leave one of the two out' });
  }
  const read = readExpression(textIn(body, 'schedule', others), textIn(body, 'timezone', others));
  const apart = fieldsApart(
    {
      kind: schedule !== undefined && read.kind === 'none' ? 'unknown' : read.kind,
      given: new Set(Object.keys(body).filter((field) => body[field] !== undefined) as ScheduleField[]),
      startAt: parseInstant(textIn(body, 'start', others) ?? ''),
      endAt: parseInstant(textIn(body, 'end', others) ?? ''),
    },
    'leave it out',
  );
  return [...errors, ...apart, ...read.errors];
}

export function payloadErrors(payload: string): FieldError[] {
  const bytes = Buffer.byteLength(payload);
  if (bytes > LIMITS.payloadBytes) {
    const message = `must be at most ${LIMITS.payloadBytes} bytes of UTF-8; got ${bytes}: keep it elsewhere and pass a reference`;
    return [{ field: 'payload', message }];
  }
  if (!hasLoneSurrogate(payload)) return [];
  return [
    {
      field: 'payload',
      message: 'must not hold half of a surrogate pair (such as \\ud83d alone); write whole characters',
    },
  ];
}
