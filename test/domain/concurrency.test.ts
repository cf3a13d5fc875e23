import { afterLook, decideSlot, withoutSlotsOf, type Slot } from '../../src/domain/concurrency';
import { transition } from '../../src/domain/run';
import { aStartedRun, MINUTE, NOON, SECOND } from '../support/builders';

const run = aStartedRun();
const { jobId, runId, sequence } = run;
const own: Slot = { jobId, runId, sequence, seenAt: NOON };
const other = (index: number, seenAt = NOON): Slot => ({ jobId: 'other', runId: `run-${index}`, sequence: 2, seenAt });
const decide = (slots: Slot[], limit: number, now = NOON) => decideSlot({ slots, run, limit, now });

describe('an attempt under a concurrency key', () => {
  test('takes a place while one is free', () => {
    expect(decide([other(1)], 2)).toEqual({ action: 'take', slots: [other(1), own], reason: 'place-free' });
  });

  test('that has its place already begins, though all are taken', () => {
    expect(decide([own], 1)).toMatchObject({ action: 'begin' });
  });

  test('takes over the place that the attempt before it left behind', () => {
    const before = { ...own, sequence: sequence - 1 };
    expect(decide([before, other(1)], 2)).toMatchObject({ action: 'take', slots: [other(1), own] });
  });

  test('waits when all places are taken by attempts that were seen lately', () => {
    expect(decide([other(1)], 1, NOON + 65 * SECOND)).toMatchObject({ action: 'wait', reason: 'concurrency' });
  });

  test('has those looked at first that nobody saw for longest', () => {
    const now = NOON + 2 * MINUTE;
    const slots = Array.from({ length: 40 }, (_, index) => other(index, NOON - index));
    const decision = decide([...slots, other(99, now)], 41, now);
    expect(decision).toMatchObject({ action: 'look' });
    const at = decision.action === 'look' ? decision.at : [];
    expect(at.map((slot) => slot.runId)).toEqual(Array.from({ length: 25 }, (_, index) => `run-${39 - index}`));
  });
});

describe('a place that was looked at', () => {
  const now = NOON + 2 * MINUTE;
  const after = (found: typeof run | undefined) => afterLook([own, other(1)], [own], [found], now);

  test('is trusted again while its attempt holds the lease', () => {
    expect(after({ ...run, leaseUntil: now })).toEqual([{ ...own, seenAt: now }, other(1)]);
  });

  test('is free when its attempt lost the lease, is over, never began, or another has begun', () => {
    const lost = { ...run, leaseUntil: now - 6 * SECOND };
    const over = transition(run, 'DONE', NOON);
    const next = { ...run, sequence: sequence + 2, leaseUntil: now };
    for (const found of [lost, over, undefined, next]) expect(after(found)).toEqual([other(1)]);
  });
});

test('a run that is no longer at work leaves its places, and none of a later attempt, or of others', () => {
  const released = transition(run, 'RELEASED', NOON);
  const next: Slot = { ...own, sequence: released.sequence + 1 };
  expect(withoutSlotsOf(released, [own, other(1), next])).toEqual([other(1), next]);
  expect(withoutSlotsOf(run, [own, other(1)])).toEqual([own, other(1)]);
});
