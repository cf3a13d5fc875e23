import { DeleteCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Notification, NotificationState } from '../../domain/notification';
import type { NotificationStore } from '../../ports';
import { fromAttributes } from './attributes';
import type { Table } from './document-client';

export class DynamoNotificationStore implements NotificationStore {
  private readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  async put(notification: Notification): Promise<void> {
    await this.table.client.send(
      new PutCommand({
        TableName: this.table.tableName,
        Item: { ...notification, stateAndId: stateAndId(notification) },
      }),
    );
  }

  async remove(notification: Pick<Notification, 'jobId' | 'state' | 'notifyId'>): Promise<void> {
    await this.table.client.send(
      new DeleteCommand({
        TableName: this.table.tableName,
        Key: { jobId: notification.jobId, stateAndId: stateAndId(notification) },
      }),
    );
  }

  async of(jobId: string, state?: NotificationState): Promise<Notification[]> {
    const found: Notification[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const answer = await this.table.client.send(
        new QueryCommand({
          TableName: this.table.tableName,
          KeyConditionExpression: `jobId = :jobId${state === undefined ? '' : ' AND begins_with(stateAndId, :state)'}`,
          ExpressionAttributeValues: { ':jobId': jobId, ...(state === undefined ? {} : { ':state': `${state}#` }) },
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      for (const item of answer.Items ?? []) found.push(fromAttributes<Notification>(item, []));
      start = answer.LastEvaluatedKey;
    } while (start !== undefined);
    return found;
  }
}

function stateAndId({ state, notifyId }: Pick<Notification, 'state' | 'notifyId'>): string {
  return `${state}#${notifyId}`;
}
