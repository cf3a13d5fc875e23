import fc from 'fast-check';
import { decideLoopStart, decideNextTick } from '../../src/domain/loop';
import { NOON, SECOND } from '../support/builders';

const next = (changes: Partial<Parameters<typeof decideNextTick>[0]>) =>
  decideNextTick({ now: NOON, loopStartedAt: NOON, nextDueAt: undefined, tickSeconds: 10, ...changes });

describe('a loop of ticks', () => {
  test('ends when nothing falls due before its successor has begun', () => {
    expect(next({})).toEqual({ action: 'end', reason: 'nothing-due' });
    expect(next({ nextDueAt: NOON + 120 * SECOND })).toEqual({ action: 'end', reason: 'nothing-due' });
  });

  test('comes back tickSeconds later while something is due soon', () => {
    expect(next({ nextDueAt: NOON + 16 * SECOND })).toMatchObject({ action: 'go-on', wakeAt: NOON + 11 * SECOND });
    expect(next({ nextDueAt: NOON + 3 * SECOND })).toMatchObject({ action: 'go-on', wakeAt: NOON + 10 * SECOND });
  });

  test('sleeps until five seconds before what is due later', () => {
    expect(next({ nextDueAt: NOON + 119 * SECOND })).toMatchObject({ wakeAt: NOON + 114 * SECOND });
  });

  test('ends when a newer loop has begun, and when it is 130 s old', () => {
    const start = { now: NOON, loopStartedAt: NOON, newestLoopStartedAt: undefined };
    expect(decideLoopStart(start)).toBeUndefined();
    expect(decideLoopStart({ ...start, newestLoopStartedAt: NOON })).toBeUndefined();
    expect(decideLoopStart({ ...start, newestLoopStartedAt: NOON + 1 })).toMatchObject({ reason: 'newer-loop' });
    expect(decideLoopStart({ ...start, now: NOON + 129_999 })).toBeUndefined();
    expect(decideLoopStart({ ...start, now: NOON + 130_000 })).toMatchObject({ reason: 'too-old' });
  });

  test('goes on beside one that began before the clock was set back', () => {
    const start = { now: NOON, loopStartedAt: NOON, newestLoopStartedAt: NOON + 3_600 * SECOND };
    expect(decideLoopStart(start)).toBeUndefined();
  });

  test('wakes at a whole second that lies ahead, early enough for what is due', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 129_999 }),
        fc.integer({ min: 0, max: 130_000 }),
        fc.integer({ min: 1, max: 60 }),
        (ageMs, dueInMs, tickSeconds) => {
          const now = NOON + ageMs;
          const decision = next({ now, nextDueAt: now + dueInMs, tickSeconds });
          if (decision.action === 'end') return;
          expect(decision.wakeAt % 1000).toBe(0);
          expect(decision.wakeAt).toBeGreaterThan(now);
          // Whatever is due before the next tick was dispatched by this one: it looks tickSeconds and 5 s ahead.
          expect(decision.wakeAt).toBeLessThan(Math.max(now + tickSeconds * 1000, now + dueInMs - 5_000) + 1_000);
        },
      ),
    );
  });
});
