import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { createDocumentClient } from '../../../src/adapters/aws/document-client';
import { DynamoCodeStore } from '../../../src/adapters/aws/dynamo-code-store';
import { DynamoControlStore } from '../../../src/adapters/aws/dynamo-control-store';
import { DynamoJobStore } from '../../../src/adapters/aws/dynamo-job-store';
import { DynamoNotificationStore } from '../../../src/adapters/aws/dynamo-notification-store';
import { DynamoRunStore } from '../../../src/adapters/aws/dynamo-run-store';
import { InvalidCursorError } from '../../../src/ports';
import { after, allPages } from '../../contracts/contract';
import { aJob, aNotification, aRun, NOON } from '../../contracts/rows';
import { rowOf } from './row-of';
import { HALF, SkippingClock } from './skipping-clock';

const dynamo = mockClient(DynamoDBDocumentClient);
const clock = new SkippingClock(NOON);
const table = {
  client: createDocumentClient({ region: 'eu-west-1' }),
  tableName: 'table',
  clock,
  random: HALF,
  shards: 4,
};
const jobs = new DynamoJobStore(table);
const runs = new DynamoRunStore(table);
const control = new DynamoControlStore(table);

beforeEach(() => {
  dynamo.reset();
  dynamo.onAnyCommand().resolves({});
});

const sent = () => dynamo.calls().map((call) => call.args[0].constructor.name);
const inputOf = (index: number) => dynamo.call(index).args[0].input as unknown as Record<string, never>;

describe('one state change is one conditional write to one item', () => {
  test('creating a job', async () => {
    expect(await jobs.put(aJob())).toBe(true);
    expect(sent()).toEqual(['PutCommand']);
    expect(inputOf(0)).toMatchObject({ ConditionExpression: 'attribute_not_exists(jobId)' });
  });

  test('replacing a job', async () => {
    const seen = aJob({ revision: 4 });
    expect(await jobs.put({ ...seen, revision: 5 }, seen)).toBe(true);
    expect(sent()).toEqual(['PutCommand']);
    expect(inputOf(0)).toMatchObject({
      ConditionExpression: 'revision = :seen',
      ExpressionAttributeValues: { ':seen': 4 },
    });
  });

  test('advancing a job writes what changed and nothing else', async () => {
    const seen = rowOf(aJob({ revision: 4, dueAt: NOON }));
    expect(await jobs.update({ ...seen, revision: 5, dueAt: NOON + 60_000 }, seen)).toBe(true);
    expect(sent()).toEqual(['UpdateCommand']);
    const { ExpressionAttributeNames: names, ...input } = inputOf(0);
    expect(input).toMatchObject({
      ConditionExpression: '#revision = :seen',
      ExpressionAttributeValues: expect.objectContaining({ ':seen': 4 }) as unknown,
    });
    // the shard stays, so the index moves one entry within its partition
    expect(Object.values(names ?? {}).sort()).toEqual(['dueAt', 'dueKey', 'revision', 'revision', 'writeId']);
  });

  test('finishing a job takes both attributes of the due index away', async () => {
    const seen = rowOf(aJob({ dueAt: NOON }));
    await jobs.update({ ...rowOf(aJob({ jobId: seen.jobId })), revision: 2 }, seen);
    const { UpdateExpression: expression, ExpressionAttributeNames: names } = inputOf(0) as unknown as {
      UpdateExpression: string;
      ExpressionAttributeNames: Record<string, string>;
    };
    const [, removed = ''] = expression.split('REMOVE ');
    expect(removed.split(', ').map((alias) => names[alias])).toEqual(['dueAt', 'dueShard', 'dueKey']);
  });

  test('deleting a job whose payload is small', async () => {
    const seen = rowOf(aJob());
    await jobs.update({ ...seen, revision: 2, state: 'DELETED', expiresAt: NOON }, seen);
    expect(sent()).toEqual(['UpdateCommand']);
  });

  test('claiming and concluding a run, taking and renewing a lock', async () => {
    const run = aRun();
    await runs.put(run);
    await runs.put({ ...run, revision: 2, state: 'DONE' }, run);
    const lock = { name: 'lock', value: 'owner', expiresAt: NOON + 1000 };
    await control.put(lock);
    await control.put({ ...lock, expiresAt: NOON + 2000 }, lock);
    expect(sent()).toEqual(['PutCommand', 'PutCommand', 'PutCommand', 'PutCommand']);
    for (const index of [0, 1, 2, 3]) expect(inputOf(index)).toHaveProperty('ConditionExpression');
  });
});

describe('a condition that fails', () => {
  const failing = (standing?: Record<string, { S: string }>) => (input: { Item?: unknown }) => {
    const writeId = (input.Item as { writeId: string }).writeId;
    throw new ConditionalCheckFailedException({
      $metadata: { attempts: 2 },
      message: 'The conditional request failed',
      ...(standing && { Item: { ...standing, ...(standing['writeId']?.S === 'own' && { writeId: { S: writeId } }) } }),
    });
  };

  test('is a write that was lost to another', async () => {
    dynamo.on(PutCommand).callsFake(failing({ writeId: { S: 'of another' } }));
    expect(await runs.put(aRun())).toBe(false);
    expect(await jobs.put(aJob())).toBe(false);
    expect(await control.put({ name: 'lock', value: 'me', expiresAt: NOON + 1 })).toBe(false);
  });

  test('is a write that was lost, where the database does not tell to whom', async () => {
    dynamo.on(PutCommand).callsFake(failing());
    expect(await runs.put(aRun())).toBe(false);
  });

  test('is a write that took effect, when it failed on its own first sending', async () => {
    dynamo.on(PutCommand).callsFake(failing({ writeId: { S: 'own' } }));
    expect(await runs.put(aRun())).toBe(true);
    expect(await jobs.put(aJob())).toBe(true);
    expect(await control.put({ name: 'lock', value: 'me', expiresAt: NOON + 1 })).toBe(true);
  });

  test('removes the large payload that was written for it, once it is certain that another row stands there', async () => {
    const job = aJob({ payload: 'x'.repeat(513) });
    const removed = () => dynamo.commandCalls(DeleteCommand).map((call) => call.args[0].input.Key);
    dynamo.on(PutCommand, { Item: { revision: 1 } }).callsFake(failing());
    expect(await jobs.put(job)).toBe(false);
    expect(removed()).toEqual([]);
    dynamo.on(PutCommand, { Item: { revision: 1 } }).callsFake(failing({ writeId: { S: 'of another' } }));
    expect(await jobs.put(job)).toBe(false);
    const payloads = dynamo.commandCalls(PutCommand, { Item: { payload: job.payload } });
    expect(payloads).toHaveLength(2);
    expect(removed()).toEqual([{ jobId: payloads[1]?.args[0].input.Item?.['jobId'] as unknown }]);
  });

  test('asks for the item that stands there', async () => {
    const row = rowOf(aJob());
    await jobs.put(aJob());
    await jobs.update({ ...row, revision: 2 }, row);
    await runs.put(aRun());
    await control.put({ name: 'lock', value: 'me', expiresAt: NOON + 1 });
    for (const index of [0, 1, 2, 3]) {
      expect(inputOf(index)).toMatchObject({ ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    }
  });

  test('is told from a failing database, which is an error', async () => {
    dynamo.on(PutCommand).rejects(new Error('socket hang up'));
    dynamo.on(UpdateCommand).rejects(new Error('socket hang up'));
    const row = rowOf(aJob());
    await expect(runs.put(aRun())).rejects.toThrow('socket hang up');
    await expect(jobs.put(aJob())).rejects.toThrow('socket hang up');
    await expect(jobs.update({ ...row, revision: 2 }, row)).rejects.toThrow('socket hang up');
  });
});

describe('pages', () => {
  test('the due index is read through empty pages to its end', async () => {
    const keys = (from: number) =>
      Array.from({ length: 1000 }, (_, index) => ({
        jobId: `job-${from + index}`,
        dueShard: 1,
        dueKey: `${String(NOON).padStart(16, '0')}#job-${from + index}`,
      }));
    const lastKey = (index: number) => keys(index)[0]!;
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: lastKey(1) })
      .resolvesOnce({ Items: keys(0), LastEvaluatedKey: lastKey(1000) })
      .resolvesOnce({ LastEvaluatedKey: lastKey(1001) })
      .resolvesOnce({ Items: keys(1000), LastEvaluatedKey: lastKey(2000) })
      .resolvesOnce({ Items: keys(2000) });
    const found = await allPages((cursor) =>
      jobs.due({ shard: 1, until: NOON + 130_000, limit: 1000, ...after(cursor) }),
    );
    expect(new Set(found.map(({ jobId }) => jobId)).size).toBe(3000);
    expect(found.every(({ dueAt }) => dueAt === NOON)).toBe(true);
    const starts = dynamo.commandCalls(QueryCommand).map((call) => call.args[0].input.ExclusiveStartKey);
    expect(starts).toEqual([undefined, lastKey(1), lastKey(1000), lastKey(1001), lastKey(2000)]);
  });

  test('a list whose filter leaves the first pages empty goes on to the rows behind them', async () => {
    const row = rowOf(aJob({ tags: ['rare'] }));
    const item = { jobId: row.jobId, revision: 1, tags: ['rare'], schedule: '{"kind":"recurring"}' };
    dynamo
      .on(ScanCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: { jobId: 'a' } })
      .resolvesOnce({ Items: [], LastEvaluatedKey: { jobId: 'b' } })
      .resolvesOnce({ Items: [item] });
    const found = await allPages((cursor) => jobs.list({ limit: 10, tag: 'rare', ...after(cursor) }));
    expect(found).toMatchObject([{ jobId: row.jobId, schedule: { kind: 'recurring' } }]);
  });

  test('a rare tag is looked for in many rows a call, and no page holds more than was asked for', async () => {
    const item = (jobId: string) => ({ jobId, revision: 1, tags: ['tag'] });
    dynamo
      .on(ScanCommand)
      .resolvesOnce({ Items: ['a', 'b', 'c'].map(item), LastEvaluatedKey: { jobId: 'z' } })
      .resolvesOnce({ Items: ['c'].map(item) });
    const first = await jobs.list({ limit: 2, tag: 'tag' });
    expect(first.items.map(({ jobId }) => jobId)).toEqual(['a', 'b']);
    await jobs.list({ limit: 2, tag: 'tag', ...after(first.cursor) });
    const [one, two] = dynamo.commandCalls(ScanCommand).map((call) => call.args[0].input);
    expect(one?.Limit).toBe(500);
    expect(two?.ExclusiveStartKey).toEqual({ jobId: 'b' });
  });

  test('the cursor of another tag, list or shard is refused', async () => {
    dynamo.on(ScanCommand).resolves({ Items: [], LastEvaluatedKey: { jobId: 'a' } });
    dynamo.on(QueryCommand).resolves({ LastEvaluatedKey: { jobId: 'a', dueShard: 0, dueKey: '1#a' } });
    const ofTag = (await jobs.list({ limit: 1, tag: 'one' })).cursor;
    const ofAll = (await jobs.list({ limit: 1 })).cursor;
    const ofShard = (await jobs.due({ shard: 0, until: NOON, limit: 1 })).cursor;
    for (const cursor of [ofTag, ofShard]) {
      await expect(jobs.list({ limit: 1, ...after(cursor) })).rejects.toBeInstanceOf(InvalidCursorError);
    }
    for (const cursor of [ofAll, ofShard]) {
      await expect(jobs.list({ limit: 1, tag: 'two', ...after(cursor) })).rejects.toBeInstanceOf(InvalidCursorError);
    }
    for (const cursor of [ofAll, ofShard]) {
      await expect(jobs.due({ shard: 1, until: NOON, limit: 1, ...after(cursor) })).rejects.toBeInstanceOf(
        InvalidCursorError,
      );
    }
  });

  test('a cursor whose key was tampered with is refused before the database sees it', async () => {
    const forged = (key: unknown) => Buffer.from(JSON.stringify([['jobs', null], key])).toString('base64url');
    for (const key of [null, [], {}, { jobId: 1 }, { jobId: 'a', more: 'b' }, { __proto__x: 'a' }]) {
      await expect(jobs.list({ limit: 1, cursor: forged(key) })).rejects.toBeInstanceOf(InvalidCursorError);
    }
    expect(sent()).toEqual([]);
  });

  test('the notifications of a job are read whole, through empty pages', async () => {
    const one = aNotification();
    const other = aNotification({ jobId: one.jobId });
    const key = { jobId: one.jobId, stateAndId: 'DONE#x' };
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [{ ...one, stateAndId: 'DONE#1' }], LastEvaluatedKey: key })
      .resolvesOnce({ LastEvaluatedKey: key })
      .resolvesOnce({ Items: [{ ...other, stateAndId: 'DONE#2' }] });
    expect(await new DynamoNotificationStore(table).of(one.jobId, 'DONE')).toEqual([one, other]);
  });
});

describe('rows read in batches', () => {
  const keysOf = (index: number) =>
    dynamo.commandCalls(BatchGetCommand)[index]?.args[0].input.RequestItems?.['table']?.Keys ?? [];
  const rowsOf = (keys: readonly Record<string, unknown>[]) => keys.map((key) => ({ ...key, revision: 1 }));

  test('keys that were left unprocessed are asked for again, and only those', async () => {
    let calls = 0;
    dynamo.on(BatchGetCommand).callsFake((input: { RequestItems: { table: { Keys: { jobId: string }[] } } }) => {
      calls += 1;
      const keys = input.RequestItems.table.Keys;
      const left = calls <= 2 ? keys.slice(-7) : [];
      return {
        Responses: { table: rowsOf(keys.slice(0, keys.length - left.length)) },
        UnprocessedKeys: left.length > 0 ? { table: { Keys: left } } : {},
      };
    });
    const ids = Array.from({ length: 230 }, (_, index) => `job-${index}`);
    const rows = await jobs.readRows([...ids, 'job-12', 'job-40']);
    expect(rows.map(({ jobId }) => jobId).sort()).toEqual([...ids].sort());
    expect([0, 1, 2, 3, 4].map((index) => keysOf(index).length)).toEqual([100, 7, 7, 100, 30]);
    expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(5);
    expect(dynamo.commandCalls(BatchGetCommand)[0]?.args[0].input.RequestItems?.['table']?.ConsistentRead).toBe(true);
  });

  test('keys that stay unprocessed are an error that counts them, after waits that grow', async () => {
    dynamo
      .on(BatchGetCommand)
      .callsFake((input: { RequestItems: unknown }) => ({ UnprocessedKeys: input.RequestItems }));
    const before = clock.waitedMs;
    await expect(jobs.readRows(['a', 'b', 'c'])).rejects.toThrow('table table left 3 of 3 keys unread in 8 tries');
    expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(8);
    expect(clock.waitedMs - before).toBe(0.75 * (50 + 100 + 200 + 400 + 800 + 1600 + 2000));
  });
});

describe('rows written in batches', () => {
  type Requests = { PutRequest: { Item: { jobId: string; payloadItemId?: string } } }[];
  const requestsOf = (index: number) =>
    (dynamo.commandCalls(BatchWriteCommand)[index]?.args[0].input.RequestItems?.['table'] ?? []) as Requests;
  /** Leaves so many of each call's items, for so many tries. */
  const leaving = (count: number, tries: number) => {
    const seen = new Map<string, number>();
    const written: string[] = [];
    dynamo.on(BatchWriteCommand).callsFake((input: { RequestItems: { table: Requests } }) => {
      const items = input.RequestItems.table;
      const left = items.filter(({ PutRequest: { Item: item } }) => {
        const isLate = Number(item.jobId.split('-').at(-1)) < count;
        const before = seen.get(item.jobId) ?? 0;
        seen.set(item.jobId, before + 1);
        return isLate && before < tries;
      });
      written.push(...items.filter((item) => !left.includes(item)).map(({ PutRequest: { Item: item } }) => item.jobId));
      return left.length > 0 ? { UnprocessedItems: { table: left } } : {};
    });
    return written;
  };
  const sixty = Array.from({ length: 60 }, (_, index) => aJob({ jobId: `job-${index}` }));

  test('of 60 jobs the 7 that were left unprocessed twice are sent again, and only those, after waits', async () => {
    const written = leaving(7, 2);
    const before = clock.waitedMs;
    await jobs.putAll(sixty);
    expect(written.sort()).toEqual(sixty.map(({ jobId }) => jobId).sort());
    const sizes = dynamo.commandCalls(BatchWriteCommand).map((_, index) => requestsOf(index).length);
    expect(sizes.sort((one, other) => one - other)).toEqual([7, 7, 10, 25, 25]);
    expect(clock.waitedMs - before).toBe(0.75 * (50 + 100));
  });

  test('items that stay unprocessed are an error that counts them', async () => {
    leaving(7, Infinity);
    await expect(jobs.putAll(sixty)).rejects.toThrow('table table left 7 of 25 items unwritten in 8 tries');
  });

  test('large payloads are items of their own, written before the rows that refer to them', async () => {
    const large = aJob({ jobId: 'large', payload: 'x'.repeat(600) });
    await jobs.putAll([large, aJob({ jobId: 'small' })]);
    const [payloads, rows] = [requestsOf(0), requestsOf(1)];
    expect(payloads.map(({ PutRequest: { Item: item } }) => item)).toMatchObject([{ payload: large.payload }]);
    expect(rows.map(({ PutRequest: { Item: item } }) => item)).toMatchObject([
      { jobId: 'large', payloadItemId: payloads[0]?.PutRequest.Item.jobId },
      { jobId: 'small', payload: '{"any":"JSON"}' },
    ]);
    expect(rows[0]?.PutRequest.Item).not.toHaveProperty('payload');
  });

  test('no row is written when its payload is not', async () => {
    dynamo.on(BatchWriteCommand).rejects(new Error('socket hang up'));
    await expect(jobs.putAll([aJob({ payload: 'x'.repeat(600) }), aJob()])).rejects.toThrow('socket hang up');
    expect(dynamo.commandCalls(BatchWriteCommand)).toHaveLength(1);
  });

  test('a key that comes twice is told before anything is sent', async () => {
    await expect(jobs.putAll([...sixty, sixty[3]!])).rejects.toThrow('job job-3 is to be written twice at once');
    expect(sent()).toEqual([]);
  });
});

describe('failed runs', () => {
  const key = (failedAt: number, runId: string, jobId = 'job-1') => ({
    jobId,
    runId,
    failedShard: 0,
    failedKey: `${String(failedAt).padStart(16, '0')}#${jobId}#${runId}`,
  });
  /** What the shards answer; each has nothing but what stands here. */
  const answering = (answers: Record<number, object>) =>
    dynamo.on(QueryCommand).callsFake((input: { ExpressionAttributeValues: { ':shard': number } }) => {
      return answers[input.ExpressionAttributeValues[':shard']] ?? {};
    });
  const row = (failedAt: number, runId: string, jobId = 'job-1') => ({ jobId, runId, failedAt, state: 'FAILED' });

  test('each shard is asked for the latest below the cursor, and no row is read that the page does not hold', async () => {
    answering({
      1: { Items: [key(NOON + 5, 'e'), key(NOON + 3, 'c')], LastEvaluatedKey: key(NOON + 3, 'c') },
      2: { Items: [key(NOON + 4, 'd'), key(NOON + 1, 'a')] },
    });
    dynamo.on(BatchGetCommand).resolves({ Responses: { table: [row(NOON + 5, 'e')] } });
    const page = await runs.failed({ limit: 1, since: NOON });
    expect(page.items.map(({ runId }) => runId)).toEqual(['e']);
    const asked = dynamo.commandCalls(BatchGetCommand)[0]?.args[0].input.RequestItems?.['table']?.Keys;
    expect(asked).toEqual([{ jobId: 'job-1', runId: 'e' }]);

    await runs.failed({ limit: 1, since: NOON, ...after(page.cursor) });
    const ranges = dynamo.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(ranges).toHaveLength(8);
    expect(ranges.slice(4).map(({ ExpressionAttributeValues: values }) => values)).toEqual(
      [0, 1, 2, 3].map((shard) => ({
        ':shard': shard,
        ':from': String(NOON).padStart(16, '0'),
        ':to': key(NOON + 5, 'e').failedKey,
      })),
    );
  });

  test('a shard that has more than it gave keeps the earlier ones of the others back', async () => {
    const full = Array.from({ length: 501 }, (_, index) => key(NOON + 1_000 - index, `r${index}`, 'busy'));
    answering({
      1: { Items: full, LastEvaluatedKey: full.at(-1)! },
      2: { Items: [key(NOON, 'old')] },
    });
    dynamo.on(BatchGetCommand).resolves({ Responses: { table: [row(NOON, 'old')] } });
    const first = await runs.failed({ limit: 10, jobId: 'job-1' });
    expect(first.items).toEqual([]);
    answering({ 1: { Items: full.slice(-1) }, 2: { Items: [key(NOON, 'old')] } });
    const second = await runs.failed({ limit: 10, jobId: 'job-1', ...after(first.cursor) });
    expect(second.items).toMatchObject([{ runId: 'old' }]);
    expect(second.cursor).toBeUndefined();
  });

  test('a key of the index that its row does not agree with is left out', async () => {
    answering({ 0: { Items: [key(NOON + 2, 'gone'), key(NOON + 1, 'again'), key(NOON, 'failed')] } });
    const released = { jobId: 'job-1', runId: 'again', state: 'RELEASED' };
    dynamo.on(BatchGetCommand).resolves({ Responses: { table: [row(NOON, 'failed'), released] } });
    expect(await runs.failed({ limit: 10 })).toEqual({ items: [row(NOON, 'failed')] });
  });

  test('since an instant later than the cursor there are none', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [key(NOON, 'a'), key(NOON - 1, 'b')] });
    const { cursor } = await runs.failed({ limit: 1 });
    dynamo.resetHistory();
    expect(await runs.failed({ limit: 1, since: NOON + 1, ...after(cursor) })).toEqual({ items: [] });
    expect(sent()).toEqual([]);
  });
});

describe('code mappings', () => {
  const code = { codeId: 'code', kind: 'job', functionArn: 'arn' } as const;

  test('what was written or read once is neither written nor read again', async () => {
    const store = new DynamoCodeStore(table);
    await store.put(code);
    await store.put(code);
    expect(await store.read('code')).toEqual(code);
    expect(sent()).toEqual(['PutCommand']);
  });

  test('what is absent is looked for each time', async () => {
    const store = new DynamoCodeStore(table);
    expect(await store.read('code')).toBeUndefined();
    dynamo.on(GetCommand).resolves({ Item: code });
    expect(await store.read('code')).toEqual(code);
    expect(await store.read('code')).toEqual(code);
    expect(sent()).toEqual(['GetCommand', 'GetCommand']);
  });

  test('a write that failed is not remembered', async () => {
    const store = new DynamoCodeStore(table);
    dynamo.on(PutCommand).rejectsOnce(new Error('throttled')).resolves({});
    await expect(store.put(code)).rejects.toThrow('throttled');
    await store.put(code);
    expect(sent()).toEqual(['PutCommand', 'PutCommand']);
  });
});
