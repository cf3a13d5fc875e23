import { EventEmitter, once } from 'node:events';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Queue, ReceivedMessage } from '../../src/ports';
import { sqsEvent } from '../lambdas/recorded-events';

const BATCH_MESSAGES = 10;
const LONGEST_POLL_MS = 20_000;
/** So many batches of a queue Lambda carries at a time before it adds more. */
const BATCHES_AT_A_TIME = 5;

export type Consumer = (event: SQSEvent) => Promise<SQSBatchResponse>;

/** One batch as an event source mapping carries it: what the handler does not name as failed is removed, the rest comes again. */
export async function carryBatch(
  messages: readonly ReceivedMessage[],
  queue: Pick<Queue, 'remove'>,
  consumer: Consumer,
  queueUrl = 'http://127.0.0.1/111122223333/a-queue',
) {
  const eventSourceARN = `arn:aws:sqs:eu-west-1:111122223333:${queueUrl.split('/').at(-1)}`;
  const { batchItemFailures } = await consumer(
    sqsEvent(
      ...messages.map(({ messageId, receipt, body, receives, sentAt }) => ({
        messageId,
        receiptHandle: receipt,
        body,
        eventSourceARN,
        attributes: {
          ...sqsEvent('').Records[0]!.attributes,
          ApproximateReceiveCount: String(receives),
          SentTimestamp: String(sentAt),
        },
      })),
    ),
  );
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const carried = messages.filter(({ messageId }) => !failed.has(messageId));
  if (carried.length > 0) await queue.remove(carried.map(({ receipt }) => receipt));
}

/**
 * Event source mappings, each polling its queue until they are stopped. The queue itself sends to its dead-letter queue.
 * A handler of ours never fails whole: that would be told by `until` and `stop`.
 */
export function startMappings(mappings: readonly { queue: Queue; consumer: Consumer; queueUrl?: string }[]) {
  const over = new AbortController();
  const carried = new EventEmitter();
  const faults: unknown[] = [];
  const carry = async (
    messages: readonly ReceivedMessage[],
    { queue, consumer, queueUrl }: (typeof mappings)[number],
  ) => {
    try {
      await carryBatch(messages, queue, consumer, queueUrl);
    } catch (error) {
      faults.push(error);
    }
    carried.emit('batch');
  };
  const poll = async (mapping: (typeof mappings)[number]) => {
    const carrying = new Set<Promise<void>>();
    while (!over.signal.aborted) {
      const messages = await mapping.queue.receive(BATCH_MESSAGES, { waitMs: LONGEST_POLL_MS, signal: over.signal });
      if (messages.length === 0) continue;
      const batch: Promise<void> = carry(messages, mapping).then(() => void carrying.delete(batch));
      carrying.add(batch);
      if (carrying.size === BATCHES_AT_A_TIME) await Promise.race(carrying);
    }
    await Promise.all(carrying);
  };
  const polling = Promise.all(mappings.map(poll));
  return {
    /** Looks again each time that a batch was carried. */
    async until(isSo: () => Promise<boolean> | boolean): Promise<void> {
      for (;;) {
        const next = once(carried, 'batch');
        if (faults.length > 0) throw faults[0];
        if (await isSo()) return;
        await next;
      }
    },
    async stop(): Promise<void> {
      over.abort();
      await polling;
      if (faults.length > 0) throw faults[0];
    },
  };
}
