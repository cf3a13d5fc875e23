import { DynamoCodeStore } from '../../../src/adapters/aws/dynamo-code-store';
import { DynamoControlStore } from '../../../src/adapters/aws/dynamo-control-store';
import { DynamoJobStore } from '../../../src/adapters/aws/dynamo-job-store';
import { after, allPages } from '../../contracts/contract';
import { aJob, NOON } from '../../contracts/rows';
import { createEmulatedTable, emulatedDynamo } from '../../support/emulated-aws';
import { HALF, SkippingClock } from './skipping-clock';

const client = emulatedDynamo();
afterAll(() => client.destroy());

test('code is found by another process than the one that wrote it', async () => {
  const table = { client, tableName: await createEmulatedTable('code') };
  const code = { codeId: 'code-1', kind: 'notification', functionArn: 'arn' } as const;
  await new DynamoCodeStore(table).put(code);
  expect(await new DynamoCodeStore(table).read('code-1')).toEqual(code);
});

test('raising the number of shards loses no job that waits', async () => {
  const table = { client, tableName: await createEmulatedTable('jobs'), clock: new SkippingClock(), random: HALF };
  const before = new DynamoJobStore({ ...table, shards: 2 });
  const jobs = Array.from({ length: 20 }, () => aJob({ dueAt: NOON }));
  await Promise.all(jobs.map((job) => before.put(job)));
  const raised = new DynamoJobStore({ ...table, shards: 8 });
  const dueIds = async () => {
    const shards = [0, 1, 2, 3, 4, 5, 6, 7].map((shard) =>
      allPages((cursor) => raised.due({ shard, until: NOON, limit: 5, ...after(cursor) })),
    );
    return (await Promise.all(shards)).flat().map(({ jobId }) => jobId);
  };
  expect((await dueIds()).sort()).toEqual(jobs.map(({ jobId }) => jobId).sort());
  // each moves to its new shard with its next due instant, and leaves its old one
  await Promise.all(jobs.map((job) => raised.update({ ...job, revision: 2, dueAt: NOON - 1 }, job)));
  expect((await dueIds()).sort()).toEqual(jobs.map(({ jobId }) => jobId).sort());
});

test('a control entry ends in the millisecond that it says', async () => {
  const clock = new SkippingClock(NOON);
  const control = new DynamoControlStore({ client, tableName: await createEmulatedTable('control'), clock });
  const entry = { name: 'lock', value: 'one', expiresAt: NOON + 10 };
  await control.put(entry);
  clock.pass(9);
  expect(await control.read('lock')).toEqual(entry);
  expect(await control.put({ ...entry, value: 'two' })).toBe(false);
  clock.pass(1);
  expect(await control.read('lock')).toBeUndefined();
  expect(await control.put({ ...entry, value: 'two', expiresAt: NOON + 20 }, entry)).toBe(false);
  expect(await control.put({ ...entry, value: 'two', expiresAt: NOON + 20 })).toBe(true);
});
