import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** What every DynamoDB store needs: one client for all, and its own table. */
export interface Table {
  client: DynamoDBDocumentClient;
  tableName: string;
}

/**
 * DynamoDB answers in milliseconds, and the SDK's own limit is no limit: a request that hangs is given up while a lease of 60 s has
 * time left, and sent again.
 */
const IMPATIENCE = { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

export function createDocumentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(new DynamoDBClient({ requestHandler: IMPATIENCE, ...config }), {
    marshallOptions: { removeUndefinedValues: true },
  });
}
