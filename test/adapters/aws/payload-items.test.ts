import { DeleteCommand, ScanCommand, type GetCommand, type UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { DynamoJobStore } from '../../../src/adapters/aws/dynamo-job-store';
import type { JobRow } from '../../../src/domain/job';
import { after, allPages } from '../../contracts/contract';
import { aJob, NOON } from '../../contracts/rows';
import { createEmulatedTable, emulatedDynamo } from '../../support/emulated-aws';
import { rowOf } from './row-of';
import { HALF, SkippingClock } from './skipping-clock';

const LARGE = `"${'x'.repeat(200_000)}"`;
const client = emulatedDynamo();
let tableName: string;
let jobs: DynamoJobStore;

beforeAll(async () => {
  tableName = await createEmulatedTable('jobs');
  jobs = new DynamoJobStore({ client, tableName, clock: new SkippingClock(), random: HALF, shards: 4 });
});
afterAll(() => client.destroy());

/** The table's own items of one job: its row and its payloads. */
async function itemsOf({ jobId }: JobRow) {
  const { Items: items = [] } = await client.send(
    new ScanCommand({
      TableName: tableName,
      FilterExpression: 'begins_with(jobId, :jobId)',
      ExpressionAttributeValues: { ':jobId': jobId },
    }),
  );
  return {
    row: items.find((item) => item['jobId'] === jobId),
    payloads: items.filter((item) => item['jobId'] !== jobId),
  };
}

test('a payload of 512 bytes lies in the row, one more in an item of its own', async () => {
  const small = aJob({ payload: `"${'é'.repeat(255)}"` });
  const large = aJob({ payload: `"${'é'.repeat(255)}x"` });
  await jobs.put(small);
  await jobs.put(large);
  expect(await itemsOf(small)).toMatchObject({ row: { payload: small.payload }, payloads: [] });
  const stored = await itemsOf(large);
  expect(stored.payloads).toMatchObject([{ payload: large.payload }]);
  expect(stored.row).not.toHaveProperty('payload');
});

test('neither a list nor a read of rows shows the items that hold payloads', async () => {
  const job = aJob({ payload: LARGE });
  await jobs.put(job);
  const payloadItemId = (await itemsOf(job)).payloads[0]?.['jobId'] as string;
  expect(await jobs.read(payloadItemId)).toBeUndefined();
  expect(await jobs.readRows([payloadItemId, job.jobId])).toEqual([rowOf(job)]);
  const listed = await allPages((cursor) => jobs.list({ limit: 3, ...after(cursor) }));
  expect(listed).toContainEqual(rowOf(job));
  expect(listed.map(({ jobId }) => jobId)).not.toContain(payloadItemId);
});

test('a put that replaces leaves one payload item, and none for a small payload', async () => {
  const job = aJob({ payload: LARGE });
  await jobs.put(job);
  const second = { ...job, revision: 2, payload: `${LARGE} ` };
  expect(await jobs.put(second, job)).toBe(true);
  expect((await itemsOf(job)).payloads).toMatchObject([{ payload: second.payload }]);
  expect(await jobs.put({ ...job, revision: 3, payload: 'null' }, second)).toBe(true);
  expect((await itemsOf(job)).payloads).toEqual([]);
  expect((await jobs.read(job.jobId))?.payload).toBe('null');
});

test('of many creates with large payloads the one that wins keeps its own', async () => {
  const job = aJob();
  const rivals = Array.from({ length: 6 }, (_, index) => ({ ...job, payload: `${index}${'0'.repeat(2000)}` }));
  const won = await Promise.all(rivals.map((rival) => jobs.put(rival)));
  expect((await jobs.read(job.jobId))?.payload).toBe(rivals[won.indexOf(true)]?.payload);
});

test('a reader that meets a payload just replaced finds the new one', async () => {
  const job = aJob({ payload: LARGE });
  await jobs.put(job);
  const { row, payloads } = await itemsOf(job);
  // the row as it was, until after the reader's first look
  const second = { ...job, revision: 2, payload: `[${LARGE}]` };
  let looks = 0;
  const slow = {
    send: async (command: GetCommand) => {
      const answer = await client.send(command);
      looks += 1;
      if (looks === 1) await jobs.put(second, job);
      return answer;
    },
  } as unknown as typeof client;
  const reader = new DynamoJobStore({ client: slow, tableName, clock: new SkippingClock(), random: HALF, shards: 4 });
  expect(row?.['payloadItemId']).toBe(payloads[0]?.['jobId']);
  expect(await reader.read(job.jobId)).toEqual(second);
  expect(looks).toBe(4);
});

test('a payload that is really missing is an error that names the job', async () => {
  const job = aJob({ payload: LARGE });
  await jobs.put(job);
  const [payload] = (await itemsOf(job)).payloads;
  await client.send(new DeleteCommand({ TableName: tableName, Key: { jobId: payload?.['jobId'] as string } }));
  await expect(jobs.read(job.jobId)).rejects.toThrow(`the payload of job ${job.jobId} is missing`);
});

describe('the end of a payload', () => {
  const END = { expiresAt: NOON + 1, seconds: NOON / 1000 + 1 };
  const LATER = { expiresAt: NOON + 60_000, seconds: NOON / 1000 + 60 };
  const endOf = async (job: JobRow) => (await itemsOf(job)).payloads.map((item) => item['expiresAtSeconds'] as unknown);

  test('is that of the row it was written with', async () => {
    const once = aJob({ payload: LARGE, expiresAt: END.expiresAt });
    const forever = aJob({ payload: LARGE });
    await jobs.put(once);
    await jobs.put(forever);
    expect((await itemsOf(once)).row).toMatchObject({ expiresAtSeconds: END.seconds });
    expect(await endOf(once)).toEqual([END.seconds]);
    expect(await endOf(forever)).toEqual([undefined]);
  });

  test('follows an update that gives the row one, moves it or takes it away', async () => {
    const job = aJob({ payload: LARGE });
    await jobs.put(job);
    const unending = rowOf(job);
    const ending = { ...unending, revision: 2, expiresAt: LATER.expiresAt };
    expect(await jobs.update(ending, unending)).toBe(true);
    expect(await endOf(job)).toEqual([LATER.seconds]);
    const sooner = { ...ending, revision: 3, expiresAt: END.expiresAt };
    expect(await jobs.update(sooner, ending)).toBe(true);
    expect(await endOf(job)).toEqual([END.seconds]);
    const later = { ...sooner, revision: 4, expiresAt: LATER.expiresAt };
    expect(await jobs.update(later, sooner)).toBe(true);
    expect(await endOf(job)).toEqual([LATER.seconds]);
    expect(await jobs.update({ ...unending, revision: 5 }, later)).toBe(true);
    expect(await endOf(job)).toEqual([undefined]);
  });

  test('is never before that of its row when an update to a later end is lost', async () => {
    const job = aJob({ payload: LARGE, expiresAt: END.expiresAt, revision: 7 });
    await jobs.put(job);
    const stale = { ...rowOf(job), revision: 6 };
    expect(await jobs.update({ ...stale, revision: 7, expiresAt: LATER.expiresAt }, stale)).toBe(false);
    expect([undefined, END.seconds]).toContain((await endOf(job))[0]);
  });

  test('is not brought forward by a slow writer after a later write took it away', async () => {
    const job = aJob({ payload: LARGE });
    await jobs.put(job);
    const unending = rowOf(job);
    const ending = { ...unending, revision: 2, expiresAt: END.expiresAt };
    // the row is written, and revived by another, before the payload gets its end
    const slow = {
      send: async (command: UpdateCommand) => {
        const answer = await client.send(command);
        if (command.constructor.name === 'UpdateCommand' && !revived) {
          revived = true;
          expect(await jobs.update({ ...unending, revision: 3 }, ending)).toBe(true);
        }
        return answer;
      },
    } as unknown as typeof client;
    let revived = false;
    const writer = new DynamoJobStore({ client: slow, tableName, clock: new SkippingClock(), random: HALF, shards: 4 });
    expect(await writer.update(ending, unending)).toBe(true);
    expect(revived).toBe(true);
    expect(await endOf(job)).toEqual([undefined]);
  });
});
