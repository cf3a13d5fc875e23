import * as z from 'zod';
import { LIMITS } from '../domain/limits';
import { pauseBody } from './job-actions';
import { identifier, instant, object, plainText, rule, wholeNumber } from './rules';

/** What `POST /jobs/{jobId}/runs/{runId}/cancel` takes: why, and by whom; it may be left out. */
export const cancelBody = pauseBody;

const tokenRule = rule('must be the token that the code got in its event');
const token = z.string(tokenRule).min(1, tokenRule).max(LIMITS.requestIdCharacters, tokenRule);

/** What `POST /jobs/{jobId}/runs/{runId}/complete` takes. */
export const completeBody = object(
  { token, result: z.unknown().optional() },
  'an object { "token": "...", "result": { ... } }',
);

const errorForm = 'an object such as { "type": "Error", "message": "the shop is closed" }';
const messageRule = rule('must be text that says what went wrong');

/** What `POST /jobs/{jobId}/runs/{runId}/fail` takes. An error's texts are cut where they are kept. */
export const failBody = object(
  {
    token,
    error: object(
      { type: plainText(LIMITS.nameCharacters).default('Error'), message: z.string(messageRule) },
      errorForm,
    ),
  },
  'an object { "token": "...", "error": { "type": "Error", "message": "..." } }',
);

/** What `POST /jobs/{jobId}/runs/{runId}/heartbeat` takes. */
export const heartbeatBody = object({ token }, 'an object { "token": "..." }');

/** Which failed runs are meant, as it stands in a query and in a body. */
export const failedFilter = {
  job: identifier().optional(),
  since: instant().optional(),
  reason: plainText(LIMITS.remarkCharacters).optional(),
};

/** What `POST /failed/retry` takes; it may be left out. */
export const retryFailedBody = object(
  { ...failedFilter, limit: wholeNumber(1, LIMITS.failedRuns).default(LIMITS.defaultFailedRuns) },
  'an object such as { "job": "nightly", "since": "2027-06-01T00:00:00Z", "limit": 100 }',
);
