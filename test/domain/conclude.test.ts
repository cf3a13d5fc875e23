import fc from 'fast-check';
import {
  cutBytes,
  decideAfterAttempt,
  RESULT_BYTES,
  startSeries,
  type AttemptOutcome,
} from '../../src/domain/conclude';
import type { RetryPolicy } from '../../src/domain/retry-policy';
import { IllegalTransitionError, type Run } from '../../src/domain/run';
import { aStartedRun, DAY, HOUR, MINUTE, NOON, RETENTION_MS, SECOND } from '../support/builders';

const retry: RetryPolicy = { maxAttempts: 3, backoff: { kind: 'fixed', seconds: 5 }, jitter: 'none' };
const after = (outcome: AttemptOutcome, changes: Partial<Run> = {}, policy = retry, now = NOON + SECOND) =>
  decideAfterAttempt({
    run: { ...aStartedRun(), ...changes },
    outcome,
    retry: policy,
    now,
    chance: 0.5,
    failedRetentionMs: RETENTION_MS,
  });
const throwing = (type: string, message: string): AttemptOutcome => ({ kind: 'failed', error: { type, message } });
const boom: AttemptOutcome = { kind: 'failed', error: { type: 'Error', message: 'boom' } };

describe('what becomes of a run after an attempt', () => {
  test('code that returns makes it DONE, with its result', () => {
    expect(after({ kind: 'returned', result: '{"ok":true}' })).toMatchObject({
      state: 'DONE',
      result: '{"ok":true}',
      finishedAt: NOON + SECOND,
      attempt: 1,
    });
  });

  test('a value that merely looks like an error is a result', () => {
    expect(after({ kind: 'returned', result: '{"errorMessage":"x"}' }).state).toBe('DONE');
  });

  test('a result that is too large is not kept, and the run says so', () => {
    const run = after({ kind: 'returned', result: JSON.stringify('é'.repeat(RESULT_BYTES)) });
    expect(run.state).toBe('DONE');
    expect(run).not.toHaveProperty('result');
    expect(run.reason).toMatch(/^result-too-large/);
  });

  test('an error releases it until the backoff is over', () => {
    expect(after(boom)).toMatchObject({
      state: 'RELEASED',
      reason: 'attempt-failed',
      dueAt: NOON + 6 * SECOND,
      error: { type: 'Error', message: 'boom' },
      attempts: [{ attempt: 1, reason: 'attempt-failed' }],
    });
  });

  test('the last attempt that errs makes it FAILED', () => {
    expect(after(boom, { attempt: 3 })).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts' });
    expect(after(boom, { attempt: 1 }, { ...retry, maxAttempts: 1 }).state).toBe('FAILED');
  });

  test('a NonRetriableError makes it FAILED at once', () => {
    const outcome: AttemptOutcome = { kind: 'failed', error: { type: 'NonRetriableError', message: 'no use' } };
    expect(after(outcome)).toMatchObject({ state: 'FAILED', reason: 'non-retriable' });
  });

  test('a refusal is permanent', () => {
    const outcome: AttemptOutcome = { kind: 'refused', reason: 'function-not-found', message: 'gone' };
    expect(after(outcome)).toMatchObject({ state: 'FAILED', reason: 'function-not-found' });
  });

  test('being held back uses no attempt', () => {
    const outcome: AttemptOutcome = { kind: 'held-back', reason: 'throttled', message: 'slow down' };
    let run: Run = aStartedRun();
    for (let times = 1; times <= 20; times++) {
      run = after(outcome, run, { ...retry, maxAttempts: 1 }, NOON);
      expect(run).toMatchObject({ state: 'RELEASED', attempt: 0, heldBack: { times, since: NOON } });
      expect(run.dueAt).toBeGreaterThanOrEqual(NOON + SECOND);
      expect(run.dueAt).toBeLessThanOrEqual(NOON + MINUTE);
      run = { ...run, state: 'STARTED', attempt: 1 };
    }
  });

  test('being held back for six hours is the end', () => {
    const outcome: AttemptOutcome = { kind: 'held-back', reason: 'throttled', message: 'slow down' };
    const run = after(outcome, { heldBack: { times: 400, since: NOON - 6 * HOUR } });
    expect(run).toMatchObject({ state: 'FAILED', reason: 'throttled' });
  });

  test('a wait that a queue can delay needs no due key, a longer one does', () => {
    const wait = (seconds: number) => after(boom, {}, { ...retry, backoff: { kind: 'fixed', seconds } });
    expect(wait(900)).not.toHaveProperty('indexDueAt');
    expect(wait(901).indexDueAt).toBe(NOON + SECOND + 901 * SECOND);
  });

  test('an error text is cut at 2 KiB, never within a character', () => {
    const run = after({ kind: 'failed', error: { type: 'E', message: '📦'.repeat(5_000) } });
    const message = run.error!.message;
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2_048);
    expect(message).toBe('📦'.repeat(512));
    expect(cutBytes('a\uD83D\uFFFF', 100)).toBe('a\uFFFD\uFFFD');
  });

  test('a hundred attempts with long errors end in FAILED, and each leaves a record of bounded size', () => {
    const policy = { ...retry, maxAttempts: 100 };
    let run: Run = aStartedRun();
    for (let attempt = 1; attempt <= 100; attempt++) {
      run = after(throwing('Error', 'é'.repeat(100_000)), { ...run, state: 'STARTED', attempt }, policy);
    }
    expect(run).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts' });
    expect(run.attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 100 }, (_, k) => k + 1));
    for (const record of run.attempts) expect(Buffer.byteLength(JSON.stringify(record))).toBeLessThan(2_300);
  });

  test('a failed run is kept for its own time, and never for less than it was', () => {
    expect(after(boom, { attempt: 3 })).toMatchObject({ expiresAt: NOON + SECOND + RETENTION_MS });
    const expiresAt = NOON + 400 * DAY;
    expect(after(boom, { attempt: 3, expiresAt })).toMatchObject({ expiresAt });
  });
});

describe('the end of the time that a run has for its retries', () => {
  const until = (retryUntil: number) => ({ ...retry, retryUntil });
  // The next attempt would be due 5 s from NOON + 1 s.
  test('lets the attempt start that is due at it, and none later', () => {
    expect(after(boom, {}, until(NOON + 6 * SECOND))).toMatchObject({ state: 'RELEASED', dueAt: NOON + 6 * SECOND });
    expect(after(boom, {}, until(NOON + 6 * SECOND - 1))).toMatchObject({
      state: 'FAILED',
      reason: 'out-of-time',
      error: { type: 'Error', message: 'boom' },
      attempts: [{ attempt: 1 }],
    });
  });

  test('binds what is held back or asked to come later too', () => {
    const outcome: AttemptOutcome = { kind: 'held-back', reason: 'throttled', message: 'slow down' };
    for (const one of [outcome, throwing('RetryAfterError', '5')]) {
      expect(after(one, {}, until(NOON + SECOND))).toMatchObject({ state: 'FAILED', reason: 'out-of-time' });
    }
  });

  test('does not bind what a person sent again', () => {
    const series = { number: 2, after: 0 };
    expect(after(boom, { series }, until(NOON - DAY))).toMatchObject({ state: 'RELEASED' });
  });
});

describe('an error named RetryAfterError', () => {
  const snoozed = (message: string, changes: Partial<Run> = {}) => after(throwing('RetryAfterError', message), changes);

  test('says when to come again, and uses no attempt', () => {
    for (const attempt of [1, 3]) {
      expect(snoozed('30', { attempt })).toMatchObject({
        state: 'RELEASED',
        reason: 'snoozed',
        attempt: attempt - 1,
        dueAt: NOON + 31 * SECOND,
        snoozes: 1,
        attempts: [],
      });
    }
    expect(snoozed('1.5 rate limited').dueAt).toBe(NOON + 2_500);
    expect(snoozed('2027-05-05T12:00:00Z').dueAt).toBe(NOON + DAY);
    expect(snoozed('2027-05-04T14:00:00.250+01:00 the shop is closed').dueAt).toBe(NOON + HOUR + 250);
  });

  test('whose instant is past means at once, never before now', () => {
    expect(snoozed('2001-01-01T00:00:00Z').dueAt).toBe(NOON + SECOND);
    expect(snoozed('0').dueAt).toBe(NOON + SECOND);
  });

  test('whose message nobody can read is a failed attempt', () => {
    const messages = ['', 'later', '-5', '30s', '1e3', 'NaN', 'Infinity', '9'.repeat(400), '2027-13-45T00:00:00Z'];
    for (const message of [...messages, '2027-05-05', '2027-05-05T12:00:00', '9999-01-01T00:00:00Z']) {
      expect(snoozed(message)).toMatchObject({ state: 'RELEASED', reason: 'attempt-failed', attempt: 1 });
      expect(snoozed(message, { attempt: 3 })).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts' });
    }
  });

  test('a thousand times in a row is enough', () => {
    expect(snoozed('1', { snoozes: 999 })).toMatchObject({ state: 'RELEASED', snoozes: 1_000 });
    expect(snoozed('1', { snoozes: 1_000 })).toMatchObject({ state: 'FAILED', reason: 'snoozed-too-often' });
    expect(after(boom, { snoozes: 1_000 })).not.toHaveProperty('snoozes');
  });
});

describe('a run that was to be cancelled', () => {
  const asked = { cancelRequestedAt: NOON, reason: 'cancelled by ann' };

  test('is CANCELLED whatever came of its attempt, and its result is not kept', () => {
    const outcomes: AttemptOutcome[] = [
      { kind: 'returned', result: '1' },
      { kind: 'held-back', reason: 'throttled', message: 'slow down' },
      { kind: 'refused', reason: 'function-not-found', message: 'gone' },
      boom,
    ];
    for (const outcome of outcomes) {
      const run = after(outcome, asked);
      expect(run).toMatchObject({ state: 'CANCELLED', reason: 'cancelled by ann', finishedAt: NOON + SECOND });
      expect(run).not.toHaveProperty('result');
      expect(run).not.toHaveProperty('cancelRequestedAt');
    }
  });
});

describe('a series of attempts that a person started', () => {
  const over = after(boom, { attempt: 3 });
  const again = startSeries(over, NOON + HOUR);

  test('is due at once, led to by the due index, and counted', () => {
    expect(again).toMatchObject({
      state: 'RELEASED',
      reason: 'retried',
      dueAt: NOON + HOUR,
      indexDueAt: NOON + HOUR,
      series: { number: 2, after: 3 },
      attempts: over.attempts,
    });
    expect(again).not.toHaveProperty('failedAt');
    expect(again.expiresAt).toBeGreaterThanOrEqual(NOON + HOUR + RETENTION_MS);
    expect(startSeries({ ...over, series: { number: 7, after: 1 } }, NOON).series).toEqual({ number: 8, after: 3 });
  });

  test('has all its attempts, and begins the backoff anew', () => {
    const policy: RetryPolicy = { ...retry, backoff: { kind: 'list', seconds: [1, 60] } };
    const at = (attempt: number) => after(boom, { ...again, state: 'STARTED', attempt }, policy, NOON + HOUR);
    expect(at(4)).toMatchObject({ state: 'RELEASED', dueAt: NOON + HOUR + SECOND });
    expect(at(5)).toMatchObject({ state: 'RELEASED', dueAt: NOON + HOUR + MINUTE });
    expect(at(6)).toMatchObject({ state: 'FAILED', reason: 'out-of-attempts' });
  });

  test('only follows a failure', () => {
    expect(() => startSeries(after({ kind: 'returned', result: '1' }), NOON)).toThrow(IllegalTransitionError);
  });
});

test('whatever the policy and the outcome, what waits is due at a whole instant, never in the past, in the index if it is far', () => {
  const seconds = fc.double({ min: 0, max: 31_622_400, noNaN: true });
  const policies: fc.Arbitrary<RetryPolicy> = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 100 }),
    backoff: fc.oneof(
      fc.record({ kind: fc.constant('fixed' as const), seconds }),
      fc.record({ kind: fc.constant('list' as const), seconds: fc.array(seconds, { minLength: 1, maxLength: 50 }) }),
      fc.record({
        kind: fc.constant('exponential' as const),
        initialSeconds: seconds,
        factor: fc.double({ min: 1, max: 100, noNaN: true }),
        maxSeconds: seconds,
      }),
    ),
    jitter: fc.constantFrom<RetryPolicy['jitter'][]>('none', 'full', 'equal'),
  });
  const outcomes = fc.oneof(
    fc.constant(boom),
    fc.constant<AttemptOutcome>({ kind: 'held-back', reason: 'throttled', message: '' }),
    fc
      .oneof(fc.double({ noNaN: true }).map(String), fc.string(), fc.date({ noInvalidDate: true }).map(String))
      .map((message) => throwing('RetryAfterError', message)),
  );
  const counts = { times: fc.nat(), after: fc.nat({ max: 1_000_000 }), more: fc.integer({ min: 1, max: 100_000 }) };
  fc.assert(
    fc.property(policies, outcomes, fc.record(counts), fc.double({ min: 0, max: 0.999999, noNaN: true }), (...args) => {
      const [policy, outcome, { times, after: before, more }, chance] = args;
      const started = aStartedRun({
        attempt: before + more,
        series: { number: 2, after: before },
        heldBack: { times, since: NOON },
      });
      const run = decideAfterAttempt({ run: started, outcome, retry: policy, now: NOON, chance, failedRetentionMs: 1 });
      expect(run.expiresAt).toBeGreaterThanOrEqual(started.expiresAt);
      if (run.state === 'FAILED') return;
      expect(Number.isSafeInteger(run.dueAt)).toBe(true);
      expect(run.dueAt).toBeGreaterThanOrEqual(NOON);
      expect(run.indexDueAt).toBe(run.dueAt - NOON > 900_000 ? run.dueAt : undefined);
      expect(run.expiresAt - run.dueAt).toBe(started.expiresAt - started.dueAt);
    }),
  );
});
