import { inTurn } from '../../src/operations/in-turn';

/** Work that goes on until it is let go. */
function held<Value>(value: Value) {
  let letGo = () => {};
  const until = new Promise<void>((resolve) => (letGo = resolve));
  return { work: () => until.then(() => value), letGo: () => letGo() };
}

test('work on the same thing is done one after the other, in the order of its asking', async () => {
  const store = {};
  const order: string[] = [];
  const first = held('first');
  const a = inTurn(store, 'part', async () => order.push(await first.work()));
  const b = inTurn(store, 'part', async () => order.push('second'));
  await Promise.resolve();
  expect(order).toEqual([]);
  first.letGo();
  await Promise.all([a, b]);
  expect(order).toEqual(['first', 'second']);
});

test('work on other things, or on the same thing of another store, waits for nobody', async () => {
  const store = {};
  const first = held('first');
  const a = inTurn(store, 'part', first.work);
  expect(await inTurn(store, 'other', async () => 'done')).toBe('done');
  expect(await inTurn({}, 'part', async () => 'done')).toBe('done');
  first.letGo();
  expect(await a).toBe('first');
});

test('work that fails tells who asked for it, and nobody else', async () => {
  const store = {};
  const a = inTurn(store, 'part', () => Promise.reject(new Error('broken')));
  const b = inTurn(store, 'part', async () => 'done');
  await expect(a).rejects.toThrow('broken');
  expect(await b).toBe('done');
});
