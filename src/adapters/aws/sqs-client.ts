import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

export function createSqsClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient(config);
}
