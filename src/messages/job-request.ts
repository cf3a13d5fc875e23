import * as z from 'zod';
import { InputError, PayloadTooLargeError, type FieldError } from '../domain/errors';
import type { JobRequest, ScheduleRequest } from '../domain/job-request';
import { LIMITS } from '../domain/limits';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import { DEFAULT_RETRY } from '../domain/retry-policy';
import { checkTimezone, parseSchedule, ScheduleError } from '../domain/schedule';
import { hasLoneSurrogate, rawAt } from './raw-json';
import {
  amount,
  check,
  identifier,
  object,
  oneEach,
  oneOf,
  plainText,
  rule,
  shown,
  target,
  wholeNumber,
} from './rules';

const BACKOFF_FORM =
  'an object such as { "kind": "fixed", "seconds": 5 }, { "kind": "exponential", "initialSeconds": 10, "factor": 2, "maxSeconds": 3600 } or { "kind": "list", "seconds": [10, 60, 300] }';

const waitSeconds = amount('of seconds ', 0, LIMITS.backoffSeconds);
const listRule = rule(`must be a list of 1 to ${LIMITS.backoffListEntries} numbers of seconds`);

const backoff = z.discriminatedUnion(
  'kind',
  [
    object({ kind: z.literal('fixed'), seconds: waitSeconds }, BACKOFF_FORM),
    object(
      {
        kind: z.literal('exponential'),
        initialSeconds: waitSeconds.default(10),
        factor: amount('', 1, LIMITS.backoffFactor).default(2),
        maxSeconds: waitSeconds.default(3600),
      },
      BACKOFF_FORM,
    ),
    object(
      {
        kind: z.literal('list'),
        seconds: z.array(waitSeconds, listRule).min(1, listRule).max(LIMITS.backoffListEntries, listRule),
      },
      BACKOFF_FORM,
    ),
  ],
  {
    error: ({ code, input }) =>
      code === 'invalid_union'
        ? rule('must be one of fixed, exponential, list').error({ input: (input as { kind?: unknown }).kind })
        : rule(`must be ${BACKOFF_FORM}`).error({ input }),
  },
);

const retry = object(
  {
    maxAttempts: wholeNumber(1, LIMITS.maxAttempts).default(DEFAULT_RETRY.maxAttempts),
    backoff: backoff.default({ kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 }),
    jitter: oneOf(['none', 'full', 'equal']).default(DEFAULT_RETRY.jitter),
  },
  'an object such as { "maxAttempts": 3, "backoff": { "kind": "fixed", "seconds": 5 } }',
);

const misfire = object(
  {
    policy: oneOf(['run-once', 'run-all', 'skip']).default(DEFAULT_MISFIRE.policy),
    graceSeconds: wholeNumber(0, LIMITS.graceSeconds).default(DEFAULT_MISFIRE.graceSeconds),
  },
  'an object such as { "policy": "run-once", "graceSeconds": 60 }',
);

const tagsRule = rule(`must be a list of at most ${LIMITS.tags} texts`);
export const tag = plainText(LIMITS.tagCharacters, 'commas');

const tags = z
  .array(tag, tagsRule)
  .max(LIMITS.tags, tagsRule)
  .check(({ value, issues }) => {
    value.forEach((name, i) => {
      const first = value.indexOf(name);
      if (first === i) return;
      const message = `must differ from tags[${first}]; got ${shown(name)} again`;
      issues.push({ code: 'custom', path: [i], message, input: value });
    });
  })
  .meta({ uniqueItems: true });

const expressionRule = rule(
  `must be an expression of 1 to ${LIMITS.expressionCharacters} characters, such as rate(10 minutes) or at(2027-06-01T09:00:00)`,
);

/** What `POST /jobs` takes, and `job` in the message `job-create`. */
export const jobBody = object(
  {
    jobId: identifier().optional(),
    name: plainText(LIMITS.nameCharacters).optional(),
    tags: tags.default([]),
    target: target(),
    schedule: z
      .string(expressionRule)
      .min(1, expressionRule)
      .max(LIMITS.expressionCharacters, expressionRule)
      .optional(),
    delaySeconds: amount('of seconds ', 0, LIMITS.delaySeconds).optional(),
    timezone: z.string(rule('must be an IANA name such as Europe/London, or UTC')).optional(),
    payload: z.unknown().optional(),
    retry: retry.prefault({}),
    misfire: misfire.prefault({}),
    timeoutSeconds: wholeNumber(1, LIMITS.timeoutSeconds).default(LIMITS.timeoutSeconds),
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
    ...scheduleErrors(value, checked.errors ?? []),
    ...payloadErrors(payload),
  ]);
  if (Buffer.byteLength(payload) > LIMITS.payloadBytes) throw new PayloadTooLargeError(errors);
  if (!checked.value || errors.length > 0) throw new InputError(errors);

  const { jobId, name, target, retry, misfire, timeoutSeconds, tags } = checked.value;
  return {
    ...(jobId === undefined ? {} : { jobId }),
    ...(name === undefined ? {} : { name }),
    tags,
    functionArn: target.functionArn,
    schedule: scheduleOf(checked.value),
    payload,
    retry,
    misfire,
    timeoutSeconds,
  };
}

function scheduleOf(body: z.output<typeof jobBody>): ScheduleRequest {
  const { schedule, delaySeconds, timezone = 'UTC' } = body;
  if (schedule !== undefined) return { kind: 'expression', expression: schedule, timezone };
  return delaySeconds === undefined ? { kind: 'immediate' } : { kind: 'delay', delaySeconds };
}

/** What one field alone does not show. */
function scheduleErrors(value: unknown, others: readonly FieldError[]): FieldError[] {
  const { schedule, delaySeconds, timezone } = (value ?? {}) as Record<string, unknown>;
  const errors: FieldError[] = [];
  if (schedule !== undefined && delaySeconds !== undefined) {
    errors.push({ field: 'delaySeconds', message: 'must not stand beside schedule; leave one of the two out' });
  }
  if (timezone !== undefined && schedule === undefined) {
    errors.push({ field: 'timezone', message: 'must stand beside a schedule only; leave it out' });
  }
  if (typeof schedule !== 'string' || others.some(({ field }) => field === 'schedule')) return errors;
  const zone = typeof timezone === 'string' ? timezone : 'UTC';
  const ofZone = scheduleError('timezone', () => checkTimezone(zone));
  const ofExpression = scheduleError('schedule', () =>
    parseSchedule(schedule, { timezone: ofZone.length === 0 ? zone : 'UTC' }),
  );
  return [...errors, ...ofZone, ...ofExpression];
}

function scheduleError(field: string, parse: () => unknown): FieldError[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return [{ field, message: error.message.replace(/^(?:expression|timezone): /, '').toWellFormed() }];
  }
}

function payloadErrors(payload: string): FieldError[] {
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
