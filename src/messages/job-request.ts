import * as z from 'zod';
import { InputError, PayloadTooLargeError, type FieldError } from '../domain/errors';
import type { JobRequest, ScheduleRequest } from '../domain/job-request';
import { LIMITS } from '../domain/limits';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import type { DstOptions } from '../domain/schedule';
import { parseInstant } from './instant';
import * as fields from './job-fields';
import { hasLoneSurrogate, rawAt } from './raw-json';
import { amount, check, identifier, instant, object, oneEach, target } from './rules';
import { fieldsApart, readExpression, textIn, type ScheduleField } from './schedule-fields';

/** When a job runs, which for a job of a chain or batch is not its own to say. */
const whenItRuns = {
  schedule: fields.schedule.optional(),
  timezone: fields.timezone.optional(),
  dst: fields.dst.optional(),
  start: instant().optional(),
  end: instant().optional(),
  maxRuns: fields.maxRuns.optional(),
  overlap: fields.overlap.optional(),
  jitterSeconds: fields.jitterSeconds.optional(),
  misfire: fields.misfire.prefault({}),
};

const whatever = {
  jobId: identifier().optional(),
  name: fields.name.optional(),
  tags: fields.tags.default([]),
  target: target(),
  delaySeconds: amount('of seconds ', 0, LIMITS.delaySeconds).optional(),
  payload: z.unknown().optional(),
  retry: fields.retry.prefault({}),
  timeoutSeconds: fields.timeoutSeconds.default(LIMITS.timeoutSeconds),
  priority: fields.priority.optional(),
  unique: fields.unique.optional(),
  concurrency: fields.concurrency.optional(),
  rateLimit: fields.rateLimit.optional(),
  completion: fields.completion.optional(),
  heartbeatSeconds: fields.heartbeatSeconds.optional(),
};

/** What `POST /jobs` takes, and `job` in the message `job-create`. */
export const jobBody = object({ ...whatever, ...whenItRuns }, 'an object with at least a target');

/** A job of a chain or batch. */
export const memberBody = object(whatever, 'an object with at least a target');

const NOT_OF_MEMBERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(whenItRuns).map((field) => [
    field,
    'must be left out: a job of a chain or batch runs when its turn comes; use delaySeconds to let it wait then',
  ]),
);

/**
 * The job that a text asks for; `value` is what JSON.parse makes of the text.
 * @throws InputError with an entry per wrong field; PayloadTooLargeError where one of them is a payload too large
 */
export function readJobRequest(text: string, value: unknown): JobRequest {
  return read(jobBody, text, value, []);
}

/** As `readJobRequest`, for a job of a chain or batch. */
export function readMember(text: string, value: unknown): JobRequest {
  const { body, errors } = withoutFields(value, NOT_OF_MEMBERS);
  return read(memberBody, text, body, errors);
}

function read(
  schema: typeof jobBody | typeof memberBody,
  text: string,
  value: unknown,
  found: readonly FieldError[],
): JobRequest {
  const payload = rawAt(text, ['payload']) ?? 'null';
  const checked = check(schema, value);
  const ofFields = checked.errors ?? [];
  const body = (value ?? {}) as Record<string, unknown>;
  const errors = oneEach([
    ...found,
    ...ofFields,
    ...scheduleErrors(body, ofFields),
    ...fields.heartbeatApart(body, 'leave it out'),
    ...payloadErrors(payload),
  ]);
  refuse(errors, payload);
  return requestOf({ misfire: DEFAULT_MISFIRE, ...checked.value! }, payload);
}

function requestOf(body: z.output<typeof jobBody>, payload: string): JobRequest {
  const { jobId, name, tags, target, retry, misfire, overlap, jitterSeconds, maxRuns, timeoutSeconds } = body;
  const { priority, unique, concurrency, rateLimit, completion, heartbeatSeconds } = body;
  return given<JobRequest>({
    jobId,
    name,
    tags,
    functionArn: target.functionArn,
    schedule: scheduleOf(body),
    payload,
    retry: fields.retryOf(retry),
    misfire,
    overlap,
    jitterSeconds,
    maxRuns,
    timeoutSeconds,
    priority,
    unique,
    concurrency,
    rateLimit,
    completion,
    heartbeatSeconds,
  });
}

/** Without the members that are undefined. */
export function given<Members extends object>(members: { [Key in keyof Members]: Members[Key] | undefined }): Members {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as Members;
}

/** A body without the fields that have a reason not to be in it, and the reasons. */
export function withoutFields(
  value: unknown,
  reasons: Readonly<Record<string, string>>,
): { body: unknown; errors: FieldError[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { body: value, errors: [] };
  const entries = Object.entries(value);
  const refused = entries.filter(([field]) => Object.hasOwn(reasons, field));
  if (refused.length === 0) return { body: value, errors: [] };
  return {
    body: Object.fromEntries(entries.filter((entry) => !refused.includes(entry))),
    errors: refused.map(([field]) => ({ field, message: reasons[field]! })),
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
