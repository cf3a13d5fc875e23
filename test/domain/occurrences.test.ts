import fc from 'fast-check';
import { decideDispatch, isMisfireToSkip, jitterMs, nextDueAt } from '../../src/domain/occurrences';
import type { MisfirePolicy } from '../../src/domain/misfire';
import { aJob, every, HOUR, MINUTE, NOON, onceAt, SECOND } from '../support/builders';

const nominals = (decision: ReturnType<typeof decideDispatch>) => decision.dispatch.map(({ nominalAt }) => nominalAt);

const minutely = (policy: MisfirePolicy['policy'], changes = {}) =>
  aJob({ schedule: every('rate(1 minute)'), misfire: { policy, graceSeconds: 60 }, dueAt: NOON + MINUTE, ...changes });

describe('which occurrences of a job are dispatched', () => {
  test('those up to the horizon, and the job is due next after them', () => {
    const decision = decideDispatch(minutely('run-once'), NOON, NOON + 130 * SECOND);
    expect(nominals(decision)).toEqual([NOON + MINUTE, NOON + 2 * MINUTE]);
    expect(decision.nextDueAt).toBe(NOON + 3 * MINUTE);
  });

  test('none before it is due, when it is paused, or when it has no due key', () => {
    expect(decideDispatch(minutely('run-once'), NOON, NOON + MINUTE - 1).dispatch).toEqual([]);
    expect(decideDispatch(minutely('run-once', { state: 'PAUSED' }), NOON, NOON + HOUR).dispatch).toEqual([]);
    const { dueAt: _, ...without } = minutely('run-once');
    expect(decideDispatch(without, NOON, NOON + HOUR).dispatch).toEqual([]);
  });

  test('a one-off once, however late, and it is due no more', () => {
    const decision = decideDispatch(aJob({ schedule: onceAt(NOON), dueAt: NOON }), NOON + 99 * HOUR, NOON + 100 * HOUR);
    expect(nominals(decision)).toEqual([NOON]);
    expect(decision).not.toHaveProperty('nextDueAt');
  });

  test('after an outage: the latest missed one runs, one record covers the others, the grace is not missed', () => {
    const now = NOON + 10 * MINUTE + 30 * SECOND;
    const decision = decideDispatch(minutely('run-once'), now, now);
    // Missed are minutes 1 to 9; minute 10 is within its grace of 60 s.
    expect(nominals(decision)).toEqual([NOON + 9 * MINUTE, NOON + 10 * MINUTE]);
    expect(decision.skip).toMatchObject([{ nominalAt: NOON + 8 * MINUTE, alsoCovers: 7, reason: 'misfire' }]);
    expect(decision.nextDueAt).toBe(NOON + 11 * MINUTE);
  });

  test('after an outage under "skip" no missed one runs', () => {
    const now = NOON + 10 * MINUTE + 30 * SECOND;
    const decision = decideDispatch(minutely('skip'), now, now);
    expect(nominals(decision)).toEqual([NOON + 10 * MINUTE]);
    expect(decision.skip).toMatchObject([{ nominalAt: NOON + 9 * MINUTE, alsoCovers: 8 }]);
  });

  test('after an outage under "run-all" the latest hundred run', () => {
    const now = NOON + 150 * MINUTE + 30 * SECOND;
    const decision = decideDispatch(minutely('run-all'), now, now);
    expect(decision.dispatch).toHaveLength(101);
    expect(decision.skip).toMatchObject([{ nominalAt: NOON + 49 * MINUTE, alsoCovers: 48 }]);
  });

  test('a month of missed seconds makes one record, in little time', () => {
    const job = aJob({ schedule: every('rate(1 second)'), dueAt: NOON + SECOND });
    const now = NOON + 30 * 24 * HOUR;
    const decision = decideDispatch(job, now, now + 15 * SECOND);
    expect(decision.dispatch).toHaveLength(1 + 60 + 1 + 15);
    expect(nominals(decision)[0]).toBe(now - MINUTE - SECOND);
    // Counting ends at 100,000: the record then says at least how many it covers.
    expect(decision.skip).toMatchObject([{ nominalAt: now - MINUTE - 2 * SECOND, alsoCovers: 99_999 }]);
    expect(decision.nextDueAt).toBe(now + 16 * SECOND);
  });

  test('a schedule that names nothing more has no next instant', () => {
    const job = aJob({ schedule: every('cron(0 0 12 4 5 ? 2027)'), dueAt: NOON });
    const decision = decideDispatch(job, NOON, NOON + MINUTE);
    expect(nominals(decision)).toEqual([NOON]);
    expect(decision).not.toHaveProperty('nextDueAt');
  });

  test('each of them is due later by the job’s own part of its jitter', () => {
    const jittered = aJob({ schedule: every('rate(1 minute)'), jitterSeconds: 600 });
    const offset = jitterMs(jittered);
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThan(600 * SECOND);
    expect(jitterMs({ ...jittered, jobId: 'another' })).not.toBe(offset);
    const dueAt = nextDueAt(jittered, NOON + offset)!;
    expect(dueAt).toBe(NOON + MINUTE + offset);
    const decision = decideDispatch({ ...jittered, dueAt }, dueAt, dueAt + MINUTE);
    expect(decision.dispatch).toEqual([
      { nominalAt: NOON + MINUTE, dueAt: NOON + MINUTE + offset },
      { nominalAt: NOON + 2 * MINUTE, dueAt: NOON + 2 * MINUTE + offset },
    ]);
    expect(decision.nextDueAt).toBe(NOON + 3 * MINUTE + offset);
    expect(isMisfireToSkip(jittered, NOON, NOON + offset + MINUTE)).toBe(false);
  });

  test('none lies before the start or after the end, and the start is the first of a rate', () => {
    const schedule = {
      ...every('rate(1 minute)', NOON + 90 * SECOND),
      startAt: NOON + 90 * SECOND,
      endAt: NOON + 211 * SECOND,
    };
    const job = aJob({ schedule, dueAt: nextDueAt(aJob({ schedule }), NOON)! });
    const decision = decideDispatch(job, NOON, NOON + HOUR);
    expect(nominals(decision)).toEqual([NOON + 90 * SECOND, NOON + 150 * SECOND, NOON + 210 * SECOND]);
    expect(decision).not.toHaveProperty('nextDueAt');
  });

  test('no more than the maximum number of runs, and then the schedule has ended', () => {
    const job = minutely('run-once', { maxRuns: 3, runsDispatched: 1 });
    const decision = decideDispatch(job, NOON, NOON + HOUR);
    expect(nominals(decision)).toEqual([NOON + MINUTE, NOON + 2 * MINUTE]);
    expect(decision).not.toHaveProperty('nextDueAt');
    expect(decideDispatch({ ...job, maxRuns: 4 }, NOON, NOON + 3 * MINUTE)).not.toHaveProperty('nextDueAt');
    expect(decideDispatch({ ...job, maxRuns: 5 }, NOON, NOON + 3 * MINUTE).nextDueAt).toBe(NOON + 4 * MINUTE);
  });

  test('one that a change of the clocks swallows leaves a record when the clocks change', () => {
    const saturday = Date.UTC(2027, 2, 27, 1, 30);
    const gapAt = Date.UTC(2027, 2, 28, 1);
    const schedule = { ...every('cron(30 1 * * ? *)'), timezone: 'Europe/London' };
    const job = aJob({ schedule, dueAt: saturday });
    const first = decideDispatch(job, saturday, saturday + MINUTE);
    expect(nominals(first)).toEqual([saturday]);
    expect(first.skip).toEqual([]);
    expect(first.nextDueAt).toBe(gapAt);
    const second = decideDispatch({ ...job, dueAt: gapAt }, gapAt, gapAt + MINUTE);
    expect(second.dispatch).toEqual([]);
    expect(second.skip).toMatchObject([{ nominalAt: gapAt - 1, alsoCovers: 0, reason: 'dst-gap' }]);
    expect(second.nextDueAt).toBe(Date.UTC(2027, 2, 29, 0, 30));
    const runAfter = { ...job, schedule: { ...schedule, dst: { gap: 'run-after' as const } } };
    expect(decideDispatch(runAfter, saturday, saturday + MINUTE).nextDueAt).toBe(gapAt);
    expect(nominals(decideDispatch({ ...runAfter, dueAt: gapAt }, gapAt, gapAt + MINUTE))).toEqual([gapAt]);
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
            dispatched.push(...nominals(decision));
            for (const { alsoCovers } of decision.skip) covered += alsoCovers + 1;
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
