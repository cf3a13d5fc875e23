import { decideOverlap, type OverlapDecision } from '../../src/domain/overlap';
import { transition } from '../../src/domain/run';
import { aStartedRun, NOON, SECOND } from '../support/builders';

const running = aStartedRun();
const waiting = transition(running, 'RELEASED', NOON);
const over = transition(running, 'DONE', NOON);
const decide = (changes: Partial<Parameters<typeof decideOverlap>[0]>): OverlapDecision =>
  decideOverlap({
    policy: 'skip',
    runId: 'next',
    nominalAt: NOON,
    place: { runId: 'previous', nominalAt: NOON - SECOND, takenAt: NOON },
    holder: running,
    next: undefined,
    now: NOON + SECOND,
    ...changes,
  });

describe('whether the next run of a job may begin', () => {
  test('under "allow" it always may', () => {
    expect(decide({ policy: 'allow' })).toMatchObject({ action: 'begin' });
  });

  test.each(['skip', 'queue-one', 'cancel-previous'] as const)(
    'under "%s" it may when the place is free, its own, or left',
    (policy) => {
      expect(decide({ policy, place: undefined, holder: undefined })).toMatchObject({ action: 'begin' });
      expect(decide({ policy, place: { runId: 'next', nominalAt: NOON, takenAt: NOON } })).toMatchObject({
        action: 'begin',
      });
      expect(decide({ policy, holder: over })).toMatchObject({ action: 'begin' });
    },
  );

  test.each(['skip', 'queue-one', 'cancel-previous'] as const)(
    'under "%s" a holder that never claimed its run loses the place after 90 s',
    (policy) => {
      expect(decide({ policy, holder: undefined, now: NOON + 90 * SECOND }).action).not.toBe('begin');
      expect(decide({ policy, holder: undefined, now: NOON + 90 * SECOND + 1 }).action).toBe('begin');
    },
  );

  test('a run that waits for its retry counts as running', () => {
    expect(decide({ holder: waiting })).toEqual({ action: 'skip', reason: 'overlap' });
    expect(decide({ policy: 'cancel-previous', holder: waiting })).toMatchObject({
      action: 'cancel-holder',
      holder: waiting,
    });
  });

  test('under "cancel-previous" a late one does not cancel its successor', () => {
    const place = { runId: 'successor', nominalAt: NOON + SECOND, takenAt: NOON };
    expect(decide({ policy: 'cancel-previous', place })).toEqual({ action: 'skip', reason: 'overlap' });
  });

  test('under "queue-one" one waits and the others are skipped', () => {
    const queued = (runId: string, isWaiting: boolean) => decide({ policy: 'queue-one', next: { runId, isWaiting } });
    expect(decide({ policy: 'queue-one' })).toMatchObject({ action: 'queue' });
    expect(queued('next', true)).toMatchObject({ action: 'queue' });
    expect(queued('another', true)).toMatchObject({ action: 'skip' });
    expect(queued('another', false)).toMatchObject({ action: 'queue' });
  });
});
