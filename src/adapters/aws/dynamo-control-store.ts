import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock, ControlEntry, ControlStore } from '../../ports';
import { ttlAttributes } from './attributes';
import { newWriteId, sendConditional } from './conditional-write';
import type { Table } from './document-client';

/** DynamoDB removes what has expired up to days late, so each read and each condition looks at `expiresAt` itself. */
export class DynamoControlStore implements ControlStore {
  private readonly table: Table & { clock: Clock };

  constructor(table: Table & { clock: Clock }) {
    this.table = table;
  }

  async read(name: string): Promise<ControlEntry | undefined> {
    const { Item: item } = await this.table.client.send(
      new GetCommand({ TableName: this.table.tableName, Key: { name }, ConsistentRead: true }),
    );
    if (item === undefined || (item['expiresAt'] as number) <= this.table.clock.now()) return undefined;
    return { name, value: item['value'] as string, expiresAt: item['expiresAt'] as number };
  }

  async put(entry: ControlEntry, seen?: ControlEntry): Promise<boolean> {
    const { name, value, expiresAt } = entry;
    const writeId = newWriteId();
    const outcome = await sendConditional(
      this.table.client.send(
        new PutCommand({
          TableName: this.table.tableName,
          Item: { name, value, expiresAt, writeId, ...ttlAttributes(expiresAt) },
          ConditionExpression:
            seen === undefined
              ? 'attribute_not_exists(expiresAt) OR expiresAt <= :now'
              : '#value = :seen AND expiresAt > :now',
          ...(seen === undefined ? {} : { ExpressionAttributeNames: { '#value': 'value' } }),
          ExpressionAttributeValues: {
            ':now': this.table.clock.now(),
            ...(seen === undefined ? {} : { ':seen': seen.value }),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      writeId,
    );
    return outcome.applied;
  }
}
