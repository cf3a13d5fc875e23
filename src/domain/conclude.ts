import { retryDelayMs, type RetryPolicy } from './retry-policy';
import { transition, withAttempt, type Run, type RunChanges, type RunError } from './run';

/** What came of one attempt. */
export type AttemptOutcome =
  | { kind: 'returned'; result: string }
  | { kind: 'failed'; error: RunError }
  | { kind: 'held-back'; reason: string; message: string }
  | { kind: 'refused'; reason: string; message: string };

/** SQS delays no longer than this; what waits longer is found by the due index. */
export const LONGEST_QUEUE_DELAY_MS = 900_000;

/** A run that could not even be called for so long is given up. */
const LONGEST_HELD_BACK_MS = 6 * 3600_000;
const HELD_BACK_DELAY_MS = { first: 1_000, most: 60_000 };

const ERROR_BYTES = 2_048;
/** The row of a run must stay small: larger results are the code's to keep elsewhere. */
export const RESULT_BYTES = 8_192;

/** The run after an attempt: DONE, RELEASED until its next `dueAt`, or FAILED, each with its reason. `chance` is in [0, 1). */
export function decideAfterAttempt(input: {
  run: Run;
  outcome: AttemptOutcome;
  retry: RetryPolicy;
  now: number;
  chance: number;
}): Run {
  const { run, outcome, retry, now, chance } = input;
  switch (outcome.kind) {
    case 'returned': {
      const fits = Buffer.byteLength(outcome.result) <= RESULT_BYTES;
      return transition(run, 'DONE', now, {
        finishedAt: now,
        error: undefined,
        heldBack: undefined,
        ...(fits ? { result: outcome.result } : { reason: `result-too-large: over ${RESULT_BYTES} bytes, not kept` }),
      });
    }
    case 'refused':
      return failed(run, now, outcome.reason, { type: outcome.reason, message: outcome.message });
    case 'held-back':
      return afterHeldBack(run, now, outcome, chance);
    case 'failed':
      return afterFailure(run, now, outcome.error, retry, chance);
  }
}

function afterFailure(run: Run, now: number, error: RunError, retry: RetryPolicy, chance: number): Run {
  if (error.type === 'NonRetriableError') return failed(run, now, 'non-retriable', error);
  if (run.attempt >= retry.maxAttempts) return failed(run, now, 'out-of-attempts', error);
  return release(run, now, now + retryDelayMs(retry, run.attempt, chance), {
    reason: 'attempt-failed',
    error: cut(error),
    attempts: withAttempt(run, attemptRecord(run, now, 'attempt-failed', error)),
    heldBack: undefined,
  });
}

/** Being held back uses no attempt: the same number is tried again, under a bound of its own. */
function afterHeldBack(run: Run, now: number, outcome: { reason: string; message: string }, chance: number): Run {
  const heldBack = { times: (run.heldBack?.times ?? 0) + 1, since: run.heldBack?.since ?? now };
  if (now - heldBack.since >= LONGEST_HELD_BACK_MS) {
    return failed(run, now, outcome.reason, { type: outcome.reason, message: outcome.message });
  }
  const most = Math.min(HELD_BACK_DELAY_MS.first * 2 ** heldBack.times, HELD_BACK_DELAY_MS.most);
  const delayMs = HELD_BACK_DELAY_MS.first + Math.floor((most - HELD_BACK_DELAY_MS.first) * chance);
  return release(run, now, now + delayMs, { reason: outcome.reason, attempt: run.attempt - 1, heldBack });
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

export function failed(run: Run, now: number, reason: string, error: RunError): Run {
  const attempts = run.state === 'STARTED' ? withAttempt(run, attemptRecord(run, now, reason, error)) : run.attempts;
  return transition(run, 'FAILED', now, { reason, error: cut(error), finishedAt: now, attempts });
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
