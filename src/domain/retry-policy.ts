/** Seconds may be fractions. `list` repeats its last value. */
export type Backoff =
  | { kind: 'fixed'; seconds: number }
  | { kind: 'exponential'; initialSeconds: number; factor: number; maxSeconds: number }
  | { kind: 'list'; seconds: readonly number[] };

export interface RetryPolicy {
  /** total tries, the first one included */
  maxAttempts: number;
  backoff: Backoff;
  jitter: 'none' | 'full' | 'equal';
  /** no attempt after the first is started later than this, epoch ms */
  retryUntil?: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 3,
  backoff: { kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 },
  jitter: 'none',
};

/** An error of this name says in its message when to come again. */
export const RETRY_AFTER = 'RetryAfterError';
/** An error of this name says that no further attempt can help. */
export const NON_RETRIABLE = 'NonRetriableError';
/** Whoever asks to come again later than in ten years has made a mistake. */
const LONGEST_SNOOZE_MS = 315_576_000_000;

const SECONDS = /^\d+(?:\.\d+)?(?=\s|$)/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)(?=\s|$)/i;

/**
 * When code wants to be called again, by the message of its RetryAfterError: it begins with seconds (`30`, `1.5 rate limited`) or
 * with an instant, ISO 8601 with Z or an offset. Epoch ms, never before `now`; undefined where the message says neither.
 */
export function retryAfterAt(message: string, now: number): number | undefined {
  const text = message.trimStart();
  const [seconds] = SECONDS.exec(text) ?? [];
  const [instant] = INSTANT.exec(text) ?? [];
  const at =
    seconds !== undefined
      ? now + Math.ceil(Number(seconds) * 1000)
      : instant !== undefined
        ? Date.parse(instant.toUpperCase())
        : NaN;
  return at - now <= LONGEST_SNOOZE_MS ? Math.max(at, now) : undefined;
}

/**
 * How long to wait after this attempt (from 1, within its series), in whole ms: never negative, never NaN, never above the policy's maximum.
 * `chance` is in [0, 1). Full jitter takes any part of the delay, equal jitter keeps half of it.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, chance: number): number {
  const delayMs = Math.round(backoffSeconds(policy.backoff, attempt) * 1000);
  switch (policy.jitter) {
    case 'none':
      return delayMs;
    case 'full':
      return Math.floor(delayMs * chance);
    case 'equal':
      return Math.floor(delayMs / 2 + (delayMs / 2) * chance);
  }
}

function backoffSeconds(backoff: Backoff, attempt: number): number {
  switch (backoff.kind) {
    case 'fixed':
      return backoff.seconds;
    case 'list':
      return backoff.seconds[Math.min(attempt, backoff.seconds.length) - 1] ?? 0;
    case 'exponential': {
      // Grows to Infinity for large attempts, which min brings back to the maximum; 0 × Infinity is the one NaN.
      const grown = backoff.initialSeconds === 0 ? 0 : backoff.initialSeconds * backoff.factor ** (attempt - 1);
      return Math.min(grown, backoff.maxSeconds);
    }
  }
}

/** The longest single wait that the policy allows, in ms. */
export function longestBackoffMs({ backoff }: RetryPolicy): number {
  switch (backoff.kind) {
    case 'fixed':
      return backoff.seconds * 1000;
    case 'list':
      return Math.max(0, ...backoff.seconds) * 1000;
    case 'exponential':
      return backoff.maxSeconds * 1000;
  }
}
