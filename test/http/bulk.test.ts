import { LIMITS } from '../../src/domain/limits';
import { runActivations } from '../../src/operations/run-activation';
import type { OutgoingMessage } from '../../src/ports';
import { jobText, WRONG_JOBS } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { containing } from '../support/matchers';
import { Client, type Json } from './client';

let client: Client;
beforeEach(async () => (client = await Client.open()));
afterEach(() => client.close());

const bulk = (jobs: readonly string[], headers: Record<string, string> = {}) =>
  client.post('/jobs/bulk', `{"jobs":[${jobs.join(',')}]}`, headers);
const resultsOf = (json: Json) => json['results'] as (Json & { index: number; status: number; location?: string })[];
const idsThere = async () => (await client.send('/jobs?limit=100')).json.items.map(({ jobId }) => jobId).sort();
const key = { 'idempotency-key': 'k-1' };

test('each job is created and answered by its index', async () => {
  const { status, json } = await bulk([jobText({ jobId: 'a' }), jobText({ schedule: 'rate(1 hour)' }), jobText()]);
  expect([status, json['created'], json['failed']]).toEqual([200, 3, 0]);
  const results = resultsOf(json);
  expect(results).toEqual(
    results.map(({ jobId }, index) => ({ index, status: 201, jobId, location: `/jobs/${jobId}` })),
  );
  expect(results[0]!.jobId).toBe('a');
  expect(await idsThere()).toEqual(results.map(({ jobId }) => jobId).sort());
});

test('what is wrong with one harms no other, and is told', async () => {
  await client.post('/jobs', jobText({ jobId: 'taken' }));
  const { status, json } = await bulk([
    jobText({ jobId: 'a' }),
    jobText({ name: '' }),
    jobText({ jobId: 'taken' }),
    jobText({ payload: 'x'.repeat(LIMITS.payloadBytes) }),
    jobText({ target: { functionArn: functionArn('forbidden') } }),
    jobText({ jobId: 'b' }),
  ]);
  expect([status, json['created'], json['failed']]).toEqual([200, 2, 4]);
  expect(
    resultsOf(json).map(({ index, status, errors }) => [index, status, errors?.map(({ field }) => field)]),
  ).toEqual([
    [0, 201, undefined],
    [1, 400, ['name']],
    [2, 409, ['jobId']],
    [3, 413, ['payload']],
    [4, 400, ['target.functionArn']],
    [5, 201, undefined],
  ]);
  expect(await idsThere()).toEqual(['a', 'b', 'taken']);
});

test('every wrong job is told as POST /jobs tells it', async () => {
  const { json } = await bulk(WRONG_JOBS.map(([, body]) => body));
  expect(resultsOf(json)).toEqual(
    WRONG_JOBS.map(([, , field, says], index) => ({
      index,
      status: 400,
      errors: [{ field, message: containing(says) }],
    })),
  );
  expect(await idsThere()).toEqual([]);
});

test('of two jobs with one id the first is created', async () => {
  const { json } = await bulk([
    jobText({ jobId: 'a', name: 'first' }),
    jobText(),
    jobText({ jobId: 'a', name: 'other' }),
  ]);
  expect(json).toMatchObject({ created: 2, failed: 1 });
  expect(resultsOf(json)[2]).toEqual({
    index: 2,
    status: 409,
    errors: [{ field: 'jobId', message: 'jobs[0] of this request has the id a already; choose another' }],
  });
  expect((await client.send('/jobs/a')).json['name']).toBe('first');
});

test('of two jobs with one unique key one is created, and the other told', async () => {
  const { json } = await bulk([1, 2].map(() => jobText({ unique: { key: 'u' } })));
  expect(json).toMatchObject({ created: 1, failed: 1 });
  const refused = resultsOf(json).find(({ status }) => status !== 201)!;
  expect(refused).toMatchObject({ status: 409, errors: [{ field: 'unique.key' }] });
});

test('payloads stay byte for byte, each with its own job', async () => {
  const payloads = ['{"id":9007199254740993,"neg0":-0.0}', '"],}\\"payload\\":1"', '[ 1.0 , {"a":1,"a":2} ]', '-0'];
  await client.post(
    '/jobs/bulk',
    ` { "jobs" : [1], "jobs" : [ ${payloads.map((payload, i) => `${jobText({ jobId: `j${i}` }).slice(0, -1)} , "payload" : ${payload} }`).join(' , ')} ] } `,
  );
  for (const [i, payload] of payloads.entries()) {
    expect((await client.send(`/jobs/j${i}`)).text).toContain(`"payload":${payload},"tags"`);
  }
});

test('a thousand jobs are created, run once each, and are sent in batches', async () => {
  const sends: number[] = [];
  const { activations, code } = client.ports;
  const send = activations.send.bind(activations);
  activations.send = (messages: readonly OutgoingMessage[]) => (sends.push(messages.length), send(messages));
  let mapped = 0;
  const put = code.put.bind(code);
  code.put = (one) => ((mapped += 1), put(one));
  client.world.code['job-report'] = () => 'done';

  const { json } = await bulk(Array.from({ length: LIMITS.bulkJobs }, (_, i) => jobText({ jobId: `j${i}` })));
  expect(json).toMatchObject({ created: 1_000, failed: 0 });
  expect(sends).toEqual(Array(10).fill(100));
  expect(mapped).toBe(1);
  for (;;) {
    const messages = await client.ports.activations.receive(10);
    if (messages.length === 0) break;
    await client.world.untilOver(runActivations(messages, client.ports));
    await client.ports.activations.remove(messages.map(({ receipt }) => receipt));
  }
  const ran = client.world.calls.map(({ event }) => event['jobId'] as string);
  expect(ran).toHaveLength(1_000);
  expect(new Set(ran).size).toBe(1_000);
});

test('no jobs are created at once', async () => {
  const { status, json } = await bulk([]);
  expect([status, json]).toEqual([200, { created: 0, failed: 0, results: [] }]);
});

describe('an idempotency key', () => {
  test('makes a repeat harmless, and it is answered the same', async () => {
    const jobs = [jobText(), jobText(), jobText({ unique: { key: 'u' } })];
    const first = await bulk(jobs, key);
    const second = await bulk(jobs, key);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(await idsThere()).toHaveLength(3);
  });

  test('is refused for other jobs', async () => {
    await bulk([jobText({ jobId: 'a' })], key);
    const { status, json } = await bulk([jobText({ jobId: 'b' })], key);
    expect([status, json.errors.map(({ field }) => field)]).toEqual([422, ['Idempotency-Key']]);
    expect(await idsThere()).toEqual(['a']);
  });

  test('lets what was refused come again corrected, and creates the others no second time', async () => {
    const first = await bulk([jobText(), jobText({ name: '' })], key);
    expect(first.json).toMatchObject({ created: 1, failed: 1 });
    const second = await bulk([jobText(), jobText({ name: 'x' })], key);
    expect(second.json).toMatchObject({ created: 2, failed: 0 });
    expect(resultsOf(second.json)[0]).toEqual(resultsOf(first.json)[0]);
    expect(await idsThere()).toHaveLength(2);
  });

  test('of a request that failed in part keeps each job that was created as it was', async () => {
    await bulk([jobText({ name: 'a' }), jobText({ name: '' })], key);
    const { json } = await bulk([jobText({ name: 'b' }), jobText()], key);
    expect(resultsOf(json).map(({ status }) => status)).toEqual([409, 201]);
  });
});

test('a fault of the store is told for the jobs that it hit, and the others are created', async () => {
  const { jobs } = client.ports;
  const put = jobs.put.bind(jobs);
  jobs.put = (job, replaces) => (job.jobId === 'b' ? Promise.reject(new Error('down')) : put(job, replaces));
  const request = ['a', 'b', 'c'].map((jobId) => jobText({ jobId }));
  const { status, json } = await bulk(request, key);
  expect([status, json['created'], json['failed']]).toEqual([200, 2, 1]);
  expect(resultsOf(json)[1]).toEqual({
    index: 1,
    status: 500,
    errors: [{ field: 'body', message: containing('sent again with the same Idempotency-Key') }],
  });
  expect(client.world.notes).toContainEqual(expect.objectContaining({ what: 'request-failed' }));
  jobs.put = put;
  expect((await bulk(request, key)).json).toMatchObject({ created: 3, failed: 0 });
});

const WHOLE: [string, string, string][] = [
  ['[]', 'body', 'must be an object { "jobs"'],
  ['{}', 'jobs', 'is missing; it must be a list of at most 1000 jobs'],
  ['{"jobs":{}}', 'jobs', 'got {}'],
  [`{"jobs":[${Array(1_001).fill('1').join()}]}`, 'jobs', 'must be a list of at most 1000 jobs'],
  ['{"jobs":[],"then":1}', 'then', 'unknown field'],
];
test.each(WHOLE.map(([body, field, says]) => ({ body, field, says })))(
  'a request is refused as a whole: $field $says',
  async ({ body, field, says }) => {
    const { status, json } = await client.post('/jobs/bulk', body);
    expect([status, json.errors]).toEqual([400, [{ field, message: containing(says) }]]);
  },
);

test('a request may have 4 MiB, and not a byte more', async () => {
  const large = jobText({ payload: 'x'.repeat(200_000) });
  const text = `{"jobs":[${Array(20).fill(large).join()}]}`;
  const most = text + ' '.repeat(LIMITS.manyJobsBodyBytes - Buffer.byteLength(text));
  expect((await client.post('/jobs/bulk', most)).json).toMatchObject({ created: 20 });
  const { status, json } = await client.post('/jobs/bulk', `${most} `);
  expect([status, json.errors]).toEqual([413, [{ field: 'body', message: 'must be at most 4194304 bytes' }]]);
});

test('a job may be called "bulk"', async () => {
  await client.post('/jobs', jobText({ jobId: 'bulk' }));
  expect((await client.send('/jobs/bulk')).json.jobId).toBe('bulk');
  expect((await client.patch('/jobs/bulk', '{"name":"x"}')).status).toBe(200);
  expect((await client.delete('/jobs/bulk')).status).toBe(204);
});
