/** A new version, or other settings, while jobs run. That rows of another number of shards are found is a fact of the stores' tests. */
import { createJob } from '../../src/operations/create-job';
import { MINUTE, NOON, SECOND } from '../support/builders';
import { aRequest, rate, World } from '../support/world';

let world: World;
beforeEach(async () => {
  world = await World.open({ code: { 'job-report': ({ at }, clock) => clock.waitUntil(at + 2 * SECOND) } });
  await createJob('r', aRequest({ jobId: 'a', schedule: rate('rate(1 second)') }), world.ports);
});
afterEach(() => world.close());

const withTick = (tickSeconds: number) => ({ ...world.ports, settings: { ...world.ports.settings, tickSeconds } });
const seconds = () => world.calls.map(({ at }) => (at - NOON) / SECOND).sort((a, b) => a - b);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test.each([
  [60, 1],
  [1, 60],
  [10, 25],
])('with tickSeconds from %i to %i no second is missed or repeated', async (before, after) => {
  const old = world.start(withTick(before));
  await world.clock.advance(4 * MINUTE);
  // Both versions are at work for a while, as in a deployment.
  const next = world.start(withTick(after));
  await world.clock.advance(30 * SECOND);
  await world.stop(old);
  await world.clock.advance(4 * MINUTE);
  const ran = seconds();
  expect(ran).toEqual(upTo(ran.length));
  expect(ran.length).toBeGreaterThanOrEqual(8.5 * 60);
  await world.stop(next);
});

test('what is at work when the old version goes is finished by it, and the new one takes the rest', async () => {
  const old = world.start();
  await world.clock.advance(10 * SECOND + 500);
  const stopping = world.stop(old);
  const next = world.start();
  await stopping;
  await world.clock.advance(MINUTE);
  const ran = seconds();
  expect(ran).toEqual(upTo(ran.length));
  await world.stop(next);
  const runs = await world.runsOf('a');
  expect(runs.filter(({ state, attempt }) => state !== 'DONE' || attempt !== 1)).toEqual([]);
});
