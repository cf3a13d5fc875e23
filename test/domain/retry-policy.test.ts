import fc from 'fast-check';
import { DEFAULT_RETRY, retryDelayMs, type Backoff, type RetryPolicy } from '../../src/domain/retry-policy';

const policy = (backoff: Backoff, jitter: RetryPolicy['jitter'] = 'none'): RetryPolicy => ({
  maxAttempts: 100,
  backoff,
  jitter,
});
const delays = (retry: RetryPolicy, attempts: number[], chance = 0.5) =>
  attempts.map((attempt) => retryDelayMs(retry, attempt, chance));

describe('how long a run waits for its next attempt', () => {
  test('by default 10 s, doubled each time, at most an hour', () => {
    expect(delays(DEFAULT_RETRY, [1, 2, 3, 9, 10, 100])).toEqual([
      10_000, 20_000, 40_000, 2_560_000, 3_600_000, 3_600_000,
    ]);
  });

  test('a fixed backoff is the same each time', () => {
    expect(delays(policy({ kind: 'fixed', seconds: 5 }), [1, 2, 50])).toEqual([5_000, 5_000, 5_000]);
  });

  test('a list repeats its last value', () => {
    expect(delays(policy({ kind: 'list', seconds: [10, 60, 300] }), [1, 2, 3, 4, 99])).toEqual([
      10_000, 60_000, 300_000, 300_000, 300_000,
    ]);
  });

  test('full jitter takes any part of it, equal jitter at least half', () => {
    const backoff: Backoff = { kind: 'fixed', seconds: 8 };
    expect([0, 0.5, 0.999].map((chance) => retryDelayMs(policy(backoff, 'full'), 1, chance))).toEqual([
      0, 4_000, 7_992,
    ]);
    expect([0, 0.5].map((chance) => retryDelayMs(policy(backoff, 'equal'), 1, chance))).toEqual([4_000, 6_000]);
  });

  test('whatever the policy, it is a whole number, never negative, never above the maximum', () => {
    const seconds = fc.double({ min: 0, max: 31_622_400, noNaN: true });
    const backoff: fc.Arbitrary<Backoff> = fc.oneof(
      fc.record({ kind: fc.constant('fixed' as const), seconds }),
      fc.record({ kind: fc.constant('list' as const), seconds: fc.array(seconds, { minLength: 1, maxLength: 50 }) }),
      fc.record({
        kind: fc.constant('exponential' as const),
        initialSeconds: seconds,
        factor: fc.double({ min: 1, max: 100, noNaN: true }),
        maxSeconds: seconds,
      }),
    );
    fc.assert(
      fc.property(
        backoff,
        fc.constantFrom<RetryPolicy['jitter'][]>('none', 'full', 'equal'),
        fc.integer({ min: 1, max: 100_000 }),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (chosen, jitter, attempt, chance) => {
          const delay = retryDelayMs(policy(chosen, jitter), attempt, chance);
          const most =
            chosen.kind === 'exponential'
              ? chosen.maxSeconds
              : chosen.kind === 'fixed'
                ? chosen.seconds
                : Math.max(...chosen.seconds);
          expect(Number.isSafeInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(Math.round(most * 1000));
        },
      ),
    );
  });
});
