import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { DUE_INDEX, FAILED_INDEX, TABLES, type TableLayout, type TableName } from '../../src/adapters/aws/table-layout';
import type { AwsCall, deploy, DeployOptions } from './deployment';

/** What AWS would put on its bill. Users' functions are not on it: they would run anyway. */
export interface Bill {
  /** of DynamoDB, on demand: a write of up to 1 KiB into a table or an index */
  writeUnits: number;
  /** a strongly consistent read of up to 4 KiB; an eventually consistent one is half */
  readUnits: number;
  sqsRequests: number;
  /** of our own functions */
  invocations: number;
}

export const emptyBill = (): Bill => ({ writeUnits: 0, readUnits: 0, sqsRequests: 0, invocations: 0 });

type Item = Record<string, unknown>;
type Deployment = Awaited<ReturnType<typeof deploy>>;

interface WriteRequest {
  PutRequest: { Item: Item };
}

interface Answer {
  ConsumedCapacity?: { CapacityUnits: number } | { CapacityUnits: number }[];
}

const WRITES = new Set(['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem']);
/** Their sort keys, which name the item and the instant, change with each move in an index. */
const INDEX_KEYS = [DUE_INDEX.sortKey.name, FAILED_INDEX.sortKey.name];
/** An eventually consistent query costs so much even where it finds nothing. */
const LEAST_QUERY_UNITS = 0.5;

/** Reads the meter of every call that the handlers make. `billFor` says on which bill a call goes. */
export class Meter {
  readonly #billFor: (call: AwsCall) => Bill;
  #deployed: Deployment | undefined;
  /** the largest item that was written, in bytes, by table */
  readonly largest: Partial<Record<TableName, number>> = {};

  constructor(billFor: (call: AwsCall) => Bill) {
    this.#billFor = billFor;
  }

  /** Where items can be looked at beside the handlers. */
  attach(deployed: Deployment): void {
    this.#deployed = deployed;
  }

  readonly around: NonNullable<DeployOptions['around']> = async (call, send) => {
    const bill = this.#billFor(call);
    if (call.action.startsWith('sqs:')) bill.sqsRequests += 1;
    if (!call.action.startsWith('dynamodb:')) return send();
    Object.assign(call.input, { ReturnConsumedCapacity: 'TOTAL' });
    if (call.action === 'dynamodb:BatchWriteItem') return this.#writeBatch(call, send, bill);
    if (WRITES.has(call.action)) return this.#write(call, send, bill);
    const answer = (await send()) as Answer;
    const units = unitsOf(answer);
    bill.readUnits += call.action === 'dynamodb:Query' ? Math.max(units, LEAST_QUERY_UNITS) : units;
    return answer;
  };

  async #write(call: AwsCall, send: () => Promise<unknown>, bill: Bill): Promise<unknown> {
    const table = tableOf(call);
    const input = call.input as { Item?: Item; Key?: Item };
    const written = input.Key ?? input.Item!;
    const before = await this.#itemOf(table, written);
    let answer: Answer;
    try {
      answer = (await send()) as Answer;
    } catch (error) {
      // A write that loses its condition costs what the item that stands there would.
      bill.writeUnits += Math.max(1, Math.ceil(bytesOf(before ?? {}) / 1024));
      throw error;
    }
    const inIndexes = await this.#indexUnitsOf(table, written, before);
    bill.writeUnits += unitsOf(answer) + inIndexes;
    return answer;
  }

  async #writeBatch(call: AwsCall, send: () => Promise<unknown>, bill: Bill): Promise<unknown> {
    const table = tableOf(call);
    const requests = Object.values(
      (call.input as { RequestItems: Record<string, WriteRequest[]> }).RequestItems,
    ).flat();
    const items = requests.map(({ PutRequest }) => PutRequest.Item);
    const before = await Promise.all(items.map((item) => this.#itemOf(table, item)));
    const answer = (await send()) as Answer;
    const units = await Promise.all(items.map((item, index) => this.#indexUnitsOf(table, item, before[index])));
    bill.writeUnits += units.reduce((sum, each) => sum + each, unitsOf(answer));
    return answer;
  }

  async #indexUnitsOf(table: TableName, written: Item, before: Item | undefined): Promise<number> {
    const after = await this.#itemOf(table, written);
    this.largest[table] = Math.max(this.largest[table] ?? 0, bytesOf(after ?? {}));
    return INDEX_KEYS.reduce((sum, key) => sum + indexUnits(before?.[key], after?.[key]), 0);
  }

  async #itemOf(table: TableName, written: Item): Promise<Item | undefined> {
    const { partitionKey, sortKey }: TableLayout = TABLES[table];
    const key = Object.fromEntries(
      [partitionKey, ...(sortKey ? [sortKey] : [])].map(({ name }) => [name, written[name]]),
    );
    const { dynamo, tableNames } = this.#deployed!;
    return (await dynamo.send(new GetCommand({ TableName: tableNames[table], Key: key, ConsistentRead: true }))).Item;
  }
}

function unitsOf({ ConsumedCapacity: consumed = [] }: Answer): number {
  return [consumed].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
}

/** An index takes a unit for an entry that comes or goes, and two for one whose key changes: it goes and comes. The emulator counts tables only. */
function indexUnits(was: unknown, is: unknown): number {
  if (was === is) return 0;
  return was !== undefined && is !== undefined ? 2 : 1;
}

function tableOf(call: AwsCall): TableName {
  return call.on.replace('_TABLE_NAME', '').toLowerCase() as TableName;
}

/** As DynamoDB counts: names and texts in bytes of UTF-8, a number in half as many as it has digits, a list in three and one for each entry. */
function bytesOf(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

function valueBytes(value: unknown): number {
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (Array.isArray(value)) return 3 + value.reduce((sum: number, entry) => sum + 1 + valueBytes(entry), 0);
  return Buffer.byteLength(String(value));
}
