import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { LONGEST_QUEUE_DELAY_MS } from '../../domain/conclude';
import type { OutgoingMessage, Queue, ReceivedMessage } from '../../ports';
import type { Pacing } from './backoff';
import { BYTES_A_CALL, sendInBatches, type Failure } from './sqs-batches';

const LONGEST_POLL_SECONDS = 20;

/** SQS hides a message for twelve hours in all, counted from its receive, and refuses what would go beyond. */
const LONGEST_HIDDEN_MS = 43_200_000;
/** for the way of the call, and clocks that differ */
const HIDDEN_MARGIN_MS = 10_000;
/** A delivery that came through a Lambda mapping was received at most a function's longest life ago. */
const LONGEST_FUNCTION_MS = 900_000;

/** What SQS answers for a delivery that is over: removed, visible again, or received anew since. */
const STALE = /ReceiptHandleIsInvalid|MessageNotInflight|InvalidParameterValue/;

export class SqsQueue implements Queue {
  private readonly client: SQSClient;
  private readonly queueUrl: string;
  private readonly pacing: Pacing;
  /** receipt → epoch ms of its receive, for as long as the message can be hidden by it */
  private readonly receivedAt = new Map<string, number>();

  constructor({ client, queueUrl, ...pacing }: Pacing & { client: SQSClient; queueUrl: string }) {
    this.client = client;
    this.queueUrl = queueUrl;
    this.pacing = pacing;
  }

  /** @throws RangeError before anything is sent, for a message over 1 MiB or a delay over 900 s */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    const calledAt = this.pacing.clock.now();
    const outgoing = messages.map(({ body, delayMs = 0 }) => {
      const bytes = Buffer.byteLength(body);
      if (bytes > BYTES_A_CALL) throw new RangeError(`a message has ${bytes} bytes; SQS takes at most ${BYTES_A_CALL}`);
      if (!(delayMs <= LONGEST_QUEUE_DELAY_MS)) {
        throw new RangeError(
          `a message cannot be delayed by ${delayMs} ms; SQS takes at most ${LONGEST_QUEUE_DELAY_MS}`,
        );
      }
      return { body, bytes, visibleAt: calledAt + delayMs };
    });
    const failures = await sendInBatches(
      outgoing,
      ({ bytes }) => bytes,
      (batch) =>
        this.client.send(
          new SendMessageBatchCommand({
            QueueUrl: this.queueUrl,
            Entries: batch.map(({ body, visibleAt }, index) => ({
              Id: String(index),
              MessageBody: body,
              // counted anew for each call, so that what is sent again does not come later for it
              DelaySeconds: Math.max(0, Math.floor((visibleAt - this.pacing.clock.now()) / 1000)),
            })),
          }),
        ),
      this.pacing,
    );
    this.report(failures, messages.length, 'sent');
  }

  async receive(
    max: number,
    { waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal } = {},
  ): Promise<ReceivedMessage[]> {
    if (signal?.aborted) return [];
    const answer = await this.client
      .send(
        new ReceiveMessageCommand({
          QueueUrl: this.queueUrl,
          MaxNumberOfMessages: max,
          // rounded up: with 0 SQS asks only some of its servers and may miss what is there
          WaitTimeSeconds: Math.min(Math.ceil(waitMs / 1000), LONGEST_POLL_SECONDS),
          MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
        }),
        signal ? { abortSignal: signal } : {},
      )
      .catch((error: unknown) => {
        if (signal?.aborted) return undefined;
        throw error;
      });
    const now = this.pacing.clock.now();
    this.forgetBefore(now - LONGEST_HIDDEN_MS);
    return (answer?.Messages ?? []).map(({ MessageId, ReceiptHandle, Body, Attributes }) => {
      const receipt = ReceiptHandle ?? '';
      this.receivedAt.set(receipt, now);
      return {
        messageId: MessageId ?? '',
        receipt,
        body: Body ?? '',
        receives: Number(Attributes?.ApproximateReceiveCount ?? 1),
        sentAt: Number(Attributes?.SentTimestamp ?? now),
      };
    });
  }

  async remove(receipts: readonly string[]): Promise<void> {
    const failures = await sendInBatches(
      receipts,
      () => 0,
      (batch) =>
        this.client.send(
          new DeleteMessageBatchCommand({
            QueueUrl: this.queueUrl,
            Entries: batch.map((receipt, index) => ({ Id: String(index), ReceiptHandle: receipt })),
          }),
        ),
      this.pacing,
    );
    for (const receipt of receipts) this.receivedAt.delete(receipt);
    this.report(failures.filter(isNotStale), receipts.length, 'removed');
  }

  /** A message that can be hidden no longer, twelve hours after its receive, is left alone. */
  async hide(receipts: readonly string[], forMs: number): Promise<void> {
    const failures = await sendInBatches(
      receipts.filter((receipt) => this.hideableMs(receipt) > 0),
      () => 0,
      (batch) =>
        this.client.send(
          new ChangeMessageVisibilityBatchCommand({
            QueueUrl: this.queueUrl,
            Entries: batch.map((receipt, index) => ({
              Id: String(index),
              ReceiptHandle: receipt,
              VisibilityTimeout: this.hiddenSeconds(receipt, forMs),
            })),
          }),
        ),
      this.pacing,
    );
    this.report(failures.filter(isNotStale), receipts.length, 'hidden');
  }

  private hiddenSeconds(receipt: string, forMs: number): number {
    return Math.min(Math.ceil(forMs / 1000), Math.max(0, Math.floor(this.hideableMs(receipt) / 1000)));
  }

  private hideableMs(receipt: string): number {
    const now = this.pacing.clock.now();
    const elapsedMs = now - (this.receivedAt.get(receipt) ?? now - LONGEST_FUNCTION_MS);
    return LONGEST_HIDDEN_MS - HIDDEN_MARGIN_MS - elapsedMs;
  }

  /** Receipts are remembered in the order of their receives. */
  private forgetBefore(at: number): void {
    for (const [receipt, receivedAt] of this.receivedAt) {
      if (receivedAt > at) return;
      this.receivedAt.delete(receipt);
    }
  }

  private report(failures: readonly Failure<unknown>[], of: number, done: string): void {
    const first = failures[0];
    if (!first) return;
    const reasons = [...new Set(failures.map(({ code, message }) => (message ? `${code}: ${message}` : code)))];
    throw new Error(
      `${failures.length} of ${of} messages were not ${done} (queue ${this.queueUrl}): ${reasons.join('; ')}`,
      {
        cause: first.cause,
      },
    );
  }
}

function isNotStale({ code }: Failure<unknown>): boolean {
  return !STALE.test(code);
}
