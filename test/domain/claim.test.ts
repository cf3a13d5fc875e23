import { activationOf, scheduledRun } from '../../src/domain/activation';
import { decideArrival, decideClaim, LEASE_MS } from '../../src/domain/claim';
import { startSeries } from '../../src/domain/conclude';
import type { JobRow } from '../../src/domain/job';
import { DEFAULT_RETRY } from '../../src/domain/retry-policy';
import { transition, type Run } from '../../src/domain/run';
import {
  aJob,
  anActivation,
  aStartedRun,
  DAY,
  every,
  HOUR,
  MINUTE,
  NOON,
  RETENTION_MS,
  SECOND,
} from '../support/builders';

const decide = (input: {
  job?: Partial<JobRow> | null;
  run?: Run;
  now?: number;
  activation?: Parameters<typeof anActivation>[0];
}) =>
  decideClaim({
    activation: anActivation(input.activation),
    job: input.job === null ? undefined : aJob(input.job),
    run: input.run,
    now: input.now ?? NOON,
    chance: 0.5,
    retentionMs: RETENTION_MS,
    failedRetentionMs: 2 * RETENTION_MS,
  });
const released = (changes: Partial<Run> = {}): Run =>
  transition(aStartedRun(), 'RELEASED', NOON + SECOND, { dueAt: NOON + 10 * SECOND, ...changes });
const recurring = every('rate(10 minutes)', NOON - HOUR);

describe('a message that arrives', () => {
  test('on time or late goes on', () => {
    expect(decideArrival(anActivation(), NOON)).toEqual({ action: 'go-on' });
    expect(decideArrival(anActivation(), NOON + HOUR)).toEqual({ action: 'go-on' });
  });
  test('up to eight seconds early waits for its instant', () => {
    expect(decideArrival(anActivation(), NOON - 1)).toEqual({ action: 'wait', untilAt: NOON });
    expect(decideArrival(anActivation(), NOON - 8 * SECOND)).toEqual({ action: 'wait', untilAt: NOON });
  });
  test('earlier than that is sent again', () => {
    expect(decideArrival(anActivation(), NOON - 8 * SECOND - 1)).toMatchObject({
      action: 'send-again',
      deliverAt: NOON,
    });
  });
});

describe('who may start an attempt', () => {
  test('whoever finds no row claims the first one', () => {
    const decision = decide({});
    expect(decision).toMatchObject({ action: 'claim', reason: 'due' });
    expect(decision).not.toHaveProperty('seen');
    expect((decision as { run: Run }).run).toMatchObject({
      state: 'STARTED',
      sequence: 2,
      revision: 1,
      attempt: 1,
      startedAt: NOON,
      leaseUntil: NOON + LEASE_MS,
    });
  });

  test('a run that is over is not started again, and what follows is repeated', () => {
    for (const state of ['DONE', 'FAILED', 'CANCELLED'] as const) {
      const run = transition(aStartedRun(), state, NOON + SECOND);
      expect(decide({ run })).toMatchObject({ action: 'repeat', run });
      expect(decide({ run, job: null })).toMatchObject({ action: 'repeat', run });
      expect(decide({ run, job: { state: 'DELETED' } })).toMatchObject({ action: 'repeat', run });
    }
  });

  test('an attempt under a live lease is left to its holder, also within the margin after it', () => {
    const run = aStartedRun();
    for (const now of [NOON, NOON + MINUTE, NOON + MINUTE + 5 * SECOND]) {
      expect(decide({ run, now })).toMatchObject({ action: 'send-again', deliverAt: NOON + MINUTE + 6 * SECOND });
    }
  });

  test('an attempt whose lease ended is lost and counts, and the next one starts', () => {
    const run = aStartedRun();
    const decision = decide({ run, now: NOON + MINUTE + 5 * SECOND + 1 });
    expect(decision).toMatchObject({ action: 'claim', reason: 'attempt-lost', seen: run });
    expect((decision as { run: Run }).run).toMatchObject({
      attempt: 2,
      sequence: 3,
      attempts: [{ attempt: 1, reason: 'attempt-lost' }],
    });
  });

  test('a job that kills its runner does not go round for ever', () => {
    const run = aStartedRun({ attempt: 3 });
    const decision = decide({ run, now: NOON + HOUR });
    expect(decision).toMatchObject({ action: 'record', run: { state: 'FAILED', reason: 'attempt-lost' } });
  });

  test('an attempt that nobody completed in time has failed, and waits by the policy for the next', () => {
    const run = aStartedRun({ isAwaited: true, indexDueAt: NOON + MINUTE, completionToken: 'secret' });
    const now = NOON + MINUTE + 6 * SECOND;
    const decision = decide({ run, now }) as { action: string; run: Run };
    expect(decision).toMatchObject({ action: 'record', reason: 'heartbeat-missed', seen: run });
    expect(decision.run).toMatchObject({
      state: 'RELEASED',
      reason: 'heartbeat-missed',
      dueAt: now + 10 * SECOND,
      error: { type: 'HeartbeatMissed' },
      attempts: [{ attempt: 1, reason: 'heartbeat-missed' }],
    });
    expect(decision.run).not.toHaveProperty('completionToken');
    expect(decide({ run: { ...run, attempt: 3 }, now })).toMatchObject({
      run: { state: 'FAILED', reason: 'heartbeat-missed' },
    });
  });

  test('an attempt whose completion is awaited is left to the due index while its lease lasts', () => {
    const run = aStartedRun({ isAwaited: true, indexDueAt: NOON + MINUTE });
    expect(decide({ run, now: NOON + 30 * SECOND })).toMatchObject({ action: 'repeat', reason: 'awaited' });
    const { indexDueAt: _, ...taken } = run;
    expect(decide({ run: taken, now: NOON + 30 * SECOND })).toMatchObject({ action: 'send-again' });
  });

  test('a lost attempt that was to be cancelled is not followed by another', () => {
    const run = aStartedRun({ cancelRequestedAt: NOON + SECOND, reason: 'cancelled: enough' });
    expect(decide({ run })).toMatchObject({ action: 'send-again' });
    expect(decide({ run, now: NOON + HOUR })).toMatchObject({
      action: 'record',
      seen: run,
      run: { state: 'CANCELLED', reason: 'cancelled: enough', error: { type: 'AttemptLost' } },
    });
  });

  test('no attempt after the first starts later than retryUntil', () => {
    const job = { retry: { ...DEFAULT_RETRY, retryUntil: NOON + 20 * SECOND } };
    expect(decide({ job, now: NOON + HOUR })).toMatchObject({ action: 'claim' });
    expect(decide({ job, run: released(), now: NOON + 20 * SECOND })).toMatchObject({ action: 'claim' });
    expect(decide({ job, run: released(), now: NOON + 20 * SECOND + 1 })).toMatchObject({
      action: 'record',
      run: { state: 'FAILED', reason: 'out-of-time', expiresAt: NOON + 20 * SECOND + 1 + 2 * RETENTION_MS },
    });
    expect(decide({ job, run: aStartedRun(), now: NOON + HOUR })).toMatchObject({
      run: { state: 'FAILED', reason: 'out-of-time', error: { type: 'AttemptLost' }, attempts: [{ attempt: 1 }] },
    });
  });

  test('what a person sent again starts though it is late, out of time or without attempts, and is no misfire', () => {
    const job = { schedule: recurring, retry: { ...DEFAULT_RETRY, maxAttempts: 1, retryUntil: NOON } };
    for (const attempt of [0, 1]) {
      const over = transition(aStartedRun({ attempt }), 'FAILED', NOON + SECOND);
      const run = startSeries(over, NOON + DAY);
      expect(decide({ job, run, now: NOON + DAY })).toMatchObject({ action: 'claim', run: { attempt: attempt + 1 } });
      expect(decide({ job: { ...job, state: 'PAUSED' }, run, now: NOON + DAY })).toMatchObject({ action: 'claim' });
      expect(decide({ job: { ...job, state: 'DELETED' }, run, now: NOON + DAY })).toMatchObject({
        run: { state: 'CANCELLED' },
      });
    }
  });

  test('attempts that are lost are counted within the series', () => {
    const started = aStartedRun({ attempt: 5, series: { number: 2, after: 3 } });
    expect(decide({ run: started, now: NOON + HOUR })).toMatchObject({ action: 'claim', run: { attempt: 6 } });
    expect(decide({ run: { ...started, attempt: 6 }, now: NOON + HOUR })).toMatchObject({ run: { state: 'FAILED' } });
  });

  test('a waiting run starts at its due instant, not before', () => {
    const run = released();
    expect(decide({ run, now: NOON + 10 * SECOND - 1 })).toMatchObject({
      action: 'send-again',
      deliverAt: NOON + 10 * SECOND,
      activation: activationOf(run),
    });
    expect(decide({ run, now: NOON + 10 * SECOND })).toMatchObject({ action: 'claim', run: { attempt: 2 } });
  });

  test('a waiting run that the due index leads to needs no further message', () => {
    const run = released({ indexDueAt: NOON + HOUR, dueAt: NOON + HOUR });
    expect(decide({ run })).toMatchObject({ action: 'repeat', reason: 'waits-in-the-index' });
  });
});

describe('a message whose job does not know it', () => {
  const unknown = { generation: 'g0' };

  test('comes again for a minute, since the row may be being written', () => {
    for (const job of [null, {}]) {
      expect(decide({ job, activation: { generation: 'g2' } })).toMatchObject({
        action: 'send-again',
        reason: 'no-row-yet',
        activation: { waitingSince: NOON },
        deliverAt: NOON + 3 * SECOND,
      });
    }
  });

  test('fences the job off after that, where there is no row', () => {
    expect(decide({ job: null, activation: { waitingSince: NOON - MINUTE } })).toMatchObject({ action: 'fence' });
  });

  test('is dropped after that, where another generation lives', () => {
    expect(decide({ activation: { ...unknown, waitingSince: NOON - MINUTE } })).toMatchObject({ action: 'drop' });
  });

  test('leaves a run of another life alone', () => {
    const run = released();
    expect(decide({ run, activation: { ...unknown, waitingSince: NOON - MINUTE } })).toMatchObject({ action: 'drop' });
  });

  test('takes its waiting run with it', () => {
    const run = released({ generation: 'g0' });
    expect(decide({ run, activation: { ...unknown, waitingSince: NOON - MINUTE } })).toMatchObject({
      action: 'record',
      seen: run,
      run: { state: 'CANCELLED', reason: 'unknown-generation' },
    });
  });

  test('does not touch an attempt that somebody holds', () => {
    const run = aStartedRun({ generation: 'g0' });
    expect(decide({ run, activation: { ...unknown, waitingSince: NOON - MINUTE } })).toMatchObject({ action: 'drop' });
  });

  test('is let go at once by a tombstone that fences it off', () => {
    expect(decide({ job: { state: 'DELETED', generations: [] } })).toMatchObject({ action: 'drop', reason: 'fenced' });
  });
});

describe('a job that changed after its message was sent', () => {
  test('a deleted one records what did not run and cancels what waits', () => {
    const job = { state: 'DELETED' as const };
    expect(decide({ job })).toMatchObject({
      action: 'record',
      run: { state: 'SKIPPED', reason: 'deleted', attempt: 0 },
    });
    expect(decide({ job, run: released() })).toMatchObject({ action: 'record', run: { state: 'CANCELLED' } });
  });

  test('a deleted one leaves a running attempt alone until its lease is lost', () => {
    const job = { state: 'DELETED' as const };
    expect(decide({ job, run: aStartedRun() })).toMatchObject({ action: 'send-again' });
    expect(decide({ job, run: aStartedRun(), now: NOON + HOUR })).toMatchObject({ run: { state: 'CANCELLED' } });
  });

  const edited = (startedAt: number) => ({
    generations: [
      { id: 'g1', startedAt: NOON - HOUR },
      { id: 'g2', startedAt },
    ],
  });

  test('an edit supersedes the occurrences from its instant on, without a record', () => {
    expect(decide({ job: edited(NOON) })).toMatchObject({ action: 'drop', reason: 'superseded' });
    expect(decide({ job: edited(NOON + 1) })).toMatchObject({ action: 'claim' });
  });

  test('an edit does not stop a run that has begun', () => {
    expect(decide({ job: edited(NOON), run: released(), now: NOON + MINUTE })).toMatchObject({ action: 'claim' });
  });

  test('a pause skips a recurring occurrence and keeps a one-off for later', () => {
    expect(decide({ job: { state: 'PAUSED', schedule: recurring } })).toMatchObject({
      action: 'record',
      run: { state: 'SKIPPED', reason: 'paused' },
    });
    expect(decide({ job: { state: 'PAUSED' } })).toMatchObject({ action: 'drop', reason: 'paused' });
  });

  test('a pause stops neither a run that has begun nor one that a person asked for', () => {
    const job = { state: 'PAUSED' as const, schedule: recurring };
    expect(decide({ job, run: released(), now: NOON + MINUTE })).toMatchObject({ action: 'claim' });
    expect(decide({ job, activation: { origin: 'manual' } })).toMatchObject({ action: 'claim' });
  });
});

describe('an occurrence that a runner gets late', () => {
  test('runs when it is the latest one missed, and is skipped when a later one is due too', () => {
    const job = { schedule: recurring };
    expect(decide({ job, now: NOON + 5 * MINUTE })).toMatchObject({ action: 'claim' });
    expect(decide({ job, now: NOON + 10 * MINUTE })).toMatchObject({
      action: 'record',
      run: { state: 'SKIPPED', reason: 'misfire' },
    });
  });

  test('within its grace always runs', () => {
    expect(decide({ job: { schedule: every('rate(1 second)') }, now: NOON + MINUTE })).toMatchObject({
      action: 'claim',
    });
  });

  test('of a one-off, by a person, or begun before, never misfires', () => {
    expect(decide({ now: NOON + 24 * HOUR })).toMatchObject({ action: 'claim', run: { latenessMs: 24 * HOUR } });
    const job = { schedule: recurring };
    expect(decide({ job, activation: { origin: 'backfill' }, now: NOON + HOUR })).toMatchObject({ action: 'claim' });
    expect(decide({ job, run: released(), now: NOON + HOUR })).toMatchObject({ action: 'claim' });
  });
});

test('a run has the same id for the same occurrence, and another for another', () => {
  const id = (changes: Parameters<typeof anActivation>[0]) => scheduledRun(anActivation(changes), RETENTION_MS).runId;
  expect(id({ generation: 'g9', sequence: 7 })).toBe(id({}));
  expect(new Set([id({}), id({ jobId: 'other' }), id({ nominalAt: NOON + 1 }), id({ origin: 'manual' })]).size).toBe(4);
  expect(id({ nominalAt: NOON + 1 }) > id({})).toBe(true);
});
