import * as fc from 'fast-check';
import type { JobRequest } from '../../src/domain/job-request';
import { createJob } from '../../src/operations/create-job';
import { SECOND } from '../support/builders';
import { chaos, liveThrough, mostAtWork, mostWithin } from '../support/chaotic-runners';
import { runs } from '../support/property-runs';
import { aRequest, type World } from '../support/world';

/**
 * Whatever comes twice, late, out of order or not at all, and wherever processes die: the limits hold, and everything ends.
 * The model is as simple as what was promised; the operations are the real ones.
 */
function holds(limits: Partial<JobRequest>, check: Parameters<typeof liveThrough>[2]) {
  const property = fc.asyncProperty(chaos(limits), (commands) => liveThrough(commands, limits, check));
  return fc.assert(property, { numRuns: runs(12), endOnFailure: true });
}

const concurrency = { key: 'k', limit: 2 };
const rateLimit = { key: 'k', limit: 3, perSeconds: 20 };

test('never are more attempts at work than a concurrency key allows', () =>
  holds({ concurrency }, (world) => {
    expect(mostAtWork(world)).toBeLessThanOrEqual(concurrency.limit);
  }));

test('never do more attempts start within a period than a rate key allows', () =>
  holds({ rateLimit }, (world) => {
    expect(mostWithin(world, rateLimit.perSeconds * SECOND)).toBeLessThanOrEqual(rateLimit.limit);
  }));

test('both hold at once', () =>
  holds({ concurrency, rateLimit }, (world) => {
    expect(mostAtWork(world)).toBeLessThanOrEqual(concurrency.limit);
    expect(mostWithin(world, (rateLimit.perSeconds - 1) * SECOND)).toBeLessThanOrEqual(rateLimit.limit);
  }));

describe('of the jobs with one unique key', () => {
  const unique = { key: 'k', forSeconds: 86_400, until: 'done' as const };

  test('never are two at work, and once all are over the key is free, unless whoever took it last died without a word', () =>
    holds({ unique }, async (world, told) => {
      expect(mostAtWork(world)).toBeLessThanOrEqual(1);
      await expectRefusalsToHaveReason(world, told.accepted);
      const lost = await Promise.all(told.unanswered.map((jobId) => world.ports.jobs.read(jobId)));
      if (lost.some((job) => job === undefined || job.state === 'DELETED')) return;
      await createJob('last', aRequest({ jobId: 'last', unique }), world.ports);
    }));

  /** Of the accepted jobs each began after the one before it was over. */
  async function expectRefusalsToHaveReason(world: World, accepted: readonly string[]) {
    const of = await Promise.all(accepted.map(async (jobId) => (await world.runsOf(jobId))[0]!));
    for (const [index, run] of of.entries()) {
      const before = of[index - 1];
      if (before) expect(run.nominalAt).toBeGreaterThanOrEqual(before.changedAt);
    }
  }
});
