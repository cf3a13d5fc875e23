import { SendTogether } from '../../src/operations/send-together';
import type { OutgoingMessage, Queue } from '../../src/ports';
import { NOON } from '../support/builders';
import { HandClock } from '../support/hand-clock';

/** Tells what it was asked to send, call by call; `refuses` fails every call that carries such a body. */
class TellingQueue implements Queue {
  readonly sent: string[][] = [];
  readonly #refuses: string | undefined;

  constructor(refuses?: string) {
    this.#refuses = refuses;
  }

  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    const bodies = messages.map(({ body }) => body);
    this.sent.push(bodies);
    if (this.#refuses !== undefined && bodies.includes(this.#refuses)) throw new Error(`refused: ${this.#refuses}`);
  }
  receive = async () => [];
  remove = async () => undefined;
  hide = async () => undefined;
}

const message = (body: string) => [{ body }];

test('what the messages of a batch send goes out in one call a queue', async () => {
  const [activations, replies] = [new TellingQueue(), new TellingQueue()];
  const together = new SendTogether(3, new HandClock(NOON));
  const ports = together.through({ activations, replies: { 'job-created': replies } });
  await Promise.all([
    ports.activations.send(message('a')),
    ports.activations.send([...message('b'), ...message('c')]),
    ports.replies['job-created'].send(message('r')),
  ]);
  expect(activations.sent).toEqual([['a', 'b', 'c']]);
  expect(replies.sent).toEqual([['r']]);
});

test('a message of the batch that is over is waited for no longer', async () => {
  const queue = new TellingQueue();
  const together = new SendTogether(3, new HandClock(NOON));
  const ports = together.through({ queue });
  const sent = Promise.all([ports.queue.send(message('a')), ports.queue.send(message('b'))]);
  expect(queue.sent).toEqual([]);
  together.over();
  await sent;
  expect(queue.sent).toEqual([['a', 'b']]);
});

test('a slow one is waited for a second, and then sends by itself', async () => {
  const clock = new HandClock(NOON);
  const queue = new TellingQueue();
  const ports = new SendTogether(2, clock).through({ queue });
  const first = ports.queue.send(message('a'));
  await clock.advance(999);
  expect(queue.sent).toEqual([]);
  await clock.advance(1);
  await first;
  const second = ports.queue.send(message('b'));
  await clock.advance(1_000);
  await second;
  expect(queue.sent).toEqual([['a'], ['b']]);
});

test('a message that the queue refuses fails for its own sender only', async () => {
  const queue = new TellingQueue('bad');
  const ports = new SendTogether(3, new HandClock(NOON)).through({ queue });
  const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map((body) => ports.queue.send(message(body))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(queue.sent.slice(1)).toEqual([['a'], ['bad'], ['c']]);
});
