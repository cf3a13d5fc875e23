import { createGroup } from '../../src/operations/create-group';
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { ConflictError } from '../../src/domain/errors';
import { DAY, MINUTE } from '../support/builders';
import { aBatch, aChain, CALLBACK_CODE, GroupOf, ok, payloads, steps, tries } from '../support/groups';
import { aRequest, World, type Code } from '../support/world';

let world: World;
afterEach(() => world.close());
const passes = (ms: number) => world.clock.advance(ms);
async function open(code: Record<string, Code>) {
  world = await World.open({ code: { ...CALLBACK_CODE, ...code } });
  world.start();
}

test('a chain with ids of its own can be created again the next day, after what the refusal says was done', async () => {
  await open({ a: ok });
  const request = aChain([aRequest({ code: 'a', jobId: 'extract' }), aRequest({ code: 'a', jobId: 'load' })]);
  const chain = await GroupOf.create(world, 'chain', request, { requestId: 'night-1' });
  await passes(DAY);
  expect((await chain.standing()).group.state).toBe('DONE');
  await expect(createGroup('chain', 'night-2', request, world.ports)).rejects.toThrow(/delete it first/);
  await deleteJob('d1', 'extract', world.ports);
  await deleteJob('d2', 'load', world.ports);
  const second = await GroupOf.create(world, 'chain', request, { requestId: 'night-3' });
  await passes(MINUTE);
  expect(await second.states()).toBe('DD');
});

test('chains of 100 that stand regularly among single jobs do not all fall into one part', async () => {
  await open({ a: ok });
  const count = 50;
  const members = Array.from({ length: 33 * count }, (_, nth) =>
    Array.from({ length: nth % count === 0 ? 100 : 1 }, () => aRequest({ code: 'a', retry: tries(1) })),
  );
  const total = members.reduce((sum, { length }) => sum + length, 0);
  const batch = await GroupOf.create(world, 'batch', aBatch(members, { callbacks: {} }));
  const sizes = (await batch.parts()).map(({ states }) => states.length);
  expect({ total, most: Math.max(...sizes) }).toEqual({ total, most: expect.any(Number) as number });
  expect(Math.max(...sizes)).toBeLessThanOrEqual(200);
});

test('a job of its own keeps its id while a batch that is refused wants it', async () => {
  await open({ a: ok });
  await createJob('mine', aRequest({ jobId: 'b', code: 'a' }), world.ports);
  await expect(createGroup('batch', 'r', aBatch([[aRequest({ jobId: 'b', code: 'a' })]]), world.ports)).rejects.toThrow(
    ConflictError,
  );
  await passes(MINUTE);
  expect(world.callsOf('a')).toHaveLength(1);
});

test('a payload of every digit, and a result of every digit, go through a chain unchanged', async () => {
  const raw =
    '{"id":9007199254740993,"neg":-0.0,"big":1.23e+40,"t":"\\u0000\\uFFFF\\uD83D\\uDE00","__proto__":{"x":1}}';
  await open({ a: ok });
  await GroupOf.create(
    world,
    'chain',
    aChain([aRequest({ code: 'a', payload: raw }), aRequest({ code: 'a', payload: raw })]),
  );
  await passes(MINUTE);
  expect(world.callsOf('a')).toHaveLength(2);
  for (const { text } of world.callsOf('a')) expect(text).toContain(raw);
});
void payloads;
void steps;
