import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Attributes } from './attributes';
import { waitBeforeTry, type Pacing } from './backoff';
import type { Table } from './document-client';

const ITEMS_A_CALL = 25;
/** About six seconds of waiting in all. */
const TRIES = 8;
/** A batch of 10,000 jobs has to be written within one request; a table that is asked for more than it can says so by item. */
const CALLS_AT_A_TIME = 8;

/**
 * Writes every item over whatever stands there; keys must be distinct. A busy table takes a part and leaves the rest as
 * UnprocessedItems under status 200: those are sent again.
 */
export async function batchWrite(table: Table & Pacing, items: readonly Attributes[]): Promise<void> {
  const calls: (readonly Attributes[])[] = [];
  for (let from = 0; from < items.length; from += ITEMS_A_CALL) calls.push(items.slice(from, from + ITEMS_A_CALL));
  for (let from = 0; from < calls.length; from += CALLS_AT_A_TIME) {
    const written = calls.slice(from, from + CALLS_AT_A_TIME).map((some) => writeSome(table, some));
    // All have ended before one's failure is told: nothing is written behind the caller's back.
    for (const outcome of await Promise.allSettled(written)) if (outcome.status === 'rejected') throw outcome.reason;
  }
}

async function writeSome(table: Table & Pacing, items: readonly Attributes[]): Promise<void> {
  let pending = items.map((Item) => ({ PutRequest: { Item } }));
  for (let tries = 1; ; tries += 1) {
    const answer = await table.client.send(new BatchWriteCommand({ RequestItems: { [table.tableName]: pending } }));
    pending = (answer.UnprocessedItems?.[table.tableName] ?? []) as typeof pending;
    if (pending.length === 0) return;
    if (tries === TRIES) {
      throw new Error(
        `table ${table.tableName} left ${pending.length} of ${items.length} items unwritten in ${TRIES} tries`,
      );
    }
    await waitBeforeTry(tries, table);
  }
}
