import { NON_RETRIABLE, RETRY_AFTER, retryAfterAt, retryDelayMs, type RetryPolicy } from './retry-policy';
import { attemptsOfSeries, revise, transition, withAttempt, type Run, type RunChanges, type RunError } from './run';

/** What came of one attempt. */
export type AttemptOutcome =
  | { kind: 'returned'; result: string }
  /** `reason`: absent where the code itself failed */
  | { kind: 'failed'; error: RunError; reason?: string }
  | { kind: 'held-back'; reason: string; message: string }
  | { kind: 'refused'; reason: string; message: string };

/** SQS delays no longer than this; what waits longer is found by the due index. */
export const LONGEST_QUEUE_DELAY_MS = 900_000;

/** A run that could not even be called for so long is given up. */
const LONGEST_HELD_BACK_MS = 6 * 3600_000;
const HELD_BACK_DELAY_MS = { first: 1_000, most: 60_000 };

/** Code that asked so many times in a row to be called later is given up: it would go round for ever. */
const MOST_SNOOZES = 1_000;

const ERROR_BYTES = 2_048;
/** The row of a run must stay small: larger results are the code's to keep elsewhere. */
export const RESULT_BYTES = 8_192;

interface Attempted {
  run: Run;
  retry: RetryPolicy;
  now: number;
  /** in [0, 1) */
  chance: number;
  /** how long a failed run is kept */
  failedRetentionMs: number;
}

/**
 * The run after an attempt: DONE, RELEASED until its next `dueAt`, or FAILED, each with its reason; CANCELLED, whatever came of
 * the attempt, where somebody asked for that.
 */
export function decideAfterAttempt(input: Attempted & { outcome: AttemptOutcome }): Run {
  const { run, outcome, now, failedRetentionMs } = input;
  if (run.cancelRequestedAt !== undefined) {
    return cancelled(run, now, outcome.kind === 'failed' ? outcome.error : undefined);
  }
  switch (outcome.kind) {
    case 'returned': {
      const fits = Buffer.byteLength(outcome.result) <= RESULT_BYTES;
      return transition(run, 'DONE', now, {
        finishedAt: now,
        error: undefined,
        heldBack: undefined,
        snoozes: undefined,
        ...(fits ? { result: outcome.result } : { reason: `result-too-large: over ${RESULT_BYTES} bytes, not kept` }),
      });
    }
    case 'refused':
      return failed(run, now, outcome.reason, { type: outcome.reason, message: outcome.message }, failedRetentionMs);
    case 'held-back':
      return afterHeldBack(input, outcome);
    case 'failed':
      return afterFailure(input, outcome);
  }
}

function afterFailure(attempted: Attempted, { error, reason }: { error: RunError; reason?: string }): Run {
  const { run, retry, now, chance, failedRetentionMs } = attempted;
  if (error.type === NON_RETRIABLE) return failed(run, now, 'non-retriable', error, failedRetentionMs);
  const wantedAt = error.type === RETRY_AFTER ? retryAfterAt(error.message, now) : undefined;
  if (wantedAt !== undefined) return afterSnooze(attempted, wantedAt, error);
  const attempts = attemptsOfSeries(run);
  if (attempts >= retry.maxAttempts) return failed(run, now, reason ?? 'out-of-attempts', error, failedRetentionMs);
  return releaseInTime(attempted, now + retryDelayMs(retry, attempts, chance), error, {
    reason: reason ?? 'attempt-failed',
    attempts: withAttempt(run, attemptRecord(run, now, reason ?? 'attempt-failed', error)),
    heldBack: undefined,
    snoozes: undefined,
  });
}

/** The code asked to come again: the same number is tried again. */
function afterSnooze(attempted: Attempted, wantedAt: number, error: RunError): Run {
  const { run, now, failedRetentionMs } = attempted;
  const snoozes = (run.snoozes ?? 0) + 1;
  if (snoozes > MOST_SNOOZES) return failed(run, now, 'snoozed-too-often', error, failedRetentionMs);
  return releaseInTime(attempted, wantedAt, error, {
    reason: 'snoozed',
    attempt: run.attempt - 1,
    heldBack: undefined,
    snoozes,
  });
}

/** Being held back uses no attempt: the same number is tried again, under a bound of its own. */
function afterHeldBack(attempted: Attempted, { reason, message }: { reason: string; message: string }): Run {
  const { run, now, chance, failedRetentionMs } = attempted;
  const error = { type: reason, message };
  const heldBack = { times: (run.heldBack?.times ?? 0) + 1, since: run.heldBack?.since ?? now };
  if (now - heldBack.since >= LONGEST_HELD_BACK_MS) return failed(run, now, reason, error, failedRetentionMs);
  const most = Math.min(HELD_BACK_DELAY_MS.first * 2 ** heldBack.times, HELD_BACK_DELAY_MS.most);
  const delayMs = HELD_BACK_DELAY_MS.first + Math.floor((most - HELD_BACK_DELAY_MS.first) * chance);
  if (isOutOfTime(run, attempted.retry, now + delayMs))
    return failed(run, now, 'out-of-time', error, failedRetentionMs);
  return release(run, now, now + delayMs, { reason, attempt: run.attempt - 1, heldBack });
}

function releaseInTime(attempted: Attempted, dueAt: number, error: RunError, changes: RunChanges): Run {
  const { run, retry, now, failedRetentionMs } = attempted;
  if (isOutOfTime(run, retry, dueAt)) return failed(run, now, 'out-of-time', error, failedRetentionMs);
  return release(run, now, dueAt, { ...changes, error: cut(error) });
}

/** May no attempt start at this instant any more? What a person sent again is not bound by it. */
export function isOutOfTime({ series }: Run, { retryUntil }: RetryPolicy, startAt: number): boolean {
  return series === undefined && retryUntil !== undefined && startAt > retryUntil;
}

function release(run: Run, now: number, dueAt: number, changes: RunChanges): Run {
  return transition(run, 'RELEASED', now, {
    ...changes,
    finishedAt: now,
    dueAt,
    expiresAt: run.expiresAt + (dueAt - run.dueAt),
    indexDueAt: dueAt - now > LONGEST_QUEUE_DELAY_MS ? dueAt : undefined,
  });
}

export function failed(run: Run, now: number, reason: string, error: RunError, failedRetentionMs: number): Run {
  const attempts = run.state === 'STARTED' ? withAttempt(run, attemptRecord(run, now, reason, error)) : run.attempts;
  const expiresAt = Math.max(run.expiresAt, now + failedRetentionMs);
  return transition(run, 'FAILED', now, { reason, error: cut(error), finishedAt: now, attempts, expiresAt });
}

/** A run whose cancelling was asked for, once its attempt is over: how it ended does not matter any more. */
export function cancelled(run: Run, now: number, error?: RunError): Run {
  return transition(run, 'CANCELLED', now, {
    reason: run.reason ?? 'cancelled',
    finishedAt: now,
    ...(error === undefined
      ? {}
      : { error: cut(error), attempts: withAttempt(run, attemptRecord(run, now, 'cancelled', error)) }),
  });
}

/** The code has returned, and somebody else ends the attempt: it goes on until its lease ends, which the due index watches. */
export function awaited(run: Run, leaseUntil: number, retentionMs: number): Run {
  return revise(run, {
    isAwaited: true,
    leaseUntil,
    indexDueAt: leaseUntil,
    expiresAt: Math.max(run.expiresAt, leaseUntil + retentionMs),
  });
}

/** Why a run waits that a person sent again. */
export const RETRIED = 'retried';

/** A person sends a failed run again: attempts are counted anew, and their numbers go on. The due index leads to it. */
export function startSeries(run: Run, now: number): Run {
  return transition(run, 'RELEASED', now, {
    reason: RETRIED,
    dueAt: now,
    indexDueAt: now,
    expiresAt: run.expiresAt + Math.max(0, now - run.dueAt),
    series: { number: (run.series?.number ?? 1) + 1, after: run.attempt },
    heldBack: undefined,
    snoozes: undefined,
  });
}

export function attemptRecord(run: Run, now: number, reason: string, error: RunError) {
  return { attempt: run.attempt, startedAt: run.startedAt ?? now, finishedAt: now, reason, error: cut(error) };
}

function cut(error: RunError): RunError {
  return { type: cutBytes(error.type, 256), message: cutBytes(error.message, ERROR_BYTES) };
}

/**
 * The longest beginning of the text that fits, never ending in half a character. What is no character at all (a lone
 * surrogate, U+FFFE, U+FFFF) becomes U+FFFD: queues refuse it.
 */
export function cutBytes(text: string, bytes: number): string {
  const clean = text.toWellFormed().replace(/[\uFFFE\uFFFF]/g, '\uFFFD');
  if (Buffer.byteLength(clean) <= bytes) return clean;
  const beginning = Buffer.from(clean).subarray(0, bytes).toString('utf8');
  // Half a character at the cut was decoded as U+FFFD.
  return beginning.endsWith('\uFFFD') ? beginning.slice(0, -1) : beginning;
}
