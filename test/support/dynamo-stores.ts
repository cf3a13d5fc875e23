import { DynamoCodeStore } from '../../src/adapters/aws/dynamo-code-store';
import { DynamoControlStore } from '../../src/adapters/aws/dynamo-control-store';
import { DynamoGroupStore } from '../../src/adapters/aws/dynamo-group-store';
import { DynamoJobStore } from '../../src/adapters/aws/dynamo-job-store';
import { DynamoNotificationStore } from '../../src/adapters/aws/dynamo-notification-store';
import { DynamoRunStore } from '../../src/adapters/aws/dynamo-run-store';
import { TABLES, type TableName } from '../../src/adapters/aws/table-layout';
import type { Clock, Settings } from '../../src/ports';
import { createEmulatedTable, emulatedDynamo } from './emulated-aws';
import type { OtherStores } from './world';

export interface DynamoStores extends OtherStores {
  /** The stores of a version with another number of shards, on the same tables. */
  withShards(shards: number): OtherStores['stores'];
}

/** The stores as deployed, on fresh tables of the emulator, for a world whose clock is moved by hand. */
export async function openDynamoStores(
  clock: Clock,
  { shards: first }: Pick<Settings, 'shards'>,
): Promise<DynamoStores> {
  const names = Object.keys(TABLES) as TableName[];
  const created = await Promise.all(names.map(async (name) => [name, await createEmulatedTable(name)] as const));
  const tableNames = Object.fromEntries(created) as Record<TableName, string>;

  const client = emulatedDynamo();
  let underWay = 0;
  const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const countedSend = async (...args: unknown[]): Promise<unknown> => {
    underWay += 1;
    try {
      return await send(...args);
    } finally {
      underWay -= 1;
    }
  };
  Object.assign(client, { send: countedSend });

  const withShards = (shards: number) => {
    const table = (name: TableName) => ({
      client,
      tableName: tableNames[name],
      shards,
      clock,
      random: { next: () => 0.5 },
    });
    return {
      jobs: new DynamoJobStore(table('jobs')),
      runs: new DynamoRunStore(table('runs')),
      notifications: new DynamoNotificationStore(table('notifications')),
      code: new DynamoCodeStore(table('code')),
      control: new DynamoControlStore(table('control')),
      groups: new DynamoGroupStore(table('groups')),
    };
  };
  return { stores: withShards(first), withShards, isBusy: () => underWay > 0, close: () => client.destroy() };
}
