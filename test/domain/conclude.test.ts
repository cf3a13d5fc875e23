import { cutBytes, decideAfterAttempt, RESULT_BYTES, type AttemptOutcome } from '../../src/domain/conclude';
import type { RetryPolicy } from '../../src/domain/retry-policy';
import type { Run } from '../../src/domain/run';
import { aStartedRun, HOUR, MINUTE, NOON, SECOND } from '../support/builders';

const retry: RetryPolicy = { maxAttempts: 3, backoff: { kind: 'fixed', seconds: 5 }, jitter: 'none' };
const after = (outcome: AttemptOutcome, changes: Partial<Run> = {}, policy = retry, now = NOON + SECOND) =>
  decideAfterAttempt({ run: { ...aStartedRun(), ...changes }, outcome, retry: policy, now, chance: 0.5 });
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
    let run: Run = aStartedRun();
    for (let times = 1; times <= 20; times++) {
      const outcome: AttemptOutcome = { kind: 'held-back', reason: 'throttled', message: 'slow down' };
      run = decideAfterAttempt({ run, outcome, retry: { ...retry, maxAttempts: 1 }, now: NOON, chance: 0.999 });
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

  test('a hundred attempts with long errors leave a row of bounded size', () => {
    const long: AttemptOutcome = { kind: 'failed', error: { type: 'Error', message: 'x'.repeat(100_000) } };
    const policy = { ...retry, maxAttempts: 100 };
    let run: Run = aStartedRun();
    for (let attempt = 1; attempt <= 100; attempt++) {
      run = decideAfterAttempt({
        run: { ...run, state: 'STARTED', attempt },
        outcome: long,
        retry: policy,
        now: NOON,
        chance: 0,
      });
    }
    expect(run.state).toBe('FAILED');
    expect(JSON.stringify(run).length).toBeLessThan(20_000);
  });
});
