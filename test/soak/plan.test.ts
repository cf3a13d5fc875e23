import { planOf, type Step } from './plan';
import { SCENARIOS } from './scenarios';

function steps(seed: number, jobsPerSecond: number, count: number): Step[] {
  const plan = planOf(seed, jobsPerSecond);
  return Array.from({ length: count }, () => plan.next().value as Step);
}

test('the same seed gives the same plan, and another seed another one', () => {
  const shown = (seed: number) => steps(seed, 50, 200).map(({ id, atMs, chance }) => [id, atMs, chance.next()]);
  expect(shown(7)).toEqual(shown(7));
  const ids = (seed: number) => steps(seed, 50, 200).map(({ id }) => id);
  expect(ids(8)).not.toEqual(ids(7));
});

test('every scenario comes to be played, and makes ids that a job may have', () => {
  const played = steps(1, 50, 3_000);
  expect(new Set(played.map(({ name }) => name))).toEqual(new Set(Object.keys(SCENARIOS)));
  for (const { id } of played) expect(id).toMatch(/^[a-z0-9-]{1,56}$/);
});

test('the rate of jobs is kept over all scenarios, many jobs and none', () => {
  for (const rate of [5, 50]) {
    const played = steps(3, rate, 2_000);
    const jobs = played.slice(0, -1).reduce((sum, { scenario }) => sum + scenario.jobs, 0);
    const perSecond = jobs / (played.at(-1)!.atMs / 1_000);
    expect(perSecond / rate).toBeGreaterThan(0.97);
    expect(perSecond / rate).toBeLessThanOrEqual(1);
  }
});
