import type { GroupPart } from '../../src/domain/group';
import { decideMemberStanding } from '../../src/operations/read-job';
import { failed } from '../../src/domain/conclude';
import { transition } from '../../src/domain/run';
import { aJob, aStartedRun, DAY, NOON, SECOND } from '../support/builders';

const job = aJob({ member: { groupId: 'g', kind: 'chain', partId: 'p', index: 1 } });
const part = (state: string, nominalAt?: number): GroupPart => ({
  groupId: 'g',
  partId: 'p',
  revision: 1,
  states: `D${state}P`,
  lengths: [3],
  ...(nominalAt === undefined ? {} : { nominalAts: { 1: nominalAt } }),
  expiresAt: NOON + DAY,
});
const started = aStartedRun();
const skipped = { ...transition(started, 'DONE', NOON), state: 'SKIPPED' as const };

describe('a job of a chain or batch', () => {
  test('is to come while its turn has not, and over once its part says so', () => {
    expect(decideMemberStanding(job, part('P'), undefined)).toEqual({ job, state: 'ACTIVE' });
    for (const state of 'DFSC') expect(decideMemberStanding(job, part(state), undefined).state).toBe('COMPLETED');
  });

  test('that is at work or waits for its retry is not over, whatever its part has heard', () => {
    expect(decideMemberStanding(job, part('F'), started)).toEqual({ job, state: 'ACTIVE' });
    const released = transition(started, 'RELEASED', NOON, { dueAt: NOON + SECOND });
    expect(decideMemberStanding(job, part('F'), released)).toEqual({ job, state: 'ACTIVE', nextRunAt: NOON + SECOND });
  });

  test('whose run is over is over, though its part has not heard of it', () => {
    const over = failed(started, NOON, 'out-of-attempts', { type: 'Error', message: '' }, DAY);
    expect(decideMemberStanding(job, part('P'), over).state).toBe('COMPLETED');
    expect(decideMemberStanding(job, undefined, over).state).toBe('COMPLETED');
  });

  test('that was skipped is to come again once a new run is to take the place of the old one', () => {
    expect(decideMemberStanding(job, part('P', NOON + SECOND), skipped)).toEqual({ job, state: 'ACTIVE' });
    expect(decideMemberStanding(job, part('P', NOON), skipped).state).toBe('COMPLETED');
  });
});
