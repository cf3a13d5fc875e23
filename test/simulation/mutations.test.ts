import { MisplacedMutationError, plant } from './fleet';
import { hunt, tableOf, type Catch } from './hunt';
import { MUTATIONS } from './mutations';

/** So many histories a planted fault may stay hidden in. */
const MOST_HISTORIES = 400;

test('each fault that is planted in the code is found', async () => {
  const catches: Catch[] = [];
  for (const mutation of MUTATIONS) catches.push(await hunt(mutation, MOST_HISTORIES, 2));
  process.stdout.write(`planted, histories until it was found, the law that it broke:\n${tableOf(catches)}\n`);
  expect(catches.filter(({ law }) => law === undefined).map(({ mutation }) => mutation.name)).toEqual([]);
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
}, 900_000);

test('a list that does not follow the code is noticed', () => {
  const mutation = { name: 'gone', file: 'src/gone.ts', text: 'a', becomes: 'b' };
  expect(() => plant('c', mutation)).toThrow(MisplacedMutationError);
  expect(() => plant('a a', mutation)).toThrow(MisplacedMutationError);
  expect(plant('c a', mutation)).toBe('c b');
});
