import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { ReceivedMessage } from '../src/ports';

/** What a mapping hands over, as a queue of ours would. */
export function messagesOf(event: SQSEvent): ReceivedMessage[] {
  return event.Records.map(({ messageId, receiptHandle, body, attributes }) => ({
    messageId,
    receipt: receiptHandle,
    body,
    receives: Number(attributes.ApproximateReceiveCount),
    sentAt: Number(attributes.SentTimestamp),
  }));
}

/** Only these come again: the mapping removes the others. */
export function comeAgain(messageIds: readonly string[]): SQSBatchResponse {
  return { batchItemFailures: messageIds.map((itemIdentifier) => ({ itemIdentifier })) };
}
