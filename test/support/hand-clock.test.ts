import { HandClock } from './hand-clock';

test('time stands still until it is moved', async () => {
  const clock = new HandClock(1_000);
  await clock.settle();
  expect(clock.now()).toBe(1_000);
  await clock.advance(5);
  expect(clock.now()).toBe(1_005);
  await clock.advanceTo(900);
  expect(clock.now()).toBe(1_005);
});

test('waiters are woken in the order of their instants, each at its own', async () => {
  const clock = new HandClock(0);
  const woken: [string, number][] = [];
  const wait = (name: string, at: number): void => void clock.waitUntil(at).then(() => woken.push([name, clock.now()]));
  wait('c', 30);
  wait('a', 10);
  wait('b', 20);
  wait('never', 41);
  await clock.advanceTo(40);
  expect(woken).toEqual([
    ['a', 10],
    ['b', 20],
    ['c', 30],
  ]);
  expect(clock.awaited).toEqual([41]);
});

test('what a waiter begins on waking is woken on the way as well', async () => {
  const clock = new HandClock(0);
  const beats: number[] = [];
  const beat = async (): Promise<void> => {
    for (;;) {
      await clock.waitUntil(clock.now() + 1_000);
      beats.push(clock.now());
    }
  };
  void beat();
  await clock.advance(4_500);
  expect(beats).toEqual([1_000, 2_000, 3_000, 4_000]);
});

test('an instant that is past needs no moving, and whoever is called off is not woken later', async () => {
  const clock = new HandClock(10);
  await clock.waitUntil(10);
  const calledOff = new AbortController();
  const waiting = clock.waitUntil(20, calledOff.signal);
  calledOff.abort();
  await waiting;
  await clock.waitUntil(20, calledOff.signal);
  expect(clock.awaited).toEqual([]);
});

test('time does not move while work goes on elsewhere', async () => {
  const clock = new HandClock(0);
  let turnsLeft = 0;
  const sawAt: number[] = [];
  clock.holdWhile(() => turnsLeft > 0);
  const work = (): void => {
    sawAt.push(clock.now());
    turnsLeft -= 1;
    if (turnsLeft > 0) setImmediate(work);
  };
  void clock.waitUntil(10).then(() => {
    turnsLeft = 50;
    work();
  });
  await clock.advanceTo(20);
  expect(sawAt).toHaveLength(50);
  expect(new Set(sawAt)).toEqual(new Set([10]));
});
