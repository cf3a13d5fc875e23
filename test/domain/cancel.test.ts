import { runIdOf, scheduledRun } from '../../src/domain/activation';
import { absentRun, decideCancel } from '../../src/domain/cancel';
import type { JobRow } from '../../src/domain/job';
import { transition, type RunOrigin } from '../../src/domain/run';
import { aJob, anActivation, aStartedRun, every, HOUR, MINUTE, NOON, RETENTION_MS, SECOND } from '../support/builders';

describe('a run that somebody takes back', () => {
  test('before it begins, or between its attempts, is CANCELLED at once', () => {
    const waiting = transition(aStartedRun(), 'RELEASED', NOON, { indexDueAt: NOON + HOUR });
    for (const run of [scheduledRun(anActivation(), RETENTION_MS), waiting]) {
      const cancelled = decideCancel(run, NOON + SECOND, 'cancelled: why');
      expect(cancelled).toMatchObject({ state: 'CANCELLED', reason: 'cancelled: why', finishedAt: NOON + SECOND });
      expect(cancelled).not.toHaveProperty('indexDueAt');
    }
  });

  test('at work keeps its state and its lease, and says since when it is to stop', () => {
    const run = aStartedRun();
    const asked = decideCancel(run, NOON + SECOND, 'cancelled');
    expect(asked).toEqual({
      ...run,
      revision: run.revision + 1,
      cancelRequestedAt: NOON + SECOND,
      reason: 'cancelled',
    });
    expect(decideCancel(asked, NOON + MINUTE, 'again')).toBe(asked);
  });

  test('whose attempt was lost is CANCELLED', () => {
    expect(decideCancel(aStartedRun(), NOON + HOUR, 'cancelled: why')).toMatchObject({
      state: 'CANCELLED',
      reason: 'cancelled: why',
      error: { type: 'AttemptLost' },
    });
  });
});

describe('a run without a row', () => {
  const named = (job: JobRow, nominalAt: number, origin: RunOrigin = 'scheduled', generation = 'g1') => {
    const runId = runIdOf({ jobId: job.jobId, nominalAt, origin, generation });
    return absentRun(job, job, runId, NOON, RETENTION_MS);
  };
  const each = aJob({ schedule: every('rate(10 minutes)', NOON - HOUR), jitterSeconds: 60, priority: 'high' });

  test('of a schedule is one of its occurrences, due with its jitter, of its priority', () => {
    const run = named(each, NOON + 10 * MINUTE);
    expect(run).toMatchObject({ state: 'SCHEDULED', sequence: 1, nominalAt: NOON + 10 * MINUTE, priority: 'high' });
    expect(run!.dueAt).toBeGreaterThan(NOON + 10 * MINUTE);
    expect(named(each, NOON + 10 * MINUTE + 1)).toBeUndefined();
    expect(named(each, NOON - 2 * HOUR)).toBeUndefined();
    expect(named({ ...each, state: 'COMPLETED', dispatchedUntil: NOON }, NOON)).toBeDefined();
    expect(named({ ...each, state: 'COMPLETED', dispatchedUntil: NOON }, NOON + 10 * MINUTE)).toBeUndefined();
  });

  test('of a one-off is its only one', () => {
    expect(named(aJob(), NOON)).toBeDefined();
    expect(named(aJob(), NOON + 1)).toBeUndefined();
  });

  test('that a person asked for lies in the past, and belongs to a generation where its id says so', () => {
    expect(named(each, NOON - 1, 'manual')).toMatchObject({ origin: 'manual', dueAt: NOON - 1 });
    expect(named(each, NOON + HOUR, 'manual')).toBeUndefined();
    expect(named(each, NOON - 1, 'backfill')).toMatchObject({ origin: 'backfill', generation: 'g1' });
    expect(named(each, NOON - 1, 'backfill', 'g2')).toBeUndefined();
  });

  test('belongs to the generation of its instant', () => {
    const generations = [...each.generations, { id: 'g2', startedAt: NOON + MINUTE }];
    const edited = { ...each, generations };
    expect(named(edited, NOON)).toMatchObject({ generation: 'g1' });
    expect(named(edited, NOON + 10 * MINUTE)).toMatchObject({ generation: 'g2' });
    const runId = runIdOf({ jobId: each.jobId, nominalAt: NOON, origin: 'scheduled', generation: '' });
    expect(absentRun(edited, undefined, runId, NOON, RETENTION_MS)).toBeUndefined();
  });

  test('has an id that nobody can make up', () => {
    const { runId } = named(each, NOON)!;
    for (const other of ['', 'x', `${runId}0`, runId.replace(/.$/, '!'), runId.replace('2027', '2026')]) {
      expect(absentRun(each, each, other, NOON, RETENTION_MS)).toBeUndefined();
    }
  });
});
