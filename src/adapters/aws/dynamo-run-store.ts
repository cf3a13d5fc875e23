import { GetCommand, PutCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Run } from '../../domain/run';
import { shardOf } from '../../domain/shard';
import type { Page, PageQuery, RunStore } from '../../ports';
import { fromAttributes, toAttributes, ttlAttributes, type Attributes } from './attributes';
import { newWriteId, sendConditional } from './conditional-write';
import { pageOf, startOf } from './cursor';
import type { Table } from './document-client';
import { dueAttributes, queryDue } from './due-index';

const NESTED = ['heldBack', 'error', 'attempts'] as const satisfies (keyof Run)[];
const KEY = { jobId: 'string', runId: 'string' } as const;

interface RunTable extends Table {
  /** Number of partitions of the due index. May be raised at any time: rows keep the shard that they were written with. */
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
        ...startOf(query.cursor, scope, KEY),
      }),
    );
    return pageOf((answer.Items ?? []).map(runOf), scope, answer.LastEvaluatedKey);
  }

  async due(
    query: PageQuery & { shard: number; until: number },
  ): Promise<Page<{ jobId: string; runId: string; dueAt: number }>> {
    return queryDue(this.table, query, ['jobId', 'runId']);
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
    return {
      ...toAttributes(run, NESTED),
      ...dueAttributes(run.indexDueAt, shardOf(run.jobId, this.table.shards), [run.jobId, run.runId]),
      ...ttlAttributes(run.expiresAt),
    };
  }
}

function runOf(item: Attributes): Run {
  return fromAttributes<Run>(item, NESTED);
}
