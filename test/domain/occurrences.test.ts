import fc from 'fast-check';
import { decideDispatch, isMisfireToSkip } from '../../src/domain/occurrences';
import type { MisfirePolicy } from '../../src/domain/misfire';
import { aJob, every, HOUR, MINUTE, NOON, onceAt, SECOND } from '../support/builders';

const minutely = (policy: MisfirePolicy['policy'], changes = {}) =>
  aJob({ schedule: every('rate(1 minute)'), misfire: { policy, graceSeconds: 60 }, dueAt: NOON + MINUTE, ...changes });

describe('which occurrences of a job are dispatched', () => {
  test('those up to the horizon, and the job is due next after them', () => {
    expect(decideDispatch(minutely('run-once'), NOON, NOON + 130 * SECOND)).toMatchObject({
      dispatch: [NOON + MINUTE, NOON + 2 * MINUTE],
      nextDueAt: NOON + 3 * MINUTE,
    });
  });

  test('none before it is due, when it is paused, or when it has no due key', () => {
    expect(decideDispatch(minutely('run-once'), NOON, NOON + MINUTE - 1).dispatch).toEqual([]);
    expect(decideDispatch(minutely('run-once', { state: 'PAUSED' }), NOON, NOON + HOUR).dispatch).toEqual([]);
    const { dueAt: _, ...without } = minutely('run-once');
    expect(decideDispatch(without, NOON, NOON + HOUR).dispatch).toEqual([]);
  });

  test('a one-off once, however late, and it is due no more', () => {
    const decision = decideDispatch(aJob({ schedule: onceAt(NOON), dueAt: NOON }), NOON + 99 * HOUR, NOON + 100 * HOUR);
    expect(decision.dispatch).toEqual([NOON]);
    expect(decision).not.toHaveProperty('nextDueAt');
  });

  test('after an outage: the latest missed one runs, one record covers the others, the grace is not missed', () => {
    const now = NOON + 10 * MINUTE + 30 * SECOND;
    const decision = decideDispatch(minutely('run-once'), now, now);
    // Missed are minutes 1 to 9; minute 10 is within its grace of 60 s.
    expect(decision.dispatch).toEqual([NOON + 9 * MINUTE, NOON + 10 * MINUTE]);
    expect(decision.skip).toEqual({ nominalAt: NOON + 8 * MINUTE, alsoCovers: 7 });
    expect(decision.nextDueAt).toBe(NOON + 11 * MINUTE);
  });

  test('after an outage under "skip" no missed one runs', () => {
    const now = NOON + 10 * MINUTE + 30 * SECOND;
    expect(decideDispatch(minutely('skip'), now, now)).toMatchObject({
      dispatch: [NOON + 10 * MINUTE],
      skip: { nominalAt: NOON + 9 * MINUTE, alsoCovers: 8 },
    });
  });

  test('after an outage under "run-all" the latest hundred run', () => {
    const now = NOON + 150 * MINUTE + 30 * SECOND;
    const decision = decideDispatch(minutely('run-all'), now, now);
    expect(decision.dispatch).toHaveLength(101);
    expect(decision.skip).toEqual({ nominalAt: NOON + 49 * MINUTE, alsoCovers: 48 });
  });

  test('a month of missed seconds makes one record, in little time', () => {
    const job = aJob({ schedule: every('rate(1 second)'), dueAt: NOON + SECOND });
    const now = NOON + 30 * 24 * HOUR;
    const decision = decideDispatch(job, now, now + 15 * SECOND);
    expect(decision.dispatch).toHaveLength(1 + 60 + 1 + 15);
    expect(decision.dispatch[0]).toBe(now - MINUTE - SECOND);
    // Counting ends at 100,000: the record then says at least how many it covers.
    expect(decision.skip).toEqual({ nominalAt: now - MINUTE - 2 * SECOND, alsoCovers: 99_999 });
    expect(decision.nextDueAt).toBe(now + 16 * SECOND);
  });

  test('a schedule that names nothing more has no next instant', () => {
    const job = aJob({ schedule: every('cron(0 0 12 4 5 ? 2027)'), dueAt: NOON });
    const decision = decideDispatch(job, NOON, NOON + MINUTE);
    expect(decision.dispatch).toEqual([NOON]);
    expect(decision).not.toHaveProperty('nextDueAt');
  });

  test('from step to step every occurrence is dispatched or covered exactly once, whatever the pauses between steps', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<MisfirePolicy['policy'][]>('run-once', 'run-all', 'skip'),
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.integer({ min: 0, max: 7_200 }), { minLength: 1, maxLength: 12 }),
        (policy, periodSeconds, pauses) => {
          const schedule = every(`rate(${periodSeconds} seconds)`);
          let job = aJob({ schedule, misfire: { policy, graceSeconds: 60 }, dueAt: NOON + periodSeconds * SECOND });
          const dispatched: number[] = [];
          let covered = 0;
          let now = NOON;
          for (const pause of pauses) {
            now += pause * SECOND;
            const decision = decideDispatch(job, now, now + 15 * SECOND);
            dispatched.push(...decision.dispatch);
            covered += decision.skip ? decision.skip.alsoCovers + 1 : 0;
            expect(decision.nextDueAt).toBeGreaterThanOrEqual(job.dueAt!);
            job = { ...job, dueAt: decision.nextDueAt! };
          }
          expect(new Set(dispatched).size).toBe(dispatched.length);
          expect([...dispatched].sort((a, b) => a - b)).toEqual(dispatched);
          const named = (job.dueAt! - NOON) / (periodSeconds * SECOND) - 1;
          expect(dispatched.length + covered).toBe(named);
        },
      ),
    );
  });
});

describe('a late occurrence in a runner’s hands', () => {
  test('is let go under "skip" once its grace is over', () => {
    expect(isMisfireToSkip(minutely('skip'), NOON, NOON + MINUTE)).toBe(false);
    expect(isMisfireToSkip(minutely('skip'), NOON, NOON + MINUTE + 1)).toBe(true);
  });

  test('runs under "run-all" unless a hundred later ones are due', () => {
    expect(isMisfireToSkip(minutely('run-all'), NOON, NOON + 99 * MINUTE)).toBe(false);
    expect(isMisfireToSkip(minutely('run-all'), NOON, NOON + 100 * MINUTE)).toBe(true);
  });
});
