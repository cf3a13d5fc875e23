import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { JobRow } from '../../domain/job';
import { ttlAttributes, type Attributes } from './attributes';
import type { Table } from './document-client';
import { TTL_ATTRIBUTE } from './table-layout';

/** A write of a row costs a unit per KiB: a larger payload is an item of its own, so that advancing a job never rewrites it. */
const INLINE_PAYLOAD_BYTES = 512;

export function isLarge(payload: string): boolean {
  return Buffer.byteLength(payload) > INLINE_PAYLOAD_BYTES;
}

/** `#` cannot occur in a job id, so no job can have this key. Each put has its own: what a row refers to never changes. */
export function payloadItemIdOf(jobId: string, writeId: string): string {
  return `${jobId}#payload#${writeId}`;
}

/**
 * Large payloads, beside the rows in the jobs table. Written before the row that refers to them; a crash between the two leaves an
 * item that nobody refers to, which costs its storage and nothing else.
 */
export class PayloadItems {
  private readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  async write(payloadItemId: string, payload: string, row: JobRow): Promise<void> {
    await this.table.client.send(
      new PutCommand({
        TableName: this.table.tableName,
        Item: this.itemOf(payloadItemId, payload, row),
      }),
    );
  }

  itemOf(payloadItemId: string, payload: string, row: JobRow): Attributes {
    return { jobId: payloadItemId, payload, rowRevision: row.revision, ...ttlAttributes(row.expiresAt) };
  }

  async read(payloadItemId: string): Promise<string | undefined> {
    const answer = await this.table.client.send(
      new GetCommand({ TableName: this.table.tableName, Key: { jobId: payloadItemId }, ConsistentRead: true }),
    );
    return answer.Item?.['payload'] as string | undefined;
  }

  /** Removes what no row refers to any more. Best effort: what stays costs its storage, and the state is written already. */
  async discard(payloadItemId: string): Promise<void> {
    await this.table.client
      .send(new DeleteCommand({ TableName: this.table.tableName, Key: { jobId: payloadItemId } }))
      .catch(() => undefined);
  }

  /**
   * Before a row gets a later end or none: its payload must never end before it. The payload has no end until `endWith` gives it the
   * row's new one, and the revision keeps a slow `endWith` of an earlier write of the row from coming in between.
   */
  async liftEnd(row: JobRow): Promise<void> {
    const payloadItemId = await this.idOf(row.jobId);
    if (payloadItemId !== undefined) await this.setEnd(payloadItemId, row.revision, ' REMOVE #end', {});
  }

  /** After a row got another end. Best effort: a payload without an end costs its storage and nothing else. */
  async endWith(payloadItemId: string, row: JobRow): Promise<void> {
    const { [TTL_ATTRIBUTE]: end } = ttlAttributes(row.expiresAt);
    if (end === undefined) return;
    await this.setEnd(payloadItemId, row.revision, ', #end = :end', { ':end': end }).catch(() => undefined);
  }

  private async idOf(jobId: string): Promise<string | undefined> {
    const answer = await this.table.client.send(
      new GetCommand({
        TableName: this.table.tableName,
        Key: { jobId },
        ProjectionExpression: 'payloadItemId',
        ConsistentRead: true,
      }),
    );
    return answer.Item?.['payloadItemId'] as string | undefined;
  }

  private async setEnd(payloadItemId: string, revision: number, change: string, values: Attributes): Promise<void> {
    try {
      await this.table.client.send(
        new UpdateCommand({
          TableName: this.table.tableName,
          Key: { jobId: payloadItemId },
          UpdateExpression: `SET rowRevision = :revision${change}`,
          ConditionExpression: 'rowRevision <= :revision',
          ExpressionAttributeNames: { '#end': TTL_ATTRIBUTE },
          ExpressionAttributeValues: { ':revision': revision, ...values },
        }),
      );
    } catch (error) {
      // gone, or somebody saw a later revision: the write of the row that this one belongs to is history
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }
}
