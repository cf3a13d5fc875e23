import * as z from 'zod';
import type { JobChanges, ScheduleChanges } from '../domain/job-changes';
import { LIMITS } from '../domain/limits';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import { DEFAULT_RETRY } from '../domain/retry-policy';
import { parseInstant } from './instant';
import * as fields from './job-fields';
import { dstOf, given, payloadErrors, refuse, withoutFields } from './job-request';
import { rawAt } from './raw-json';
import { check, instant, object, oneEach, target } from './rules';
import { readExpression, textIn } from './schedule-fields';

/** What `PATCH /jobs/{jobId}` takes: what is absent stays, null takes an optional field away, so that its default counts. */
export const jobChangesBody = object(
  {
    name: fields.name.nullable().optional(),
    tags: fields.tags.nullable().optional(),
    target: target().optional(),
    schedule: fields.schedule.optional(),
    timezone: fields.timezone.nullable().optional(),
    dst: fields.dst.nullable().optional(),
    start: instant().nullable().optional(),
    end: instant().nullable().optional(),
    maxRuns: fields.maxRuns.nullable().optional(),
    overlap: fields.overlap.nullable().optional(),
    jitterSeconds: fields.jitterSeconds.nullable().optional(),
    payload: z.unknown().optional(),
    retry: fields.retry.nullable().optional(),
    misfire: fields.misfire.nullable().optional(),
    timeoutSeconds: fields.timeoutSeconds.nullable().optional(),
    priority: fields.priority.nullable().optional(),
    concurrency: fields.concurrency.nullable().optional(),
    rateLimit: fields.rateLimit.nullable().optional(),
    completion: fields.completion.nullable().optional(),
    heartbeatSeconds: fields.heartbeatSeconds.nullable().optional(),
  },
  'an object with the fields that change, such as { "name": "nightly report" }',
);

/** What callers may well try to change, and what they can do instead. */
const UNCHANGEABLE: Readonly<Record<string, string>> = {
  jobId: 'cannot be changed; create a job of the new id and delete this one',
  unique: 'cannot be changed: the key may be held; create another job with the other key and delete this one',
  delaySeconds: 'cannot be changed; write the instant as a schedule, such as at(2027-06-01T09:00:00)',
  state: 'cannot be changed like this; POST to /jobs/{jobId}/pause or /jobs/{jobId}/resume',
  pause: 'cannot be changed like this; POST to /jobs/{jobId}/pause or /jobs/{jobId}/resume',
};

/**
 * The changes that a text asks for; `value` is what JSON.parse makes of the text. Whether the job as a whole is right then
 * is for the edit to see.
 * @throws InputError with an entry per wrong field; PayloadTooLargeError where one of them is a payload too large
 */
export function readJobChanges(text: string, value: unknown): JobChanges {
  const payload = rawAt(text, ['payload']);
  const { body, errors: unchangeable } = withoutFields(value, UNCHANGEABLE);
  const checked = check(jobChangesBody, body);
  const ofFields = checked.errors ?? [];
  const errors = oneEach([
    ...unchangeable,
    ...ofFields,
    ...readExpression(textIn(body, 'schedule', ofFields), textIn(body, 'timezone', ofFields)).errors,
    ...payloadErrors(payload ?? 'null'),
  ]);
  if (errors.length === 0 && Object.keys(body as object).length === 0) {
    errors.push({ field: 'body', message: 'must change at least one field; got {}' });
  }
  refuse(errors, payload ?? 'null');
  return changesOf(checked.value!, payload);
}

function changesOf(body: z.output<typeof jobChangesBody>, payload: string | undefined): JobChanges {
  const {
    target,
    schedule,
    timezone,
    dst,
    start,
    end,
    tags,
    retry,
    misfire,
    timeoutSeconds,
    payload: _,
    ...rest
  } = body;
  const scheduleChanges = given<ScheduleChanges>({
    expression: schedule,
    timezone,
    dst: dst && dstOf(dst),
    startAt: typeof start === 'string' ? parseInstant(start) : start,
    endAt: typeof end === 'string' ? parseInstant(end) : end,
  });
  return given<JobChanges>({
    ...rest,
    tags: tags === null ? [] : tags,
    functionArn: target?.functionArn,
    payload,
    retry: retry === null ? DEFAULT_RETRY : retry && fields.retryOf(retry),
    misfire: misfire === null ? DEFAULT_MISFIRE : misfire,
    timeoutSeconds: timeoutSeconds === null ? LIMITS.timeoutSeconds : timeoutSeconds,
    schedule: Object.keys(scheduleChanges).length === 0 ? undefined : scheduleChanges,
  });
}
