import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '../../src/adapters/aws/document-client';
import { systemClock } from '../../src/adapters/system';
import type { Adapter } from '../contracts/contract';
import { TABLES, type KeyAttribute, type TableLayout, type TableName } from '../../src/adapters/aws/table-layout';

/** No account behind it: the emulators take any. */
const ANYONE = { region: 'eu-west-1', credentials: { accessKeyId: 'nobody', secretAccessKey: 'nothing' } };

export function emulatedDynamo(): DynamoDBDocumentClient {
  return createDocumentClient({ ...ANYONE, endpoint: addressOf('EMULATED_DYNAMODB_URL') });
}

export function emulatedSqs(): SQSClient {
  return new SQSClient({ ...ANYONE, endpoint: addressOf('EMULATED_SQS_URL') });
}

let made = 0;

function freshName(of: string): string {
  made += 1;
  return `${of}-${process.pid}-${Date.now().toString(36)}-${made}`;
}

/** A table of its own, laid out as deployed. Answers its name. */
export async function createEmulatedTable(name: TableName): Promise<string> {
  const layout: TableLayout = TABLES[name];
  const TableName = freshName(name);
  const client = new DynamoDBClient({ ...ANYONE, endpoint: addressOf('EMULATED_DYNAMODB_URL') });
  const keys = [layout, ...layout.indexes].flatMap((each) => keysOf(each));
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: keySchema(layout),
      AttributeDefinitions: [...new Map(keys.map((key) => [key.name, key])).values()].map((key) => ({
        AttributeName: key.name,
        AttributeType: key.type === 'number' ? 'N' : 'S',
      })),
      ...(layout.indexes.length > 0 && {
        GlobalSecondaryIndexes: layout.indexes.map((index) => ({
          IndexName: index.name,
          KeySchema: keySchema(index),
          Projection: { ProjectionType: index.projection },
        })),
      }),
    }),
  );
  for (;;) {
    const { Table: table } = await client.send(new DescribeTableCommand({ TableName }));
    if (table?.TableStatus === 'ACTIVE') break;
  }
  client.destroy();
  return TableName;
}

function keysOf({ partitionKey, sortKey }: Pick<TableLayout, 'partitionKey' | 'sortKey'>): KeyAttribute[] {
  return sortKey ? [partitionKey, sortKey] : [partitionKey];
}

function keySchema(keys: Pick<TableLayout, 'partitionKey' | 'sortKey'>) {
  return keysOf(keys).map(
    ({ name }, index) => ({ AttributeName: name, KeyType: index === 0 ? 'HASH' : 'RANGE' }) as const,
  );
}

/** A queue of its own, with a dead-letter queue if `maxReceives` is given: a new one, or one that is there. Answers the addresses. */
export async function createEmulatedQueue(
  client: SQSClient,
  { visibilityMs, maxReceives, ...given }: { visibilityMs: number; maxReceives?: number; deadLettersUrl?: string },
): Promise<{ queueUrl: string; deadLettersUrl?: string }> {
  const create = async (name: string, attributes: Record<string, string>): Promise<string> => {
    const answer = await client.send(
      new CreateQueueCommand({
        QueueName: freshName(name),
        Attributes: { VisibilityTimeout: String(visibilityMs / 1000), ...attributes },
      }),
    );
    return answer.QueueUrl!;
  };
  if (maxReceives === undefined) return { queueUrl: await create('queue', {}) };
  const deadLettersUrl = given.deadLettersUrl ?? (await create('dead-letters', {}));
  const { Attributes: attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLettersUrl, AttributeNames: ['QueueArn'] }),
  );
  const redrive = { deadLetterTargetArn: attributes!['QueueArn'], maxReceiveCount: String(maxReceives) };
  return { queueUrl: await create('queue', { RedrivePolicy: JSON.stringify(redrive) }), deadLettersUrl };
}

function addressOf(variable: string): string {
  const address = process.env[variable];
  if (address === undefined) throw new Error(`${variable} is not set: jest's globalSetup, emulators.mjs, has not run`);
  return address;
}

/** The emulators live in real time, and their indexes never lag. */
export function inRealTime(client: { destroy(): void }): Adapter {
  return {
    clock: systemClock,
    advance: (ms) => systemClock.waitUntil(systemClock.now() + ms),
    eventually: (assertion) => assertion(),
    close: async () => client.destroy(),
  };
}
