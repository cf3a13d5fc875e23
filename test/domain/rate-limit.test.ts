import * as fc from 'fast-check';
import { countedUntil, decideStart, withoutStart, type Starts } from '../../src/domain/rate-limit';
import { NOON, SECOND } from '../support/builders';
import { runs } from '../support/property-runs';

const policy = { key: 'k', limit: 2, perSeconds: 10 };
const starts = (...at: number[]): Starts => ({ perMs: 10 * SECOND, at: at.map((second) => NOON + second * SECOND) });
const decide = (of: Starts | undefined, second: number, by = policy) => decideStart(by, of, NOON + second * SECOND);

test('an attempt begins while fewer than the limit began within the period before it', () => {
  expect(decide(undefined, 0)).toEqual({ action: 'begin', starts: starts(0), reason: 'below-limit' });
  expect(decide(starts(0), 1)).toMatchObject({ action: 'begin', starts: starts(0, 1) });
});

test('the next one waits until the first of them is a period ago, to the millisecond', () => {
  expect(decide(starts(0, 1), 9.999)).toMatchObject({ action: 'wait', untilAt: NOON + 10 * SECOND });
  expect(decide(starts(0, 1), 10)).toMatchObject({ action: 'begin', starts: starts(0, 1, 10) });
});

test('what counts for nobody by a fast clock is kept for the slow ones', () => {
  const byFast = decide(starts(0, 1), 11);
  const byAll = byFast.action === 'begin' ? decide(byFast.starts, 9) : byFast;
  expect(byAll).toMatchObject({ action: 'wait', untilAt: NOON + 11 * SECOND });
  expect(decide(starts(0, 1), 16)).toMatchObject({ action: 'begin', starts: starts(16) });
  expect(countedUntil(starts(0, 1))).toBe(NOON + 16 * SECOND);
});

test('a clock that is behind those of others counts what lies ahead of it', () => {
  expect(decide(starts(5, 6), 0)).toMatchObject({ action: 'wait', untilAt: NOON + 15 * SECOND });
  expect(decide(starts(5), 0)).toMatchObject({ action: 'begin', starts: starts(0, 5) });
});

test('jobs that count over different periods under one key do not forget for one another', () => {
  const long = { key: 'k', limit: 2, perSeconds: 100 };
  const first = decide(undefined, 0, long);
  const second = first.action === 'begin' ? decide(first.starts, 20) : first;
  expect(second).toMatchObject({ action: 'begin', starts: { perMs: 100 * SECOND, at: starts(0, 20).at } });
  const third = second.action === 'begin' ? decide(second.starts, 40, long) : second;
  expect(third).toMatchObject({ action: 'wait', untilAt: NOON + 100 * SECOND });
});

test('a start that did not take place is taken back once', () => {
  expect(withoutStart(starts(1, 1, 2), NOON + SECOND)).toEqual(starts(1, 2));
  expect(withoutStart(starts(1), NOON)).toEqual(starts(1));
});

test('whenever they come, no more than the limit begin in any period, and who comes when told so begins', () => {
  const arrivals = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 60 });
  const policies = fc.record({ limit: fc.integer({ min: 1, max: 5 }), perSeconds: fc.integer({ min: 1, max: 10 }) });
  fc.assert(
    fc.property(policies, arrivals, (chosen, gaps) => {
      const by = { key: 'k', ...chosen };
      let known: Starts | undefined;
      let now = NOON;
      const begun: number[] = [];
      for (const gap of gaps) {
        now += gap;
        let decision = decideStart(by, known, now);
        if (decision.action === 'wait') {
          now = decision.untilAt;
          decision = decideStart(by, known, now);
        }
        if (decision.action !== 'begin') throw new Error('told to come at an instant that was too early');
        known = decision.starts;
        begun.push(now);
        const within = begun.filter((at) => at > now - by.perSeconds * SECOND);
        expect(within.length).toBeLessThanOrEqual(by.limit);
      }
    }),
    { numRuns: runs(100) },
  );
});
