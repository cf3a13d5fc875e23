import { GetCommand, PutCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Group, GroupKind, GroupPart } from '../../domain/group';
import type { GroupStore, Page, PageQuery } from '../../ports';
import { fromAttributes, toAttributes, ttlAttributes, type Attributes } from './attributes';
import { newWriteId, sendConditional } from './conditional-write';
import { encodeCursor, pageOf, startOf } from './cursor';
import type { Table } from './document-client';

const NESTED_OF_HEAD = ['callbacks', 'parts'] as const satisfies (keyof Group)[];
const NESTED_OF_PART = ['lengths', 'jobIds', 'sequences', 'nominalAts'] as const satisfies (keyof GroupPart)[];

/** The sort keys: a group's head and its parts lie side by side. */
const HEAD = 'head';
const PART = 'part#';

const KEY = { groupId: 'string', part: 'string' } as const;

/** A large batch has a hundred parts: looking at so many items a call keeps the number of empty pages down. */
const ITEMS_LOOKED_AT = 500;

export class DynamoGroupStore implements GroupStore {
  private readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  async read(groupId: string): Promise<Group | undefined> {
    const item = await this.item(groupId, HEAD);
    return item && headOf(item);
  }

  put(group: Group, seen?: Group): Promise<boolean> {
    return this.write({ ...toAttributes(group, NESTED_OF_HEAD), part: HEAD, ...ttlAttributes(group.expiresAt) }, seen);
  }

  async readPart(groupId: string, partId: string): Promise<GroupPart | undefined> {
    const item = await this.item(groupId, PART + partId);
    return item && partOf(item);
  }

  async readParts(groupId: string): Promise<GroupPart[]> {
    const parts: GroupPart[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const answer = await this.table.client.send(
        new QueryCommand({
          TableName: this.table.tableName,
          KeyConditionExpression: 'groupId = :groupId AND begins_with(#part, :part)',
          ExpressionAttributeNames: { '#part': 'part' },
          ExpressionAttributeValues: { ':groupId': groupId, ':part': PART },
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      parts.push(...(answer.Items ?? []).map(partOf));
      start = answer.LastEvaluatedKey;
    } while (start !== undefined);
    return parts;
  }

  putPart(part: GroupPart, seen?: GroupPart): Promise<boolean> {
    const attributes = toAttributes(part, NESTED_OF_PART);
    return this.write({ ...attributes, part: PART + part.partId, ...ttlAttributes(part.expiresAt) }, seen);
  }

  async list(query: PageQuery & { kind?: GroupKind }): Promise<Page<Group>> {
    const scope = ['groups', query.kind ?? null];
    const answer = await this.table.client.send(
      new ScanCommand({
        TableName: this.table.tableName,
        // parts have no kind
        FilterExpression: query.kind === undefined ? 'attribute_exists(#kind)' : '#kind = :kind',
        ExpressionAttributeNames: { '#kind': 'kind' },
        ...(query.kind === undefined ? {} : { ExpressionAttributeValues: { ':kind': query.kind } }),
        Limit: Math.max(query.limit, ITEMS_LOOKED_AT),
        ...startOf(query.cursor, scope, KEY),
      }),
    );
    const heads = (answer.Items ?? []).map(headOf);
    const last = heads[query.limit - 1];
    return heads.length > query.limit && last !== undefined
      ? { items: heads.slice(0, query.limit), cursor: encodeCursor(scope, { groupId: last.groupId, part: HEAD }) }
      : pageOf(heads, scope, answer.LastEvaluatedKey);
  }

  private async item(groupId: string, part: string): Promise<Attributes | undefined> {
    const answer = await this.table.client.send(
      new GetCommand({ TableName: this.table.tableName, Key: { groupId, part }, ConsistentRead: true }),
    );
    return answer.Item;
  }

  private async write(item: Attributes, seen: { revision: number } | undefined): Promise<boolean> {
    const writeId = newWriteId();
    const outcome = await sendConditional(
      this.table.client.send(
        new PutCommand({
          TableName: this.table.tableName,
          Item: { ...item, writeId },
          ...(seen === undefined
            ? { ConditionExpression: 'attribute_not_exists(groupId)' }
            : { ConditionExpression: 'revision = :seen', ExpressionAttributeValues: { ':seen': seen.revision } }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      writeId,
    );
    return outcome.applied;
  }
}

function headOf(item: Attributes): Group {
  return fromAttributes<Group>(item, NESTED_OF_HEAD);
}

function partOf(item: Attributes): GroupPart {
  return fromAttributes<GroupPart>(item, NESTED_OF_PART);
}
