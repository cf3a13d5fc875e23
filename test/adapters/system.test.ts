import { systemClock, systemIds, systemRandom } from '../../src/adapters/system';

test('waiting is never over before its instant', async () => {
  for (let times = 0; times < 5; times += 1) {
    const at = systemClock.now() + 2.5;
    await systemClock.waitUntil(at);
    expect(systemClock.now()).toBeGreaterThanOrEqual(at);
  }
});

test('an instant that is past needs no waiting', async () => {
  await expect(systemClock.waitUntil(0)).resolves.toBeUndefined();
});

test('whoever is called off need not wait, be it beforehand, later, or from an instant beyond any timer', async () => {
  await systemClock.waitUntil(Infinity, AbortSignal.abort());
  const calledOff = new AbortController();
  const waiting = Promise.all([
    systemClock.waitUntil(systemClock.now() + 2 ** 40, calledOff.signal),
    systemClock.waitUntil(Infinity, calledOff.signal),
  ]);
  calledOff.abort();
  await expect(waiting).resolves.toBeDefined();
});

test('an instant beyond any timer does not come at once', async () => {
  let isOver = false;
  const calledOff = new AbortController();
  const waiting = systemClock.waitUntil(systemClock.now() + 2 ** 33, calledOff.signal).then(() => (isOver = true));
  await systemClock.waitUntil(systemClock.now() + 5);
  expect(isOver).toBe(false);
  calledOff.abort();
  await waiting;
});

test('GUIDs are of version 7 and sort as they were drawn', () => {
  const drawn = Array.from({ length: 1_000 }, () => systemIds.guid());
  expect(drawn[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([...new Set(drawn)].sort()).toEqual(drawn);
});

test('chance lies in [0, 1)', () => {
  for (let times = 0; times < 100; times += 1) {
    const drawn = systemRandom.next();
    expect(drawn).toBeGreaterThanOrEqual(0);
    expect(drawn).toBeLessThan(1);
  }
});
