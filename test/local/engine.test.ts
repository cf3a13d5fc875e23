import { startEngine } from '../../src/local/engine';
import { DAY, HOUR, NOON, SECOND } from '../support/builders';
import { World } from '../support/world';

let world: World;
afterEach(() => world.close());

/** The instants of the removals of two days, and of the sweeps beside them, from NOON. */
async function sweepsUnder(settings: { retentionMs: number; failedRetentionMs: number }) {
  world = await World.open();
  const removals: number[] = [];
  const engine = startEngine({
    ports: { ...world.ports, settings: { ...world.ports.settings, ...settings } },
    concurrency: 1,
    removeExpired: async () => void removals.push(world.clock.now() - NOON),
  });
  await world.clock.advance(2 * DAY);
  await world.stop(engine);
  return { removals, sweeps: world.notes.filter(({ what }) => what === 'swept').length };
}

test('what is past a short retention is removed ten times as often, and what was lost is looked for each day', async () => {
  const { removals, sweeps } = await sweepsUnder({ retentionMs: 20 * HOUR, failedRetentionMs: 90 * HOUR });
  expect(removals.slice(0, 4)).toEqual([0, 2 * HOUR, 4 * HOUR, 6 * HOUR]);
  expect(removals).toHaveLength(25);
  expect(sweeps).toBe(3);
});

test('the shorter of the two retentions counts', async () => {
  const { removals } = await sweepsUnder({ retentionMs: 900 * HOUR, failedRetentionMs: 50 * HOUR });
  expect(removals.slice(0, 3)).toEqual([0, 5 * HOUR, 10 * HOUR]);
});

test('what is past a long retention is removed each day', async () => {
  const { removals } = await sweepsUnder({ retentionMs: 400 * DAY, failedRetentionMs: 400 * DAY });
  expect(removals).toEqual([0, DAY, 2 * DAY]);
});

test('a removal that fails is tried again, and told', async () => {
  world = await World.open();
  let tries = 0;
  const settings = { ...world.ports.settings, retentionMs: 10 * SECOND };
  const removeExpired = async () => {
    tries += 1;
    if (tries === 1) throw new RangeError('the disk is full');
  };
  const engine = startEngine({ ports: { ...world.ports, settings }, concurrency: 1, removeExpired });
  await world.clock.advance(SECOND);
  expect(tries).toBe(2);
  await world.stop(engine);
  expect(world.notes).toContainEqual({ what: 'sweep-failed', details: { error: 'RangeError' } });
});
