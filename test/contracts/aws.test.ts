import { DynamoCodeStore } from '../../src/adapters/aws/dynamo-code-store';
import { DynamoControlStore } from '../../src/adapters/aws/dynamo-control-store';
import { DynamoGroupStore } from '../../src/adapters/aws/dynamo-group-store';
import { DynamoJobStore } from '../../src/adapters/aws/dynamo-job-store';
import { DynamoNotificationStore } from '../../src/adapters/aws/dynamo-notification-store';
import { DynamoRunStore } from '../../src/adapters/aws/dynamo-run-store';
import type { TableName } from '../../src/adapters/aws/table-layout';
import { systemClock, systemRandom } from '../../src/adapters/system';
import { createEmulatedTable, emulatedDynamo, inRealTime } from '../support/emulated-aws';
import { describeCodeStoreContract } from './code-store.contract';
import { describeControlStoreContract } from './control-store.contract';
import { describeGroupStoreContract } from './group-store.contract';
import { describeJobStoreContract } from './job-store.contract';
import { describeNotificationStoreContract } from './notification-store.contract';
import { describeRunStoreContract } from './run-store.contract';

const SHARDS = 4;
const pacing = { clock: systemClock, random: systemRandom };

async function onTable(name: TableName) {
  const client = emulatedDynamo();
  return { adapter: inRealTime(client), table: { client, tableName: await createEmulatedTable(name) } };
}

describeJobStoreContract('DynamoDB', async () => {
  const { adapter, table } = await onTable('jobs');
  return { ...adapter, shards: SHARDS, store: new DynamoJobStore({ ...table, ...pacing, shards: SHARDS }) };
});

describeRunStoreContract('DynamoDB', async () => {
  const { adapter, table } = await onTable('runs');
  return { ...adapter, shards: SHARDS, store: new DynamoRunStore({ ...table, ...pacing, shards: SHARDS }) };
});

describeNotificationStoreContract('DynamoDB', async () => {
  const { adapter, table } = await onTable('notifications');
  return { ...adapter, store: new DynamoNotificationStore(table) };
});

describeCodeStoreContract('DynamoDB', async () => {
  const { adapter, table } = await onTable('code');
  return { ...adapter, store: new DynamoCodeStore(table) };
});

describeControlStoreContract('DynamoDB', async () => {
  const { adapter, table } = await onTable('control');
  return { ...adapter, store: new DynamoControlStore({ ...table, clock: systemClock }) };
});

describeGroupStoreContract('DynamoDB', async () => {
  const { adapter, table } = await onTable('groups');
  return { ...adapter, store: new DynamoGroupStore(table) };
});
