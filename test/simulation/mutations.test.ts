import { runs } from '../support/property-runs';
import { MisplacedMutationError, plant, type Mutation } from './fleet';
import { hunt, tableOf, type Catch } from './hunt';
import { MUTATIONS } from './mutations';

/** So many histories a planted fault may stay hidden in. */
const MOST_HISTORIES = 400;
/** `npm run check:long` begins with the first seed; otherwise one that found the fault before comes first. */
const isLong = runs(1) > 1;

function seedsFor({ foundAt }: Mutation): number[] {
  const seeds = Array.from({ length: MOST_HISTORIES }, (_, index) => index + 1);
  return isLong ? seeds : [foundAt, ...seeds.filter((seed) => seed !== foundAt)];
}

test('each fault that is planted in the code is found', async () => {
  const catches: Catch[] = [];
  for (const mutation of MUTATIONS) catches.push(await hunt(mutation, seedsFor(mutation), isLong ? 2 : 1));
  process.stdout.write(`planted, histories until it was found, the law that it broke:\n${tableOf(catches)}\n`);
  expect(catches.filter(({ law }) => law === undefined).map(({ mutation }) => mutation.name)).toEqual([]);
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
}, 900_000);

test('a list that does not follow the code is noticed', () => {
  const mutation = { name: 'gone', file: 'src/gone.ts', text: 'a', becomes: 'b', foundAt: 1 };
  expect(() => plant('c', mutation)).toThrow(MisplacedMutationError);
  expect(() => plant('a a', mutation)).toThrow(MisplacedMutationError);
  expect(plant('c a', mutation)).toBe('c b');
});
