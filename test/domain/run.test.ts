import {
  attemptsOfSeries,
  IllegalTransitionError,
  mayBecome,
  revise,
  RUN_STATES,
  transition,
} from '../../src/domain/run';
import { aStartedRun, MINUTE, NOON } from '../support/builders';

const LEGAL: Record<string, readonly string[]> = {
  SCHEDULED: ['STARTED', 'SKIPPED', 'CANCELLED', 'FAILED'],
  STARTED: ['STARTED', 'DONE', 'RELEASED', 'FAILED', 'CANCELLED'],
  RELEASED: ['STARTED', 'SKIPPED', 'FAILED', 'CANCELLED'],
  FAILED: ['RELEASED'],
  DONE: [],
  SKIPPED: [],
  CANCELLED: [],
};

describe('the transitions of a run', () => {
  for (const from of RUN_STATES) {
    for (const to of RUN_STATES) {
      const isLegal = LEGAL[from]!.includes(to);
      test(`${from} ${isLegal ? 'may become' : 'never becomes'} ${to}`, () => {
        expect(mayBecome(from, to)).toBe(isLegal);
        const run = { ...aStartedRun(), state: from };
        if (isLegal) expect(transition(run, to, NOON).state).toBe(to);
        else expect(() => transition(run, to, NOON)).toThrow(IllegalTransitionError);
      });
    }
  }

  test('each one counts the sequence and the revision up by one and notes its instant', () => {
    const run = aStartedRun();
    const done = transition(run, 'DONE', NOON + 5);
    expect([run.sequence, done.sequence]).toEqual([2, 3]);
    expect(done.revision).toBe(run.revision + 1);
    expect(done.changedAt).toBe(NOON + 5);
  });

  test('each one ends the lease and the reason of the state before', () => {
    const released = transition(aStartedRun(), 'RELEASED', NOON, {
      reason: 'attempt-failed',
      indexDueAt: NOON + MINUTE,
    });
    expect(released).not.toHaveProperty('leaseUntil');
    const started = transition(released, 'STARTED', NOON, { leaseUntil: NOON + MINUTE });
    expect(started).not.toHaveProperty('reason');
    expect(started).not.toHaveProperty('indexDueAt');
  });

  test('a renewal changes the revision, not the sequence', () => {
    const run = aStartedRun();
    const renewed = revise(run, { leaseUntil: NOON + 2 * MINUTE });
    expect(renewed.sequence).toBe(run.sequence);
    expect(renewed.revision).toBe(run.revision + 1);
  });

  test('attempts are counted from where the series began', () => {
    expect(attemptsOfSeries(aStartedRun({ attempt: 5 }))).toBe(5);
    expect(attemptsOfSeries(aStartedRun({ attempt: 5, series: { number: 2, after: 3 } }))).toBe(2);
  });
});
