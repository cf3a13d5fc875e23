import { heldBackMs, isTooLate, spreadMs } from '../../src/domain/waiting';
import { DEFAULT_RETRY } from '../../src/domain/retry-policy';
import { aJob, aStartedRun, DAY, NOON, SECOND } from '../support/builders';

test('who is held back comes again after one second, later and later, and at least twice a minute', () => {
  for (const chance of [0, 0.5, 0.999]) {
    const waits = [0, 1, 2, 3, 4, 5, 1_000, 5_000].map((times) => heldBackMs(times, chance));
    expect(waits[0]).toBe(SECOND);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(Math.max(...waits)).toBeLessThanOrEqual(30 * SECOND);
  }
  expect(heldBackMs(10, 0)).toBe(15 * SECOND);
});

test('those who wait for one instant are spread after it, never before', () => {
  expect([0, 3, 20].map((waits) => spreadMs(waits, 0))).toEqual([0, 0, 0]);
  expect([0, 3, 20].map((waits) => spreadMs(waits, 0.5))).toEqual([500, 4_000, 15_000]);
});

describe('an attempt that waits', () => {
  const retry = { ...DEFAULT_RETRY, retryUntil: NOON };
  const run = aStartedRun();

  test('comes too late after its policy’s last instant, unless a person sent it again', () => {
    expect(isTooLate(run, aJob({ retry }), NOON)).toBe(false);
    expect(isTooLate(run, aJob({ retry }), NOON + 1)).toBe(true);
    expect(isTooLate({ ...run, series: { number: 2, after: 1 } }, aJob({ retry }), NOON + 1)).toBe(false);
  });

  test('comes too late when its job may be gone', () => {
    expect(isTooLate(run, aJob({ expiresAt: NOON + DAY }), NOON + SECOND)).toBe(false);
    expect(isTooLate(run, aJob({ expiresAt: NOON + DAY }), NOON + DAY)).toBe(true);
  });
});
