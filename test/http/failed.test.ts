import { jobText } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { containing } from '../support/matchers';
import { Client } from './client';

let client: Client;
let isDown: boolean;
beforeEach(async () => {
  client = await Client.open();
  isDown = true;
  client.world.code['job-report'] = ({ event }) => {
    if (isDown) throw Object.assign(new Error(`of ${String(event['jobId'])}`), { name: 'ShopClosed' });
    return 'done';
  };
});
afterEach(() => client.close());

/** Jobs that fail at once, a second apart. @returns the paths of their failed runs, the latest first */
async function fail(...jobIds: string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const jobId of jobIds) {
    await client.post('/jobs', jobText({ jobId, payload: { of: jobId }, retry: { maxAttempts: 1 } }));
    await client.run();
    paths.unshift(`/failed/${jobId}/${(await client.world.runsOf(jobId))[0]!.runId}`);
    await client.world.clock.advance(1_000);
  }
  return paths;
}

const listed = async (query = '') => {
  const { status, json } = await client.send(`/failed${query}`);
  expect(status).toBe(200);
  return json.items.map(({ jobId }) => jobId);
};

describe('failed runs', () => {
  test('are listed, the latest first, with reason and error', async () => {
    await fail('a', 'b');
    const { json } = await client.send('/failed');
    expect(json.items.map(({ jobId }) => jobId)).toEqual(['b', 'a']);
    expect(json.items[1]).toMatchObject({
      state: 'FAILED',
      reason: 'out-of-attempts',
      failedAt: '2027-05-04T12:00:00.000Z',
      error: { type: 'ShopClosed', message: 'of a' },
    });
  });

  test('are filtered by job, instant, reason and type of error', async () => {
    await fail('a', 'b', 'c');
    expect(await listed('?job=b')).toEqual(['b']);
    expect(await listed('?since=2027-05-04T12:00:01Z')).toEqual(['c', 'b']);
    expect(await listed('?reason=ShopClosed')).toEqual(['c', 'b', 'a']);
    expect(await listed('?reason=out-of-attempts&job=a')).toEqual(['a']);
    expect(await listed('?reason=heartbeat-missed')).toEqual([]);
    expect(await listed('?job=absent')).toEqual([]);
  });

  test('are paged', async () => {
    await fail('a', 'b', 'c');
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await client.send(`/failed?limit=2${cursor}`);
      seen.push(...json.items.map(({ jobId }) => jobId));
      cursor = json.cursor === undefined ? '' : `&cursor=${encodeURIComponent(json.cursor)}`;
    } while (cursor !== '');
    expect(seen).toEqual(['c', 'b', 'a']);
  });

  test('are shown one by one with what the code was called with', async () => {
    const [path] = await fail('a');
    const { status, json } = await client.send(path!);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      jobId: 'a',
      state: 'FAILED',
      target: { functionArn: functionArn('job-report') },
      payload: { of: 'a' },
      attempts: [{ attempt: 1, reason: 'out-of-attempts', error: { type: 'ShopClosed' } }],
    });
  });

  test('are sent again: the same run, in a series of its own', async () => {
    const [path] = await fail('a');
    const { runId } = (await client.world.runsOf('a'))[0]!;
    isDown = false;
    const { status, json } = await client.post(`${path}/retry`, '');
    expect([status, json]).toEqual([
      202,
      expect.objectContaining({ runId, state: 'RELEASED', reason: 'retried', series: { number: 2, after: 1 } }),
    ]);
    expect(await listed()).toEqual([]);
    await client.run();
    expect((await client.send(`/jobs/a/runs/${runId}`)).json).toMatchObject({ state: 'DONE', attempt: 2 });
  });

  test('are sent again once under one idempotency key, and its repeat is answered the same', async () => {
    const [path] = await fail('a');
    const key = { 'idempotency-key': 'k' };
    const first = await client.post(`${path}/retry`, '', key);
    await client.run();
    expect(await listed()).toEqual(['a']);
    const second = await client.post(`${path}/retry`, '', key);
    expect([second.status, second.text]).toEqual([202, first.text]);
    expect(await listed()).toEqual(['a']);
    const [other] = await fail('b');
    const refused = await client.post(`${other}/retry`, '', key);
    expect([refused.status, refused.json.errors.map(({ field }) => field)]).toEqual([422, ['Idempotency-Key']]);
    expect(await listed()).toEqual(['b', 'a']);
  });

  test('are sent again by filter, as many as asked for, and what is refused is told', async () => {
    await fail('a', 'b', 'c', 'd');
    await client.delete('/jobs/c');
    isDown = false;
    const some = await client.post('/failed/retry', '{"since":"2027-05-04T12:00:01Z","limit":1}');
    expect([some.status, some.json]).toEqual([200, { retried: 1, refused: [], isMore: true }]);
    expect(await listed()).toEqual(['c', 'b', 'a']);
    const rest = await client.post('/failed/retry', '');
    expect(rest.json).toMatchObject({ retried: 2, isMore: false });
    expect(rest.json['refused']).toEqual([expect.objectContaining({ jobId: 'c', message: containing('was deleted') })]);
    await client.run();
    expect(await listed()).toEqual(['c']);
  });

  test('are sent again by filter once under one idempotency key', async () => {
    await fail('a', 'b');
    const key = { 'idempotency-key': 'k' };
    const first = await client.post('/failed/retry', '{"limit":1}', key);
    const second = await client.post('/failed/retry', '{ "limit": 1 }', key);
    expect(second.text).toBe(first.text);
    expect(await listed()).toEqual(['a']);
    expect((await client.post('/failed/retry', '{"limit":2}', key)).status).toBe(422);
  });

  test('are forgotten one by one, and stay runs of their jobs', async () => {
    const [path] = await fail('a', 'b');
    for (let i = 0; i < 2; i++) {
      const { status, text } = await client.delete(path!);
      expect([status, text]).toEqual([204, '']);
      expect(await listed()).toEqual(['a']);
    }
    expect((await client.send(path!)).status).toBe(404);
    expect((await client.send('/jobs/b/runs')).json.items).toMatchObject([{ state: 'FAILED' }]);
  });

  test('are forgotten by filter, and it says how many', async () => {
    await fail('a', 'b', 'c');
    const some = await client.delete('/failed?since=2027-05-04T12:00:01Z&reason=ShopClosed&job=b');
    expect([some.status, some.json]).toEqual([200, { forgotten: 1, isMore: false }]);
    expect(await listed()).toEqual(['c', 'a']);
    expect((await client.delete('/failed')).json).toEqual({ forgotten: 2, isMore: false });
    expect(await listed()).toEqual([]);
    expect((await client.delete('/failed')).json).toEqual({ forgotten: 0, isMore: false });
  });

  test('are forgotten all, however many there are', async () => {
    const ids = Array.from({ length: 250 }, (_, i) => `j${i}`);
    await client.post(
      '/jobs/bulk',
      `{"jobs":[${ids.map((jobId) => jobText({ jobId, retry: { maxAttempts: 1 } })).join()}]}`,
    );
    await client.run();
    expect((await client.delete('/failed')).json).toEqual({ forgotten: 250, isMore: false });
    expect(await listed()).toEqual([]);
  });

  test.each([
    ['GET', '/failed/a/absent', 404],
    ['DELETE', '/failed/a/absent', 404],
    ['POST', '/failed/a/absent/retry', 404],
    ['GET', '/failed/a b/x', 404],
    ['PUT', '/failed', 405],
    ['GET', '/failed/retry', 405],
    ['POST', '/failed/a/x', 405],
    ['GET', '/failed/a/x/retry', 405],
  ])('%s %s is answered %i', async (method, path, status) => {
    await fail('a');
    expect((await client.send(path, { method })).status).toBe(status);
  });

  test.each([
    ['GET', '/failed?job=a%20b', 'job', 'must be 1 to 64 letters'],
    ['GET', '/failed?jobId=a', 'jobId', 'unknown field'],
    ['GET', '/failed?since=today', 'since', 'must be an instant with Z or an offset'],
    ['GET', '/failed?since=2027-05-04', 'since', 'got "2027-05-04"'],
    ['GET', '/failed?reason=', 'reason', 'must be text of 1 to 256 characters'],
    ['GET', '/failed?limit=101', 'limit', 'from 1 to 100'],
    ['GET', '/failed?cursor=nonsense', 'cursor', 'not one that this list gave out'],
    ['DELETE', '/failed?sinc=2027-05-04T12:00:00Z', 'sinc', 'did you mean since?'],
    ['DELETE', '/failed?limit=5', 'limit', 'unknown field'],
    ['DELETE', '/failed?job=*', 'job', 'got "*"'],
  ])('%s %s is refused with the parameter named, and nothing is changed', async (method, path, field, says) => {
    await fail('a');
    const answer = await client.send(path, { method });
    expect([answer.status, answer.json.errors]).toEqual([400, [{ field, message: containing(says) }]]);
    expect(await listed()).toEqual(['a']);
  });

  test.each([
    ['{"job":"a b"}', 'job', 'must be 1 to 64 letters'],
    ['{"since":5}', 'since', 'got 5'],
    ['{"reason":""}', 'reason', 'must be text'],
    ['{"limit":0}', 'limit', 'must be a whole number from 1 to 1000; got 0'],
    ['{"limit":1001}', 'limit', 'got 1001'],
    ['{"limit":"5"}', 'limit', 'got "5"'],
    ['{"jobs":[]}', 'jobs', 'did you mean job?'],
    ['[]', 'body', 'must be an object such as { "job"'],
  ])('are not sent again by %s', async (body, field, says) => {
    await fail('a');
    const answer = await client.post('/failed/retry', body);
    expect([answer.status, answer.json.errors]).toEqual([400, [{ field, message: containing(says) }]]);
    expect(await listed()).toEqual(['a']);
  });
});
