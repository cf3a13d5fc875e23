import { GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { currentGeneration, type Job, type JobRow } from '../../domain/job';
import { shardOf } from '../../domain/shard';
import type { JobStore, Page, PageQuery } from '../../ports';
import { refuseDoubles } from '../distinct-ids';
import { fromAttributes, toAttributes, ttlAttributes, type Attributes } from './attributes';
import type { Pacing } from './backoff';
import { batchGet } from './batch-get';
import { batchWrite } from './batch-write';
import { newWriteId, sendConditional } from './conditional-write';
import { encodeCursor, pageOf, startOf } from './cursor';
import type { Table } from './document-client';
import { dueAttributes, queryDue } from './due-index';
import { isLarge, payloadItemIdOf, PayloadItems } from './payload-items';
import { updateOf } from './update-expression';

const NESTED = [
  'generations',
  'schedule',
  'retry',
  'misfire',
  'pause',
  'unique',
  'concurrency',
  'rateLimit',
  'member',
] as const satisfies (keyof JobRow)[];

/** A tag may be rare: looking at so many rows a call keeps the number of empty pages down. */
const ROWS_LOOKED_AT = 500;

/** A reader can meet a payload that an edit just replaced; reading the row again finds the new one. */
const READ_TRIES = 3;

export interface JobTable extends Table, Pacing {
  /** Number of partitions of the due index. May be raised at any time: rows keep the shard that they were written with. */
  shards: number;
}

export class DynamoJobStore implements JobStore {
  private readonly table: JobTable;
  private readonly payloads: PayloadItems;

  constructor(table: JobTable) {
    this.table = table;
    this.payloads = new PayloadItems(table);
  }

  async read(jobId: string): Promise<Job | undefined> {
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      const { Item: item } = await this.table.client.send(
        new GetCommand({ TableName: this.table.tableName, Key: { jobId }, ConsistentRead: true }),
      );
      if (!isRow(item)) return undefined;
      const payload = await this.payloadOf(item);
      if (payload !== undefined) return { ...rowOf(item), payload };
    }
    throw new Error(`the payload of job ${jobId} is missing from table ${this.table.tableName}`);
  }

  async readRows(jobIds: readonly string[]): Promise<JobRow[]> {
    const items = await batchGet(
      this.table,
      [...new Set(jobIds)].map((jobId) => ({ jobId })),
    );
    return items.filter(isRow).map(rowOf);
  }

  async put(job: Job, replaces?: JobRow): Promise<boolean> {
    const { payload, ...row } = job;
    const writeId = newWriteId();
    const payloadItemId = isLarge(payload) ? payloadItemIdOf(job.jobId, writeId) : undefined;
    if (payloadItemId !== undefined) await this.payloads.write(payloadItemId, payload, row);
    const outcome = await sendConditional(
      this.table.client.send(
        new PutCommand({
          TableName: this.table.tableName,
          Item: {
            ...this.attributesOf(row),
            writeId,
            ...(payloadItemId === undefined ? { payload } : { payloadItemId }),
          },
          ...(replaces === undefined
            ? { ConditionExpression: 'attribute_not_exists(jobId)' }
            : {
                ConditionExpression: 'revision = :seen',
                ExpressionAttributeValues: { ':seen': replaces.revision },
                ReturnValues: 'ALL_OLD',
              }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      writeId,
    );
    const leftover = outcome.applied
      ? (outcome.returned?.['payloadItemId'] as string | undefined)
      : outcome.standing && payloadItemId;
    if (leftover !== undefined) await this.payloads.discard(leftover);
    return outcome.applied;
  }

  async putAll(jobs: readonly Job[]): Promise<void> {
    refuseDoubles(jobs);
    const payloads: Attributes[] = [];
    const rows: Attributes[] = [];
    for (const { payload, ...row } of jobs) {
      const attributes = this.attributesOf(row);
      if (isLarge(payload)) {
        const payloadItemId = payloadItemIdOf(row.jobId, newWriteId());
        payloads.push(this.payloads.itemOf(payloadItemId, payload, row));
        rows.push({ ...attributes, payloadItemId });
      } else {
        rows.push({ ...attributes, payload });
      }
    }
    await batchWrite(this.table, payloads);
    await batchWrite(this.table, rows);
  }

  async update(row: JobRow, seen: JobRow): Promise<boolean> {
    const endChanges = row.expiresAt !== seen.expiresAt;
    if ((row.expiresAt ?? Infinity) > (seen.expiresAt ?? Infinity)) await this.payloads.liftEnd(row);
    const writeId = newWriteId();
    const outcome = await sendConditional(
      this.table.client.send(
        new UpdateCommand({
          TableName: this.table.tableName,
          Key: { jobId: row.jobId },
          ...updateOf({ ...this.attributesOf(row), writeId }, this.attributesOf(seen), ['jobId'], seen.revision),
          ReturnValues: endChanges ? 'ALL_NEW' : 'NONE',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      writeId,
    );
    const payloadItemId = outcome.applied ? outcome.returned?.['payloadItemId'] : undefined;
    if (endChanges && typeof payloadItemId === 'string') await this.payloads.endWith(payloadItemId, row);
    return outcome.applied;
  }

  /** An item of its own in the jobs table: without a revision, so that no list shows it. */
  async keepDefinition(job: Job, expiresAt: number): Promise<void> {
    const { payload, ...row } = job;
    await this.table.client.send(
      new PutCommand({
        TableName: this.table.tableName,
        Item: {
          jobId: definitionItemId(job.jobId, currentGeneration(job)!.id),
          definition: JSON.stringify(row),
          payload,
          ...ttlAttributes(expiresAt),
        },
      }),
    );
  }

  async readDefinition(jobId: string, generation: string): Promise<Job | undefined> {
    const { Item: item } = await this.table.client.send(
      new GetCommand({
        TableName: this.table.tableName,
        Key: { jobId: definitionItemId(jobId, generation) },
        ConsistentRead: true,
      }),
    );
    if (item === undefined) return undefined;
    return { ...(JSON.parse(item['definition'] as string) as JobRow), payload: item['payload'] as string };
  }

  async list(query: PageQuery & { tag?: string }): Promise<Page<JobRow>> {
    const scope = ['jobs', query.tag ?? null];
    const answer = await this.table.client.send(
      new ScanCommand({
        TableName: this.table.tableName,
        // payloads lie in the same table and have no revision
        FilterExpression: `attribute_exists(#revision) AND #state <> :deleted${query.tag === undefined ? '' : ' AND contains(#tags, :tag)'}`,
        ExpressionAttributeNames: {
          '#revision': 'revision',
          '#state': 'state',
          ...(query.tag === undefined ? {} : { '#tags': 'tags' }),
        },
        ExpressionAttributeValues: {
          ':deleted': 'DELETED',
          ...(query.tag === undefined ? {} : { ':tag': query.tag }),
        },
        Limit: query.tag === undefined ? query.limit : Math.max(query.limit, ROWS_LOOKED_AT),
        ...startOf(query.cursor, scope, { jobId: 'string' }),
      }),
    );
    const rows = (answer.Items ?? []).map(rowOf);
    const last = rows[query.limit - 1];
    return rows.length > query.limit && last !== undefined
      ? { items: rows.slice(0, query.limit), cursor: encodeCursor(scope, { jobId: last.jobId }) }
      : pageOf(rows, scope, answer.LastEvaluatedKey);
  }

  async due(query: PageQuery & { shard: number; until: number }): Promise<Page<{ jobId: string; dueAt: number }>> {
    return queryDue(this.table, query, ['jobId']);
  }

  private async payloadOf(item: Attributes): Promise<string | undefined> {
    const payloadItemId = item['payloadItemId'] as string | undefined;
    return payloadItemId === undefined ? (item['payload'] as string) : this.payloads.read(payloadItemId);
  }

  private attributesOf(row: JobRow): Attributes {
    // a caller may hand in a whole job as its row
    const attributes = toAttributes(row, NESTED);
    delete attributes['payload'];
    return {
      ...attributes,
      ...dueAttributes(row.dueAt, shardOf(row.jobId, this.table.shards), [row.jobId]),
      ...ttlAttributes(row.expiresAt),
    };
  }
}

/** `#` cannot occur in a job id, so no job can have this key. */
function definitionItemId(jobId: string, generation: string): string {
  return `${jobId}#definition#${generation}`;
}

function isRow(item: Attributes | undefined): item is Attributes {
  return item?.['revision'] !== undefined;
}

function rowOf(item: Attributes): JobRow {
  return fromAttributes<JobRow>(item, NESTED);
}
