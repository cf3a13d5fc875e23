import type { Queue, ReceivedMessage } from '../../src/ports';
import { freshId, type Adapter } from './contract';

/** Fresh queues for every test. `deadLetters` is there when `maxReceives` was asked for. */
export type QueueAdapter = Adapter & { queue: Queue; deadLetters?: Queue };

export interface QueueSettings {
  visibilityMs: number;
  maxReceives?: number;
}

/** Whole seconds, and small: some adapters know no other and live in real time. */
const VISIBILITY_MS = 2_000;
/** Past the end of something that takes two seconds, on a queue that rounds to seconds. */
const PAST_MS = 3_200;
/** The longest wait for a message that must be there. No queue waits that long then. */
const PATIENCE_MS = 5_000;

export function describeQueueContract(
  name: string,
  makeAdapter: (settings: QueueSettings) => Promise<QueueAdapter>,
): void {
  describe(`the queue contract, ${name}`, () => {
    const open: Adapter[] = [];
    const make = async (settings: Partial<QueueSettings> = {}): Promise<QueueAdapter> => {
      const adapter = await makeAdapter({ visibilityMs: VISIBILITY_MS, ...settings });
      open.push(adapter);
      return adapter;
    };
    afterEach(async () => {
      await Promise.all(open.splice(0).map((adapter) => adapter.close()));
    });

    /** Takes messages until there are so many; fails by the patience of the queue when there are not. */
    const take = async (queue: Queue, count: number): Promise<ReceivedMessage[]> => {
      const taken: ReceivedMessage[] = [];
      while (taken.length < count) {
        const messages = await queue.receive(Math.min(10, count - taken.length), { waitMs: PATIENCE_MS });
        if (messages.length === 0) throw new Error(`Only ${taken.length} of ${count} messages came`);
        taken.push(...messages);
      }
      return taken;
    };
    const bodies = (messages: readonly { body: string }[]): string[] => messages.map((message) => message.body).sort();

    test('an empty queue gives nothing', async () => {
      const { queue } = await make();
      expect(await queue.receive(10)).toEqual([]);
    });

    test('sending no messages is nothing', async () => {
      const { queue } = await make();
      await queue.send([]);
      await queue.remove([]);
      await queue.hide([], 0);
      expect(await queue.receive(10)).toEqual([]);
    });

    test('a message comes back with its body, its count and the instant it was sent at', async () => {
      const { queue, clock } = await make();
      const before = clock.now();
      await queue.send([{ body: '{"a":1}' }]);
      const [message] = await take(queue, 1);
      expect(message).toMatchObject({ body: '{"a":1}', receives: 1 });
      expect(message?.messageId).toBeTruthy();
      expect(message?.receipt).toBeTruthy();
      // an emulator may cut the instant to its second
      expect(message?.sentAt).toBeGreaterThan(before - 1_000);
      expect(message?.sentAt).toBeLessThanOrEqual(clock.now());
    });

    test.each([
      ['emoji', '"👩‍👩‍👧‍👦 é e\u0301 \u{10ffff}"'],
      ['huge numbers', '[123456789012345678901234567890,-0.0,1E+2]'],
      ['mark-up', '"<a href=\'x\'>&amp;&#10;</a> ]]> %20+"'],
      ['white space', ' \t\r\n "x"\n'],
      ['200 KiB', `"${'é'.repeat(100 * 1024)}"`],
    ])('a body comes out as it went in: %s', async (_what, body) => {
      const { queue } = await make();
      await queue.send([{ body }]);
      const [message] = await take(queue, 1);
      expect(message?.body === body).toBe(true);
    });

    test('more than ten messages are taken in one call to send, and none is lost', async () => {
      const { queue } = await make({ visibilityMs: 30_000 });
      const sent = Array.from({ length: 37 }, (_, index) => ({ body: `${index}` }));
      await queue.send(sent);
      const taken = await take(queue, 37);
      expect(bodies(taken)).toEqual(bodies(sent));
      expect(new Set(taken.map((message) => message.messageId)).size).toBe(37);
      expect(await queue.receive(10)).toEqual([]);
    });

    test('messages that together are larger than one request may be are taken', async () => {
      const { queue } = await make({ visibilityMs: 30_000 });
      const sent = Array.from({ length: 10 }, (_, index) => ({ body: `${index}${'x'.repeat(150 * 1024)}` }));
      await queue.send(sent);
      expect(bodies(await take(queue, 10))).toEqual(bodies(sent));
    });

    test('no call to receive brings more than was asked for', async () => {
      const { queue } = await make({ visibilityMs: 30_000 });
      await queue.send(Array.from({ length: 25 }, (_, index) => ({ body: `${index}` })));
      expect((await queue.receive(3, { waitMs: PATIENCE_MS })).length).toBeLessThanOrEqual(3);
      expect((await queue.receive(10, { waitMs: PATIENCE_MS })).length).toBeLessThanOrEqual(10);
      expect(await queue.receive(1, { waitMs: PATIENCE_MS })).toHaveLength(1);
    });

    test('receivers at once share the messages, and nobody gets what another holds', async () => {
      const { queue } = await make({ visibilityMs: 30_000 });
      const sent = Array.from({ length: 30 }, () => ({ body: freshId('body') }));
      await queue.send(sent);
      const shares = await Promise.all(Array.from({ length: 6 }, () => queue.receive(5, { waitMs: PATIENCE_MS })));
      const rest = 30 - shares.flat().length;
      expect(bodies([...shares.flat(), ...(await take(queue, rest))])).toEqual(bodies(sent));
    });

    describe('delay', () => {
      test('a delayed message is hidden until its delay is over, and its neighbours are not', async () => {
        const { queue, advance } = await make({ visibilityMs: 30_000 });
        await queue.send([{ body: 'late', delayMs: 2_000 }, { body: 'now' }]);
        expect(bodies(await take(queue, 1))).toEqual(['now']);
        expect(await queue.receive(10)).toEqual([]);
        await advance(PAST_MS);
        expect(bodies(await take(queue, 1))).toEqual(['late']);
      });

      test('the longest delay is accepted', async () => {
        const { queue } = await make();
        await queue.send([{ body: 'late', delayMs: 900_000 }]);
        expect(await queue.receive(10)).toEqual([]);
      });

      test('delays in fractions of a second are accepted', async () => {
        const { queue, advance } = await make();
        await queue.send([{ body: 'late', delayMs: 1_999.5 }]);
        await advance(PAST_MS);
        expect(bodies(await take(queue, 1))).toEqual(['late']);
      });
    });

    describe('visibility', () => {
      test('a message that was taken is hidden, then comes again with a new receipt and a higher count', async () => {
        const { queue, advance } = await make();
        await queue.send([{ body: 'again' }]);
        const [first] = await take(queue, 1);
        expect(await queue.receive(10)).toEqual([]);
        await advance(PAST_MS);
        const [second] = await take(queue, 1);
        expect(second).toMatchObject({ messageId: first?.messageId, body: 'again', receives: 2 });
        expect(second?.receipt).not.toBe(first?.receipt);
      });

      test('a removed message never comes again, and removing it twice is no error', async () => {
        const { queue, advance } = await make();
        await queue.send([{ body: 'gone' }, { body: 'stays' }]);
        const taken = await take(queue, 2);
        const gone = taken.find((message) => message.body === 'gone')!;
        await queue.remove([gone.receipt]);
        await queue.remove([gone.receipt]);
        await advance(PAST_MS);
        expect(bodies(await take(queue, 1))).toEqual(['stays']);
        expect(await queue.receive(10)).toEqual([]);
      });

      test('more than ten are removed in one call', async () => {
        const { queue, advance } = await make();
        await queue.send(Array.from({ length: 25 }, (_, index) => ({ body: `${index}` })));
        const taken = await take(queue, 25);
        await queue.remove(taken.map((message) => message.receipt));
        await advance(PAST_MS);
        expect(await queue.receive(10)).toEqual([]);
      });

      test('hiding for no time makes a message visible at once', async () => {
        const { queue } = await make({ visibilityMs: 30_000 });
        await queue.send([{ body: 'back' }]);
        const [first] = await take(queue, 1);
        await queue.hide([first!.receipt], 0);
        expect(await take(queue, 1)).toMatchObject([{ body: 'back', receives: 2 }]);
      });

      test('hiding longer keeps a message away beyond the visibility of the queue', async () => {
        const { queue, advance } = await make();
        await queue.send([{ body: 'held' }]);
        const [first] = await take(queue, 1);
        await queue.hide([first!.receipt], 4_000 + VISIBILITY_MS);
        await advance(PAST_MS);
        expect(await queue.receive(10)).toEqual([]);
        await advance(4_000);
        expect(bodies(await take(queue, 1))).toEqual(['held']);
      });

      test('hiding shorter brings a message back before the visibility of the queue', async () => {
        const { queue, advance } = await make({ visibilityMs: 60_000 });
        await queue.send(Array.from({ length: 12 }, (_, index) => ({ body: `${index}` })));
        const taken = await take(queue, 12);
        await queue.hide(
          taken.map((message) => message.receipt),
          2_000,
        );
        await advance(PAST_MS);
        expect(bodies(await take(queue, 12))).toEqual(bodies(taken));
      });

      test('a receipt that nobody gave out is no error', async () => {
        const { queue } = await make();
        await queue.send([{ body: 'stays' }]);
        const [message] = await take(queue, 1);
        await queue.remove([message!.receipt]);
        await queue.hide([message!.receipt], 1_000);
        await queue.remove([message!.receipt]);
        expect(await queue.receive(10)).toEqual([]);
      });
    });

    describe('waiting', () => {
      test('a receiver that waits is woken by a message, long before its time is up', async () => {
        const { queue } = await make();
        const waiting = queue.receive(10, { waitMs: 20_000 });
        await queue.send([{ body: 'woke' }]);
        expect(bodies(await waiting)).toEqual(['woke']);
      });

      test('a receiver that waits gets nothing when its time is up', async () => {
        const { queue, advance } = await make();
        const waiting = queue.receive(10, { waitMs: 1_000 });
        await advance(1_000);
        expect(await waiting).toEqual([]);
      });

      test('a receiver that waits is woken when a delay is over', async () => {
        const { queue, advance } = await make();
        await queue.send([{ body: 'late', delayMs: 2_000 }]);
        const waiting = queue.receive(10, { waitMs: 10_000 });
        await advance(PAST_MS);
        expect(bodies(await waiting)).toEqual(['late']);
      });

      test('a receiver that is called off gets nothing and takes nothing', async () => {
        const { queue } = await make();
        const calledOff = new AbortController();
        const waiting = queue.receive(10, { waitMs: 20_000, signal: calledOff.signal });
        calledOff.abort();
        expect(await waiting).toEqual([]);
        await queue.send([{ body: 'here' }]);
        expect(bodies(await take(queue, 1))).toEqual(['here']);
      });

      test('a receiver that was called off before it began takes nothing', async () => {
        const { queue } = await make();
        await queue.send([{ body: 'here' }]);
        expect(await queue.receive(10, { waitMs: 20_000, signal: AbortSignal.abort() })).toEqual([]);
        expect(await take(queue, 1)).toMatchObject([{ body: 'here', receives: 1 }]);
      });
    });

    describe('the dead-letter queue', () => {
      test('a message taken too often without being removed moves there, and its neighbours stay', async () => {
        const { queue, deadLetters, advance } = await make({ maxReceives: 2 });
        await queue.send([{ body: 'poison' }]);
        for (const receives of [1, 2]) {
          expect(await take(queue, 1)).toMatchObject([{ body: 'poison', receives }]);
          expect(await deadLetters!.receive(10)).toEqual([]);
          await advance(PAST_MS);
        }
        await queue.send([{ body: 'sound' }]);
        expect(bodies(await take(queue, 1))).toEqual(['sound']);
        expect(await queue.receive(10)).toEqual([]);
        expect(bodies(await take(deadLetters!, 1))).toEqual(['poison']);
      });

      test('a message removed in time never goes there', async () => {
        const { queue, deadLetters, advance } = await make({ maxReceives: 1 });
        await queue.send([{ body: 'sound' }]);
        const [message] = await take(queue, 1);
        await queue.remove([message!.receipt]);
        await advance(PAST_MS);
        expect(await queue.receive(10)).toEqual([]);
        expect(await deadLetters!.receive(10)).toEqual([]);
      });

      test('making a message visible at once still counts as taken', async () => {
        const { queue, deadLetters } = await make({ maxReceives: 2, visibilityMs: 30_000 });
        await queue.send([{ body: 'poison' }]);
        for (const receives of [1, 2]) {
          const [message] = await take(queue, 1);
          expect(message?.receives).toBe(receives);
          await queue.hide([message!.receipt], 0);
        }
        expect(await queue.receive(10)).toEqual([]);
        expect(bodies(await take(deadLetters!, 1))).toEqual(['poison']);
      });
    });
  });
}
