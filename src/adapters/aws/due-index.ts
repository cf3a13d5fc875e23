import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Page, PageQuery } from '../../ports';
import type { Attributes } from './attributes';
import { pageOf, startOf } from './cursor';
import type { Table } from './document-client';
import { DUE_INDEX } from './table-layout';

/** Digits of the latest instant that a Date can hold, 8.64e15: padded to one length, instants sort as text. */
const INSTANT_DIGITS = 16;
const LATEST_INSTANT = 8.64e15;

/** Both attributes of the index, or neither: an item leaves the index when it has no due instant. */
export function dueAttributes(dueAt: number | undefined, shard: number, ids: readonly string[]): Attributes {
  return dueAt === undefined ? {} : { dueShard: shard, dueKey: [padded(dueAt), ...ids].join('#') };
}

/** Keys of one shard up to and including `until`, earliest first. `keyNames` are the table's own key attributes. */
export async function queryDue<Name extends string>(
  table: Table,
  query: PageQuery & { shard: number; until: number },
  keyNames: readonly Name[],
): Promise<Page<Record<Name, string> & { dueAt: number }>> {
  const scope = ['due', query.shard];
  const keyTypes = Object.fromEntries(keyNames.map((name) => [name, 'string' as const]));
  const answer = await table.client.send(
    new QueryCommand({
      TableName: table.tableName,
      IndexName: DUE_INDEX.name,
      KeyConditionExpression: '#shard = :shard AND #key < :end',
      ExpressionAttributeNames: { '#shard': DUE_INDEX.partitionKey.name, '#key': DUE_INDEX.sortKey.name },
      ExpressionAttributeValues: { ':shard': query.shard, ':end': padded(query.until + 1) },
      Limit: query.limit,
      ...startOf(query.cursor, scope, { ...keyTypes, dueShard: 'number', dueKey: 'string' }),
    }),
  );
  const items = (answer.Items ?? []).map((item) => ({
    ...(Object.fromEntries(keyNames.map((name) => [name, item[name]])) as Record<Name, string>),
    dueAt: Number((item['dueKey'] as string).slice(0, INSTANT_DIGITS)),
  }));
  return pageOf(items, scope, answer.LastEvaluatedKey);
}

/** An instant as text of one length, so that it sorts. */
export function padded(instant: number): string {
  return String(Math.min(Math.max(Math.trunc(instant), 0), LATEST_INSTANT)).padStart(INSTANT_DIGITS, '0');
}
