/** The schema of each field of a job, as it stands in the body that creates one and in the body that changes one. */
import * as z from 'zod';
import type { FieldError } from '../domain/errors';
import { LIMITS } from '../domain/limits';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import { DEFAULT_RETRY, type RetryPolicy } from '../domain/retry-policy';
import { parseInstant } from './instant';
import { amount, instant, object, oneOf, plainText, rule, shown, wholeNumber } from './rules';

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

export const retry = object(
  {
    maxAttempts: wholeNumber(1, LIMITS.maxAttempts).default(DEFAULT_RETRY.maxAttempts),
    backoff: backoff.default({ kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 }),
    jitter: oneOf(['none', 'full', 'equal']).default(DEFAULT_RETRY.jitter),
    retryUntil: instant().optional(),
  },
  'an object such as { "maxAttempts": 3, "backoff": { "kind": "fixed", "seconds": 5 } }',
);

export function retryOf({ retryUntil, ...policy }: z.output<typeof retry>): RetryPolicy {
  return { ...policy, ...(retryUntil === undefined ? {} : { retryUntil: parseInstant(retryUntil)! }) };
}

export const misfire = object(
  {
    policy: oneOf(['run-once', 'run-all', 'skip']).default(DEFAULT_MISFIRE.policy),
    graceSeconds: wholeNumber(0, LIMITS.graceSeconds).default(DEFAULT_MISFIRE.graceSeconds),
  },
  'an object such as { "policy": "run-once", "graceSeconds": 60 }',
);

const tagsRule = rule(`must be a list of at most ${LIMITS.tags} texts`);
export const tag = plainText(LIMITS.tagCharacters, 'commas');

export const tags = z
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

export const schedule = z
  .string(expressionRule)
  .min(1, expressionRule)
  .max(LIMITS.expressionCharacters, expressionRule);

export const timezone = z.string(rule('must be an IANA name such as Europe/London, or UTC'));

export const dst = object(
  { gap: oneOf(['skip', 'run-after']).optional(), overlap: oneOf(['first', 'second', 'both']).optional() },
  'an object such as { "gap": "run-after", "overlap": "both" }',
);

export const name = plainText(LIMITS.nameCharacters);
export const maxRuns = wholeNumber(1, LIMITS.maxRuns);
export const overlap = oneOf(['allow', 'skip', 'queue-one', 'cancel-previous']);
export const jitterSeconds = wholeNumber(0, LIMITS.jitterSeconds);
export const timeoutSeconds = wholeNumber(1, LIMITS.timeoutSeconds);

export const priority = oneOf(['high', 'normal']);

const key = plainText(LIMITS.keyCharacters);

export const unique = object(
  {
    key,
    forSeconds: wholeNumber(1, LIMITS.uniqueSeconds).default(3_600),
    until: oneOf(['start', 'done']).default('done'),
  },
  'an object such as { "key": "invoice-9", "forSeconds": 3600, "until": "done" }',
);

export const concurrency = object(
  { key, limit: wholeNumber(1, LIMITS.concurrentRuns) },
  'an object such as { "key": "shop-api", "limit": 5 }',
);

export const rateLimit = object(
  { key, limit: wholeNumber(1, LIMITS.rateRuns), perSeconds: wholeNumber(1, LIMITS.rateSeconds) },
  'an object such as { "key": "shop-api", "limit": 100, "perSeconds": 60 }',
);

const completionRule = rule('must be "callback", or left out where the attempt ends when the code returns');
export const completion = z.literal('callback', completionRule);
export const heartbeatSeconds = wholeNumber(1, LIMITS.heartbeatSeconds);

/** A heartbeat tells of nothing where the attempt ends when the code returns. `remedy` says how a caller leaves a field out. */
export function heartbeatApart(
  { completion, heartbeatSeconds }: { completion?: unknown; heartbeatSeconds?: unknown },
  remedy: 'leave it out' | 'take it away with null',
): FieldError[] {
  if (heartbeatSeconds === undefined || completion !== undefined) return [];
  const message = `must stand beside "completion": "callback" only; ${remedy}`;
  return [{ field: 'heartbeatSeconds', message }];
}
