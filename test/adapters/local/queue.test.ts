import { openDatabase, type Database } from '../../../src/adapters/local/database';
import { LocalQueue, MessageTooLargeError } from '../../../src/adapters/local/queue';
import type { ReceivedMessage } from '../../../src/ports';
import { NOON } from '../../contracts/rows';
import { freshFolder, removeFolder } from '../../support/data-folder';
import { HandClock } from '../../support/hand-clock';

const VISIBILITY_MS = 30_000;
const DAY_MS = 86_400_000;

let folder: string;
let database: Database;
let clock: HandClock;
beforeEach(async () => {
  folder = freshFolder();
  clock = new HandClock(NOON);
  clock.holdWhile(() => database.isBusy);
  database = await openDatabase(folder, { survivesPowerLoss: false });
});
afterEach(async () => {
  await database.close();
  removeFolder(folder);
});

const openQueue = (): LocalQueue => new LocalQueue(database, { name: 'work', clock, visibilityMs: VISIBILITY_MS });
const reopen = async (): Promise<LocalQueue> => {
  await database.close();
  database = await openDatabase(folder, { survivesPowerLoss: false });
  return openQueue();
};
const bodies = (messages: readonly ReceivedMessage[]): string[] => messages.map((message) => message.body);

describe('to the millisecond', () => {
  test('a delay ends at its very instant', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'late', delayMs: 1_234 }]);
    await clock.advance(1_233);
    expect(await queue.receive(1)).toEqual([]);
    await clock.advance(1);
    expect(bodies(await queue.receive(1))).toEqual(['late']);
  });

  test('a receiver that waits is woken at the instant a delay ends, and at the last instant of its wait', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'late', delayMs: 1_000 }]);
    const wokenAt = queue.receive(1, { waitMs: 1_000 }).then((messages) => [bodies(messages), clock.now()]);
    await clock.advance(5_000);
    expect(await wokenAt).toEqual([['late'], NOON + 1_000]);
  });

  test('a receiver that waits longer than a timer can is woken in time', async () => {
    const queue = openQueue();
    const waiting = queue.receive(1, { waitMs: 2 ** 40 });
    await clock.advance(2 ** 32);
    await queue.send([{ body: 'at last', delayMs: 900_000 }]);
    await clock.advance(900_000);
    expect(bodies(await waiting)).toEqual(['at last']);
  });

  test('what is visible earlier comes first, and of one instant what was sent first', async () => {
    const queue = openQueue();
    await queue.send([
      { body: 'c', delayMs: 2 },
      { body: 'a', delayMs: 1 },
      { body: 'd', delayMs: 2 },
      { body: 'b', delayMs: 1 },
    ]);
    await clock.advance(2);
    expect(bodies(await queue.receive(10))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a waiting receiver leaves nothing to wait for when it is done', async () => {
    const queue = openQueue();
    const waiting = queue.receive(1, { waitMs: 1_000 });
    await queue.send([{ body: 'now' }]);
    await waiting;
    await clock.settle();
    expect(clock.awaited).toEqual([]);
  });
});

describe('several receivers that wait', () => {
  test('each get their share of what comes at once', async () => {
    const queue = openQueue();
    const waiting = [10, 10, 2].map((max) => queue.receive(max, { waitMs: 10_000 }));
    await queue.send(Array.from({ length: 14 }, (_, index) => ({ body: `${index}` })));
    const shares = await Promise.all(waiting);
    expect(shares.map((share) => share.length)).toEqual([6, 6, 2]);
    expect(new Set(shares.flatMap(bodies)).size).toBe(14);
  });

  test('one message wakes the one that waits longest, and the others go on waiting', async () => {
    const queue = openQueue();
    const first = queue.receive(10, { waitMs: 10_000 });
    const second = queue.receive(10, { waitMs: 10_000 });
    await queue.send([{ body: 'one' }]);
    expect(bodies(await first)).toEqual(['one']);
    await queue.send([{ body: 'two' }]);
    expect(bodies(await second)).toEqual(['two']);
  });
});

describe('reopening', () => {
  test('keeps messages, delays, visibility and counts', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'taken' }]);
    await queue.receive(1);
    await queue.send([{ body: 'gone' }]);
    const [gone] = await queue.receive(1);
    await queue.remove([gone!.receipt]);
    await queue.send([{ body: 'here' }, { body: 'late', delayMs: 60_000 }]);

    const again = await reopen();
    expect(again.depth()).toEqual({ visible: 1, delayed: 1, inFlight: 1 });
    expect(bodies(await again.receive(10))).toEqual(['here']);
    await clock.advance(VISIBILITY_MS - 1);
    expect(await again.receive(10)).toEqual([]);
    await clock.advance(1);
    const shown = await again.receive(10);
    expect(shown.map(({ body, receives, sentAt }) => ({ body, receives, sentAt }))).toEqual([
      { body: 'taken', receives: 2, sentAt: NOON },
      { body: 'here', receives: 2, sentAt: NOON },
    ]);
    await clock.advance(60_000 - VISIBILITY_MS);
    expect(bodies(await again.receive(10))).toEqual(['taken', 'here', 'late']);
  });

  test('a receipt of the time before is still good, and one of an earlier delivery is not', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'x' }]);
    const [stale] = await queue.receive(1);
    await clock.advance(VISIBILITY_MS);
    const [good] = await queue.receive(1);
    const again = await reopen();
    await again.remove([stale!.receipt]);
    expect(again.depth().inFlight).toBe(1);
    await again.remove([good!.receipt]);
    expect(again.depth()).toEqual({ visible: 0, delayed: 0, inFlight: 0 });
  });

  test('a new holder makes visible what was taken, and leaves delays', async () => {
    const queue = openQueue();
    await queue.send(Array.from({ length: 12 }, (_, index) => ({ body: `${index}` })));
    await queue.send([{ body: 'late', delayMs: 60_000 }]);
    const taken = await queue.receive(10);
    await queue.hide([taken[0]!.receipt], 600_000);

    const again = await reopen();
    expect(await again.makeAllVisible()).toBe(10);
    expect(again.depth()).toEqual({ visible: 12, delayed: 1, inFlight: 0 });
    const [shown, rest] = [await again.receive(10), await again.receive(10)];
    expect(new Set([...bodies(shown), ...bodies(rest)]).size).toBe(12);
    const once = await reopen();
    expect(once.depth()).toEqual({ visible: 0, delayed: 1, inFlight: 12 });
  });
});

describe('receipts', () => {
  test('one of an earlier delivery neither removes nor hides the message', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'x' }]);
    const [stale] = await queue.receive(1);
    await clock.advance(VISIBILITY_MS);
    await queue.receive(1);
    await queue.remove([stale!.receipt, 'nonsense', '', '#', 'a#b#c']);
    await queue.hide([stale!.receipt, 'nonsense'], 0);
    expect(queue.depth()).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
  });

  test('one whose time is over still removes, as long as nobody took the message anew', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'x' }]);
    const [message] = await queue.receive(1);
    await clock.advance(VISIBILITY_MS);
    await queue.remove([message!.receipt]);
    expect(await queue.receive(1)).toEqual([]);
  });

  test('a message that is removed while another takes it comes to nobody and is gone', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'x' }]);
    const [message] = await queue.receive(1);
    await clock.advance(VISIBILITY_MS);
    const [, late] = await Promise.all([queue.remove([message!.receipt]), queue.receive(1)]);
    expect(late).toEqual([]);
    expect((await reopen()).depth()).toEqual({ visible: 0, delayed: 0, inFlight: 0 });
  });
});

describe('limits', () => {
  test('a body of 1 MiB is taken, and one byte more is refused with all that came with it', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'x'.repeat(1_048_576) }]);
    const tooLarge = '€'.repeat(349_525) + 'xx';
    await expect(queue.send([{ body: 'small' }, { body: tooLarge }])).rejects.toThrow(MessageTooLargeError);
    expect((await queue.receive(10)).map(({ body }) => body.length)).toEqual([1_048_576]);
  });

  test.each([900_001, -1, NaN, Infinity])('a delay of %s ms is refused', async (delayMs) => {
    await expect(openQueue().send([{ body: 'x', delayMs }])).rejects.toThrow(RangeError);
  });

  test('a message that nobody took for 14 days is gone', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'old' }]);
    await clock.advance(14 * DAY_MS - 1);
    await queue.send([{ body: 'young' }]);
    expect(queue.depth().visible).toBe(2);
    await clock.advance(1);
    expect(bodies(await queue.receive(10))).toEqual(['young']);
    expect((await reopen()).depth()).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
  });

  test('a queue from which nobody takes does not grow for ever', async () => {
    const queue = openQueue();
    await queue.send([{ body: 'old' }, { body: 'old too' }]);
    await clock.advance(14 * DAY_MS);
    await queue.send([{ body: 'young' }]);
    expect(queue.depth().visible).toBe(1);
    expect([...database.table('message-bodies').getKeys()]).toHaveLength(1);
  });
});

describe('dead letters', () => {
  test('keep their id and their age, count anew, and wake who waits for them', async () => {
    const dead = new LocalQueue(database, { name: 'dead', clock, visibilityMs: VISIBILITY_MS });
    const queue = new LocalQueue(database, {
      name: 'work',
      clock,
      visibilityMs: VISIBILITY_MS,
      deadLetters: { queue: dead, maxReceives: 1 },
    });
    await queue.send([{ body: 'poison' }]);
    const [first] = await queue.receive(1);
    const waiting = dead.receive(1, { waitMs: 60_000 });
    const stillWaiting = queue.receive(1, { waitMs: 60_000 });
    await clock.advance(VISIBILITY_MS);
    expect(await waiting).toMatchObject([{ messageId: first?.messageId, body: 'poison', receives: 1, sentAt: NOON }]);
    await clock.advance(60_000);
    expect(await stillWaiting).toEqual([]);
    expect(queue.depth()).toEqual({ visible: 0, delayed: 0, inFlight: 0 });
  });
});

test('queues of one database whose names begin alike are not mixed', async () => {
  const [one, other] = ['job', 'job-create'].map(
    (name) => new LocalQueue(database, { name, clock, visibilityMs: VISIBILITY_MS }),
  );
  await one!.send([{ body: 'one' }]);
  expect(await other!.receive(10)).toEqual([]);
  await database.close();
  database = await openDatabase(folder, { survivesPowerLoss: false });
  const again = new LocalQueue(database, { name: 'job-create', clock, visibilityMs: VISIBILITY_MS });
  expect(again.depth().visible).toBe(0);
});
