import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import type { Attributes } from './attributes';
import { waitBeforeTry, type Pacing } from './backoff';
import type { Table } from './document-client';

const KEYS_A_CALL = 100;
/** About six seconds of waiting in all. */
const TRIES = 8;

/**
 * Reads every item that is there, strongly consistent; keys must be distinct. A busy table answers with a part and leaves the rest
 * as UnprocessedKeys under status 200: those are asked for again.
 */
export async function batchGet(table: Table & Pacing, keys: readonly Attributes[]): Promise<Attributes[]> {
  const items: Attributes[] = [];
  for (let from = 0; from < keys.length; from += KEYS_A_CALL) {
    let pending: Attributes[] = keys.slice(from, from + KEYS_A_CALL);
    for (let tries = 1; pending.length > 0; tries += 1) {
      const answer = await table.client.send(
        new BatchGetCommand({ RequestItems: { [table.tableName]: { Keys: pending, ConsistentRead: true } } }),
      );
      items.push(...(answer.Responses?.[table.tableName] ?? []));
      pending = answer.UnprocessedKeys?.[table.tableName]?.Keys ?? [];
      if (pending.length === 0) break;
      if (tries === TRIES) {
        throw new Error(
          `table ${table.tableName} left ${pending.length} of ${keys.length} keys unread in ${TRIES} tries`,
        );
      }
      await waitBeforeTry(tries, table);
    }
  }
  return items;
}
