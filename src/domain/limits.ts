import { LONGEST_EXPRESSION } from './schedule';

/** Every bound on what comes from outside, in one place; `docs/architecture.md` shows the same table. */
export const LIMITS = {
  payloadBytes: 256 * 1024,
  /** a request's or message's whole text: a payload, escaped, and the rest of the job */
  bodyBytes: 1024 * 1024,
  /** the whole text of a request that brings many jobs; a Lambda function gets 6 MB at most, escaped */
  manyJobsBodyBytes: 4 * 1024 * 1024,
  /** objects and arrays inside one another; what gets the payload may read it by recursion */
  jsonDepth: 500,
  nameCharacters: 256,
  tags: 20,
  tagCharacters: 64,
  idCharacters: 64,
  requestIdCharacters: 128,
  expressionCharacters: LONGEST_EXPRESSION,
  arnCharacters: 256,
  maxAttempts: 100,
  backoffListEntries: 50,
  /** 366 days, in seconds */
  backoffSeconds: 31_622_400,
  backoffFactor: 100,
  /** ten years, in seconds */
  delaySeconds: 315_576_000,
  timeoutSeconds: 840,
  graceSeconds: 31_622_400,
  pageItems: 100,
  defaultPageItems: 50,
  notificationsPerJob: 100,
  jitterSeconds: 3_600,
  maxRuns: 1_000_000,
  /** a reason, or the name of a person */
  remarkCharacters: 256,
  backfillRuns: 1_000,
  bulkJobs: 1_000,
  chainJobs: 100,
  batchJobs: 10_000,
  /** of a unique lock, a concurrency or a rate limit */
  keyCharacters: 128,
  /** 366 days, in seconds */
  uniqueSeconds: 31_622_400,
  /** 366 days, in seconds */
  heartbeatSeconds: 31_622_400,
  concurrentRuns: 100,
  rateRuns: 1_000,
  rateSeconds: 86_400,
  /** failed runs that one request sends again */
  failedRuns: 1_000,
  defaultFailedRuns: 100,
} as const;
