import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Run } from '../../domain/run';
import type { Page, PageQuery } from '../../ports';
import type { Attributes } from './attributes';
import { encodeCursor, startOf } from './cursor';
import type { Table } from './document-client';
import { padded } from './due-index';
import { FAILED_INDEX } from './table-layout';

/** One job's failures may be rare among all: looking at so many keys of a shard a call keeps the number of empty pages down. */
const KEYS_LOOKED_AT = 500;

/** Sorts after every key. */
const LAST = '~';

interface FailedKey {
  jobId: string;
  runId: string;
  failedKey: string;
}

/** Sorts by the instant of the failure. Undefined for a run that is not kept among the failed ones. */
export function failedKeyOf({ failedAt, jobId, runId }: Run): string | undefined {
  return failedAt === undefined ? undefined : [padded(failedAt), jobId, runId].join('#');
}

/** Both attributes of the index, or neither. */
export function failedAttributes(run: Run, shard: number): Attributes {
  const failedKey = failedKeyOf(run);
  return failedKey === undefined ? {} : { failedShard: shard, failedKey };
}

/**
 * Keys of failed runs, the latest first: each shard's latest below the cursor, merged. All shards are asked for one job's too,
 * since a run keeps the shard that it was written with when their number is raised.
 */
export async function queryFailed(
  table: Table & { shards: number },
  { limit, since = 0, jobId, cursor }: PageQuery & { since?: number; jobId?: string },
): Promise<Page<FailedKey>> {
  const scope = ['failed', jobId ?? null];
  const { ExclusiveStartKey: start } = startOf(cursor, scope, { failedKey: 'string' }) as {
    ExclusiveStartKey?: { failedKey: string };
  };
  const from = padded(since);
  const to = start?.failedKey ?? LAST;
  if (to < from) return { items: [] };
  const looked = jobId === undefined ? limit : Math.max(limit, KEYS_LOOKED_AT);
  const shards = await Promise.all(
    // One more than is looked at: the key that the page before ended with is among them.
    Array.from({ length: table.shards }, (_, shard) => queryShard(table, { shard, from, to, limit: looked + 1 })),
  );
  // Of a shard that has more, nothing is known beyond its last key, so that no other shard's may be given out beyond it.
  const knownTo = shards.reduce((known, { last }) => (last !== undefined && last > known ? last : known), '');
  const keys = shards
    .flatMap(({ keys: some }) => some)
    .filter(({ failedKey }) => failedKey >= knownTo && failedKey !== start?.failedKey)
    .sort((one, other) => (one.failedKey < other.failedKey ? 1 : -1));
  const items = keys.filter((key) => jobId === undefined || key.jobId === jobId).slice(0, limit);
  const lastItem = items.length === limit ? items.at(-1)?.failedKey : undefined;
  const isWhole = knownTo === '' && (lastItem === undefined || lastItem === keys.at(-1)?.failedKey);
  return isWhole ? { items } : { items, cursor: encodeCursor(scope, { failedKey: lastItem ?? knownTo }) };
}

async function queryShard(
  table: Table,
  { shard, from, to, limit }: { shard: number; from: string; to: string; limit: number },
): Promise<{ keys: FailedKey[]; last: string | undefined }> {
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.tableName,
      IndexName: FAILED_INDEX.name,
      KeyConditionExpression: '#shard = :shard AND #key BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#shard': FAILED_INDEX.partitionKey.name, '#key': FAILED_INDEX.sortKey.name },
      ExpressionAttributeValues: { ':shard': shard, ':from': from, ':to': to },
      ScanIndexForward: false,
      Limit: limit,
    }),
  );
  return {
    keys: (answer.Items ?? []) as unknown as FailedKey[],
    last: answer.LastEvaluatedKey?.['failedKey'] as string | undefined,
  };
}
