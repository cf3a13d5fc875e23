import type { Clock, Journal, Queue, ReceivedMessage } from '../ports';

/** Carries a queue's messages, so many at a time, as an event source mapping does for a Lambda function. */
export interface Consumer {
  /** Takes nothing more, and resolves when what is at work is done. */
  stop(): Promise<void>;
  /** messages at work */
  active(): number;
}

const LONGEST_POLL_MS = 3_600_000;
const MOST_TAKEN = 10;
const AFTER_FAILURE_MS = 1_000;

/**
 * `carry` answers the ids of the messages that have to come again; each message is carried by itself, so that a slow one
 * holds up no other as long as one of the `concurrency` places is free.
 */
export function startConsumer(options: {
  queue: Queue;
  concurrency: number;
  carry: (messages: readonly ReceivedMessage[]) => Promise<readonly string[]>;
  clock: Clock;
  journal: Journal;
}): Consumer {
  const { clock, queue, concurrency, carry, journal } = options;
  const stopping = new AbortController();
  const atWork = new Set<Promise<void>>();
  const removals = new Set<Promise<void>>();
  let placeIsFree = () => {};

  const carryOne = async (message: ReceivedMessage) => {
    try {
      const comesAgain = await carry([message]);
      if (!comesAgain.includes(message.messageId)) remove(message);
    } catch (error) {
      journal.note('message-left', { messageId: message.messageId, error: (error as Error).name });
    }
  };

  /** The place of a message is free as soon as it is done: the next one need not wait for this one's removal. */
  const remove = (message: ReceivedMessage) => {
    const removal = queue
      .remove([message.receipt])
      .catch((error: Error) => journal.note('message-not-removed', { messageId: message.messageId, error: error.name }))
      .finally(() => removals.delete(removal));
    removals.add(removal);
  };

  const take = async (max: number) => {
    try {
      return await queue.receive(max, { waitMs: LONGEST_POLL_MS, signal: stopping.signal });
    } catch (error) {
      journal.note('queue-not-read', { error: (error as Error).name });
      await clock.waitUntil(clock.now() + AFTER_FAILURE_MS, stopping.signal);
      return [];
    }
  };

  const consume = async () => {
    while (!stopping.signal.aborted) {
      if (atWork.size >= concurrency) {
        await new Promise<void>((resolve) => (placeIsFree = resolve));
        continue;
      }
      for (const message of await take(Math.min(MOST_TAKEN, concurrency - atWork.size))) {
        const work = carryOne(message).finally(() => {
          atWork.delete(work);
          placeIsFree();
        });
        atWork.add(work);
      }
    }
  };
  const consuming = consume();

  return {
    active: () => atWork.size,
    async stop() {
      stopping.abort();
      placeIsFree();
      await consuming;
      await Promise.all(atWork);
      await Promise.all(removals);
    },
  };
}
