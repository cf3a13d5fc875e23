import { functionArn } from '../support/builders';
import { containing } from '../support/matchers';
import { Client, type Json } from './client';

let client: Client;
let down: Set<unknown>;
beforeEach(async () => {
  client = await Client.open();
  down = new Set();
  client.world.code['job-report'] = ({ event }) => {
    const { of } = (event['payload'] ?? {}) as { of?: string };
    if (down.has(of)) throw new Error(`of ${of}`);
    return { of };
  };
  client.world.code['notify-me'] = () => 'heard';
});
afterEach(() => client.close());

const target = { functionArn: functionArn('job-report') };
const once = { maxAttempts: 1 };
const job = (of: string, changes: object = {}) => ({ target, payload: { of }, retry: once, ...changes });
const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
  client.post(path, JSON.stringify(body), headers);
const read = async (path: string) => {
  const { status, json } = await client.send(path);
  expect(status).toBe(200);
  return json;
};
const callsOf = (name: string) => client.world.callsOf(name).map(({ event }) => event);
const ofs = () => callsOf('job-report').map(({ payload }) => (payload as { of: string }).of);
const jobsOf = (json: Json) => (json['jobs'] ?? json.items) as (Json & { run?: Json })[];
const key = { 'idempotency-key': 'k-1' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8/;

describe('a chain', () => {
  test('is created, answered with where it is, and runs in its order, each with the result before', async () => {
    const caught = { functionArn: functionArn('job-caught') };
    const answer = await post('/chains', { name: 'invoice', jobs: [job('a'), job('b'), job('c')], catch: caught });
    const { chainId } = answer.json as unknown as { chainId: string };
    expect(chainId).toMatch(UUID);
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/chains/${chainId}`]);
    expect(answer.json).toEqual({
      chainId,
      name: 'invoice',
      state: 'RUNNING',
      ...{ total: 3, pending: 3, done: 0, failed: 0, skipped: 0, cancelled: 0, percent: 0 },
      catch: caught,
      createdAt: '2027-05-04T12:00:00.000Z',
    });
    await client.run();
    const json = await read(`/chains/${chainId}`);
    expect(json).toMatchObject({ state: 'DONE', done: 3, percent: 100, finishedAt: '2027-05-04T12:00:00.000Z' });
    expect(ofs()).toEqual(['a', 'b', 'c']);
    expect(jobsOf(json).map(({ state, run }) => [state, run!['state'], run!['attempt']])).toEqual(
      Array(3).fill(['DONE', 'DONE', 1]),
    );
    const [, second] = callsOf('job-report');
    const [first] = jobsOf(json);
    expect(second).toMatchObject({
      chainId,
      previous: { jobId: first!.jobId, runId: first!.runId, result: { of: 'a' } },
    });
    const ofSecond = jobsOf(json)[1]!;
    const run = await read(`/jobs/${ofSecond.jobId}/runs/${ofSecond.runId}`);
    expect(run['previous']).toEqual({ jobId: first!.jobId, runId: first!.runId });
    expect(await read(`/jobs/${ofSecond.jobId}`)).toMatchObject({ chainId });
  });

  test('that failed shows it, is continued by a retry, and the retry comes once under one key', async () => {
    down.add('b');
    const { json } = await post('/chains', { jobs: [job('a'), job('b'), job('c')] });
    const path = `/chains/${String(json['chainId'])}`;
    await client.run();
    const failed = await read(path);
    expect(failed).toMatchObject({ state: 'FAILED', done: 1, failed: 1, skipped: 1 });
    expect(jobsOf(failed).map(({ state, run }) => [state, run!['reason']])).toEqual([
      ['DONE', undefined],
      ['FAILED', 'out-of-attempts'],
      ['SKIPPED', 'chain-stopped'],
    ]);
    const first = await post(`${path}/retry`, {}, key);
    expect([first.status, first.json['state']]).toEqual([200, 'RUNNING']);
    await client.run();
    expect(await read(path)).toMatchObject({ state: 'FAILED' });
    expect((await post(`${path}/retry`, {}, key)).text).toBe(first.text);
    expect(await read(path)).toMatchObject({ state: 'FAILED' });
    down.clear();
    await post(`${path}/retry`, {});
    await client.run();
    expect(await read(path)).toMatchObject({ state: 'DONE', done: 3 });
    expect(ofs()).toEqual(['a', 'b', 'b', 'b', 'c']);
  });

  test('is cancelled, and twice is once', async () => {
    const { json } = await post('/chains', { jobs: [job('a', { delaySeconds: 60 }), job('b')] });
    const path = `/chains/${String(json['chainId'])}`;
    for (let i = 0; i < 2; i++) {
      const answer = await client.post(`${path}/cancel`, '');
      expect([answer.status, answer.json['state']]).toEqual([200, 'CANCELLED']);
    }
    await client.run();
    const seen = await read(path);
    expect(seen).toMatchObject({ state: 'CANCELLED', pending: 0, cancelledAt: '2027-05-04T12:00:00.000Z' });
    expect((await post(`${path}/retry`, {})).status).toBe(409);
    await client.world.clock.advance(61_000);
    await client.run();
    expect(ofs()).toEqual([]);
  });

  test('may have a hundred jobs, and shows them all', async () => {
    const jobs = Array.from({ length: 100 }, (_, i) => job(`${i}`));
    const { json } = await post('/chains', { jobs });
    await client.run();
    const seen = await read(`/chains/${String(json['chainId'])}`);
    expect(seen).toMatchObject({ state: 'DONE', total: 100, done: 100 });
    expect(jobsOf(seen)).toHaveLength(100);
    expect(ofs()).toEqual(jobs.map(({ payload }) => payload.of));
  });
});

describe('a batch', () => {
  const callback = { functionArn: functionArn('notify-me') };

  test('is created, counted, and calls back', async () => {
    const jobs = [job('a'), [job('b1'), job('b2')], job('c')];
    const request = { name: 'import', jobs, then: callback, finally: callback, allowFailures: true };
    const answer = await post('/batches', request);
    const { batchId } = answer.json as unknown as { batchId: string };
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/batches/${batchId}`]);
    expect(answer.json).toMatchObject({ batchId, name: 'import', state: 'RUNNING', total: 4, pending: 4, percent: 0 });
    expect(answer.json).toMatchObject({ then: callback, finally: callback, allowFailures: true });
    expect(answer.json).not.toHaveProperty('catch');
    await client.run();
    expect(await read(`/batches/${batchId}`)).toMatchObject({ state: 'DONE', done: 4, percent: 100 });
    expect(ofs().sort()).toEqual(['a', 'b1', 'b2', 'c']);
    expect(callsOf('notify-me').map(({ payload }) => (payload as Json)['batchId'])).toEqual([batchId, batchId]);
  });

  test('shows its jobs page by page, in their order', async () => {
    const ids = Array.from({ length: 7 }, (_, i) => `j${i}`);
    const { json } = await post('/batches', { jobs: ids.map((jobId) => job('x', { jobId })) });
    const path = `/batches/${String(json['batchId'])}/jobs`;
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await read(`${path}?limit=3${cursor}`);
      seen.push(...jobsOf(page).map(({ jobId }) => jobId));
      for (const one of jobsOf(page)) expect(one).toMatchObject({ state: 'PENDING' });
      cursor = page.cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.cursor)}`;
    } while (cursor !== '');
    expect(seen).toEqual(ids);
  });

  test('that is empty is over at once', async () => {
    const answer = await post('/batches', { jobs: [], then: callback });
    expect([answer.status, answer.json]).toEqual([
      201,
      expect.objectContaining({ state: 'DONE', total: 0, percent: 100 }),
    ]);
    await client.run();
    expect(callsOf('notify-me')).toHaveLength(1);
  });

  test('is added to, once under one key, and not when it is over', async () => {
    const { json } = await post('/batches', { jobs: [job('a')] });
    const path = `/batches/${String(json['batchId'])}`;
    const added = { jobs: [job('b'), [job('c'), job('d')]] };
    const first = await post(`${path}/jobs`, added, key);
    expect([first.status, first.json['total']]).toEqual([200, 4]);
    expect((await post(`${path}/jobs`, added, key)).json['total']).toBe(4);
    expect((await post(`${path}/jobs`, { jobs: [job('e')] }, key)).status).toBe(422);
    await client.run();
    expect(await read(path)).toMatchObject({ state: 'DONE', done: 4 });
    const late = await post(`${path}/jobs`, { jobs: [job('f')] });
    expect([late.status, late.json.errors.map(({ field }) => field)]).toEqual([409, ['batchId']]);
    expect(ofs().sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('is cancelled, and what failed of one is sent again', async () => {
    down.add('a');
    const { json } = await post('/batches', { jobs: [job('a'), job('b', { delaySeconds: 60 })] });
    const path = `/batches/${String(json['batchId'])}`;
    await client.run();
    await client.world.clock.advance(60_000);
    await client.run();
    expect(await read(path)).toMatchObject({ state: 'FAILED', failed: 1, skipped: 1 });
    down.clear();
    expect((await client.post(`${path}/retry`, '')).json['state']).toBe('RUNNING');
    const cancelled = await client.post(`${path}/cancel`, '');
    expect([cancelled.status, cancelled.json['state']]).toEqual([200, 'CANCELLED']);
  });
});

describe.each([
  ['/chains', 'chainId'],
  ['/batches', 'batchId'],
])('%s', (path, id) => {
  test('lists what there is of this kind', async () => {
    const made = [await post(path, { jobs: [job('a')] }), await post(path, { jobs: [job('b')] })];
    await post(path === '/chains' ? '/batches' : '/chains', { jobs: [job('c')] });
    const page = await read(`${path}?limit=10`);
    expect(page.items.map((one) => one[id]).sort()).toEqual(made.map(({ json }) => json[id]).sort());
    expect(page.items[0]).toMatchObject({ state: 'RUNNING', total: 1 });
  });

  test('the same idempotency key makes one, and is refused for another', async () => {
    const first = await post(path, { jobs: [job('a')] }, key);
    const second = await post(path, { jobs: [job('a')] }, key);
    expect([second.status, second.json[id]]).toEqual([201, first.json[id]]);
    expect((await read(path)).items).toHaveLength(1);
    const other = await post(path, { jobs: [job('b')] }, key);
    expect([other.status, other.json.errors.map(({ field }) => field)]).toEqual([422, ['Idempotency-Key']]);
    await client.run();
    expect(ofs()).toEqual(['a']);
  });

  test('payloads stay byte for byte', async () => {
    const payload = '{"id":9007199254740993, "neg0":-0.0,"x":"],\\"jobs\\":["}';
    const text = `{ "jobs" : [ ${JSON.stringify({ target, jobId: 'x' }).slice(0, -1)} , "payload" : ${payload} } ] }`;
    expect((await client.post(path, text)).status).toBe(201);
    expect((await client.send('/jobs/x')).text).toContain(`"payload":${payload},"tags"`);
    await client.run();
    expect(client.world.calls.map((call) => call.text)).toEqual([containing(`"payload":${payload}}`)]);
  });

  test('a job id that is taken is a conflict that names the field, and nothing is created', async () => {
    await client.post('/jobs', JSON.stringify({ target, jobId: 'taken' }));
    const { status, json } = await post(path, { jobs: [job('a', { jobId: 'free' }), job('b', { jobId: 'taken' })] });
    expect([status, json.errors.map(({ field }) => field)]).toEqual([409, ['jobs[1].jobId']]);
    expect((await client.send('/jobs/free')).status).toBe(404);
    expect((await read(path)).items).toEqual([]);
  });

  test.each(['', '/cancel', '/retry'])('nothing is found at an id that is none%s', async (action) => {
    const other = await post(path === '/chains' ? '/batches' : '/chains', { jobs: [job('a')] });
    const otherId = String(other.json['chainId'] ?? other.json['batchId']);
    for (const absent of ['absent', 'a b', otherId]) {
      const method = action === '' ? 'GET' : 'POST';
      const { status, json } = await client.send(`${path}/${absent}${action}`, { method });
      expect([status, json.errors]).toEqual([404, [{ field: id, message: containing('there is no') }]]);
    }
  });
});
