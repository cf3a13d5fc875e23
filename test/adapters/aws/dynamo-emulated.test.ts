import { DynamoCodeStore } from '../../../src/adapters/aws/dynamo-code-store';
import { DynamoControlStore } from '../../../src/adapters/aws/dynamo-control-store';
import { DynamoJobStore } from '../../../src/adapters/aws/dynamo-job-store';
import { DynamoRunStore } from '../../../src/adapters/aws/dynamo-run-store';
import { after, allPages } from '../../contracts/contract';
import { aJob, aRun, NOON } from '../../contracts/rows';
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

test('raising the number of shards loses no failed run, and those of one job are found in old shards and new', async () => {
  const table = { client, tableName: await createEmulatedTable('runs'), clock: new SkippingClock(), random: HALF };
  const before = new DynamoRunStore({ ...table, shards: 2 });
  const raised = new DynamoRunStore({ ...table, shards: 8 });
  const failed = Array.from({ length: 20 }, (_, index) =>
    aRun({ state: 'FAILED', failedAt: NOON + index, jobId: `job-${index % 10}` }),
  );
  await Promise.all(failed.map((run, index) => (index < 10 ? before : raised).put(run)));
  const latestFirst = [...failed].reverse();
  expect(await allPages((cursor) => raised.failed({ limit: 3, ...after(cursor) }))).toEqual(latestFirst);
  for (let index = 0; index < 10; index += 1) {
    const jobId = `job-${index}`;
    expect((await raised.failed({ limit: 5, jobId })).items).toEqual(latestFirst.filter((run) => run.jobId === jobId));
  }
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
