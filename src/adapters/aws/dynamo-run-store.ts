import { GetCommand, PutCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Run } from '../../domain/run';
import { shardOf } from '../../domain/shard';
import type { Page, PageQuery, RunStore } from '../../ports';
import { fromAttributes, toAttributes, ttlAttributes, type Attributes } from './attributes';
import { newWriteId, sendConditional } from './conditional-write';
import { pageOf, startOf } from './cursor';
import type { Pacing } from './backoff';
import { batchGet } from './batch-get';
import type { Table } from './document-client';
import { dueAttributes, queryDue } from './due-index';
import { failedAttributes, failedKeyOf, queryFailed } from './failed-index';

const NESTED = ['heldBack', 'error', 'attempts', 'previous', 'series'] as const satisfies (keyof Run)[];
const KEY = { jobId: 'string', runId: 'string' } as const;

interface RunTable extends Table, Pacing {
  /** Number of partitions of the two indexes. May be raised at any time: rows keep the shard that they were written with. */
  shards: number;
}

export class DynamoRunStore implements RunStore {
  private readonly table: RunTable;

  constructor(table: RunTable) {
    this.table = table;
  }

  async read(jobId: string, runId: string): Promise<Run | undefined> {
    const answer = await this.table.client.send(
      new GetCommand({ TableName: this.table.tableName, Key: { jobId, runId }, ConsistentRead: true }),
    );
    return answer.Item && runOf(answer.Item);
  }

  async put(run: Run, seen?: Run): Promise<boolean> {
    const writeId = newWriteId();
    const outcome = await sendConditional(
      this.table.client.send(
        new PutCommand({
          TableName: this.table.tableName,
          Item: { ...this.attributesOf(run), writeId },
          ...(seen === undefined
            ? { ConditionExpression: 'attribute_not_exists(jobId)' }
            : { ConditionExpression: 'revision = :seen', ExpressionAttributeValues: { ':seen': seen.revision } }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      writeId,
    );
    return outcome.applied;
  }

  async list(query: PageQuery & { jobId: string }): Promise<Page<Run>> {
    const scope = ['runs', query.jobId];
    const answer = await this.table.client.send(
      new QueryCommand({
        TableName: this.table.tableName,
        KeyConditionExpression: 'jobId = :jobId',
        ExpressionAttributeValues: { ':jobId': query.jobId },
        // a run id begins with its nominal instant, so the latest is the last
        ScanIndexForward: false,
        Limit: query.limit,
        ...startOf(query.cursor, scope, KEY, { jobId: query.jobId }),
      }),
    );
    return pageOf((answer.Items ?? []).map(runOf), scope, answer.LastEvaluatedKey);
  }

  async due(
    query: PageQuery & { shard: number; until: number },
  ): Promise<Page<{ jobId: string; runId: string; dueAt: number }>> {
    return queryDue(this.table, query, ['jobId', 'runId']);
  }

  /** A key of the index may be ahead of its row, or behind it: only a row that agrees with its key is of this page. */
  async failed(query: PageQuery & { since?: number; jobId?: string }): Promise<Page<Run>> {
    const { items: keys, ...rest } = await queryFailed(this.table, query);
    const items = await batchGet(
      this.table,
      keys.map(({ jobId, runId }) => ({ jobId, runId })),
    );
    const found = new Map(items.map(runOf).map((run) => [failedKeyOf(run), run]));
    return { items: keys.flatMap(({ failedKey }) => found.get(failedKey) ?? []), ...rest };
  }

  async scan(query: PageQuery): Promise<Page<Run>> {
    const scope = ['all-runs'];
    const answer = await this.table.client.send(
      new ScanCommand({
        TableName: this.table.tableName,
        Limit: query.limit,
        ...startOf(query.cursor, scope, KEY),
      }),
    );
    return pageOf((answer.Items ?? []).map(runOf), scope, answer.LastEvaluatedKey);
  }

  private attributesOf(run: Run): Attributes {
    const shard = shardOf(run.jobId, this.table.shards);
    return {
      ...toAttributes(run, NESTED),
      ...dueAttributes(run.indexDueAt, shard, [run.jobId, run.runId]),
      ...failedAttributes(run, shard),
      ...ttlAttributes(run.expiresAt),
    };
  }
}

function runOf(item: Attributes): Run {
  return fromAttributes<Run>(item, NESTED);
}
