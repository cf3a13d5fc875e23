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
}

export const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 3,
  backoff: { kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 },
  jitter: 'none',
};
