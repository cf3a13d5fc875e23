import { creationOwner, decideUnique, isLockedAtCreation, uniqueOwner } from '../../src/domain/unique';
import { aJob, aStartedRun, every } from '../support/builders';

describe('a unique key', () => {
  test('that nobody holds may be taken', () => {
    expect(decideUnique('a/r1', undefined)).toMatchObject({ action: 'take', reason: 'free' });
  });

  test('may be taken again by its owner, under each of his names', () => {
    expect(decideUnique('a/r1', 'a/r1')).toMatchObject({ action: 'take', reason: 'own' });
    expect(decideUnique('a/r1', 'a/r0', 'a/r0')).toMatchObject({ action: 'take', reason: 'own' });
  });

  test('that another holds is refused, with the job that holds it, whatever that one’s request is called', () => {
    expect(decideUnique('a/r1', 'b/r1')).toEqual({ action: 'refuse', reason: 'unique', jobId: 'b' });
    expect(decideUnique('a/r1', 'b/a/r1')).toMatchObject({ action: 'refuse', jobId: 'b' });
    expect(decideUnique('a/r1', 'a/r2')).toMatchObject({ action: 'refuse', jobId: 'a' });
  });
});

describe('the owner of a lock', () => {
  const job = aJob();
  const run = aStartedRun();

  test('is the request of a one-off job that was created by itself, and the run of every other', () => {
    expect(isLockedAtCreation(job)).toBe(true);
    expect(uniqueOwner(run, job)).toBe(creationOwner(job));
    const member = { groupId: 'g', kind: 'chain', partId: 'p', index: 0 } as const;
    for (const other of [aJob({ schedule: every('rate(1 minute)') }), aJob({ member })]) {
      expect(isLockedAtCreation(other)).toBe(false);
      expect(uniqueOwner(run, other)).toBe(`report/${run.runId}`);
    }
    expect(uniqueOwner({ ...run, origin: 'manual' }, job)).toBe(`report/${run.runId}`);
  });

  test('is another for each series of a run', () => {
    const owners = [2, 3].map((number) => uniqueOwner({ ...run, series: { number, after: 1 } }, job));
    expect(new Set([creationOwner(job), ...owners]).size).toBe(3);
  });
});
