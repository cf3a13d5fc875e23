import { functionArn } from '../support/builders';
import { deploy } from '../support/deployment';
import { httpEvent } from './recorded-events';

let deployed: Awaited<ReturnType<typeof deploy>>;
let call: (request: Parameters<typeof httpEvent>[0]) => Promise<Answer>;

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: boolean;
}

beforeAll(async () => {
  deployed = await deploy();
  const handler = deployed.load<unknown, Answer>('api');
  call = (request) => handler(httpEvent(request));
});
afterAll(() => deployed.close());

const JSON_TYPE = { 'content-type': 'application/json' };

/** As text, so that every digit of the payload is the test's own. */
const jobText = (jobId: string, payload = 'null', name = 'job-report') =>
  `{"jobId":"${jobId}","target":{"functionArn":"${functionArn(name)}"},"schedule":"rate(1 hour)","payload":${payload}}`;

const post = (body: string, isBase64Encoded = false, headers: Record<string, string> = {}) =>
  call({ method: 'POST', path: '/jobs', headers: { ...JSON_TYPE, ...headers }, body, isBase64Encoded });

const send = (method: string, path: string, body: string, headers: Record<string, string> = {}) =>
  call({ method, path, headers: { ...JSON_TYPE, ...headers }, body });

test('health answers', async () => {
  expect(await call({ path: '/health' })).toMatchObject({ statusCode: 200, isBase64Encoded: false });
});

test('a job is created, found again and listed', async () => {
  const created = await post(jobText('plain'));
  expect(created).toMatchObject({ statusCode: 201, headers: { location: '/jobs/plain' } });
  expect(await call({ path: '/jobs/plain' })).toMatchObject({ statusCode: 200 });
  const list = await call({ path: '/jobs', query: 'limit=100' });
  expect((JSON.parse(list.body) as { items: { jobId: string }[] }).items.map(({ jobId }) => jobId)).toContain('plain');
});

test('a body that API Gateway encoded as base64 is what it was, to the last digit and character', async () => {
  const payload = '{"id":12345678901234567890,"zero":-0,"text":"Grüße 🕰"}';
  const created = await post(Buffer.from(jobText('encoded', payload)).toString('base64'), true);
  expect(created.statusCode).toBe(201);
  expect((await deployed.jobs.read('encoded'))?.payload).toBe(payload);
  const read = await call({ path: '/jobs/encoded' });
  const body = read.isBase64Encoded ? Buffer.from(read.body, 'base64').toString('utf8') : read.body;
  expect(body).toContain(`"payload":${payload}`);
});

test('a request that is repeated with its key gets the same job', async () => {
  const headers = { 'idempotency-key': 'key-1' };
  const body = jobText('unused').replace('"jobId":"unused",', '');
  const [first, again] = [await post(body, false, headers), await post(body, false, headers)];
  expect(first.statusCode).toBe(201);
  expect(again.headers['location']).toBe(first.headers['location']);
});

test.each([
  ['a body that is no JSON', '{"jobId":', false],
  ['base64 of no JSON', Buffer.from('{"jobId":').toString('base64'), true],
  ['a body that is empty', '', false],
  ['a body of the wrong form', '[]', false],
])('%s is answered with 400 and a problem', async (_, body, isBase64Encoded) => {
  const answer = await post(body, isBase64Encoded);
  expect(answer).toMatchObject({ statusCode: 400, headers: { 'content-type': 'application/problem+json' } });
});

test('a function outside the allow-list is refused', async () => {
  const answer = await post(jobText('foreign', 'null', 'payroll'));
  expect(answer.statusCode).toBe(400);
  expect(answer.body).toContain('not one that this deployment may call');
  expect(await deployed.jobs.read('foreign')).toBeUndefined();
});

test('a payload above its limit is answered with 413', async () => {
  expect(await post(jobText('large', `"${'x'.repeat(256 * 1024)}"`))).toMatchObject({ statusCode: 413 });
});

test('who prefers not to wait is answered with 202, and the command is on its way', async () => {
  const answer = await post(jobText('later'), false, { prefer: 'respond-async' });
  expect(answer.statusCode).toBe(202);
  expect(await deployed.bodiesIn('JOB_CREATE')).toEqual([
    expect.objectContaining({ version: 1, job: expect.objectContaining({ jobId: 'later' }) as object }),
  ]);
  expect(await deployed.jobs.read('later')).toBeUndefined();
});

test('a path that leads nowhere, a job that is not there and the local queues are answered with 404', async () => {
  for (const path of ['/nowhere', '/jobs/nowhere', '/queues/job-created']) {
    expect(await call({ path })).toMatchObject({ statusCode: 404 });
  }
});

test('a job is paused with a reason, and goes on', async () => {
  await post(jobText('restful'));
  const paused = await send('POST', '/jobs/restful/pause', '{"reason":"the database moves","by":"ops"}');
  expect(paused.statusCode).toBe(200);
  expect(JSON.parse(paused.body)).toMatchObject({
    state: 'PAUSED',
    pause: { reason: 'the database moves', by: 'ops' },
  });
  const resumed = await call({ method: 'POST', path: '/jobs/restful/resume' });
  expect(resumed.statusCode).toBe(200);
  expect(JSON.parse(resumed.body)).toMatchObject({ state: 'ACTIVE' });
});

test('a job is triggered once for one key, and the run has a place', async () => {
  await post(jobText('urgent'));
  const trigger = () =>
    call({ method: 'POST', path: '/jobs/urgent/trigger', headers: { 'idempotency-key': 'trigger-1' } });
  const [first, again] = [await trigger(), await trigger()];
  const { runId } = JSON.parse(first.body) as { runId: string };
  expect(first).toMatchObject({ statusCode: 202, headers: { location: `/jobs/urgent/runs/${runId}` } });
  expect(again.body).toBe(first.body);
  const sent = (await deployed.bodiesIn('JOB_ACTIVATION')) as { jobId: string; origin: string; nominalAt: number }[];
  const instants = sent.flatMap(({ jobId, origin, nominalAt }) =>
    jobId === 'urgent' && origin === 'manual' ? [nominalAt] : [],
  );
  expect(instants).toHaveLength(2);
  expect(new Set(instants).size).toBe(1);
});

test('a past range is filled in', async () => {
  await post(jobText('historical').replace('rate(1 hour)', 'cron(0 * * * ? *)'));
  const range = '{"from":"2026-03-01T00:00:00Z","to":"2026-03-01T05:00:00Z"}';
  const answer = await send('POST', '/jobs/historical/backfill', range);
  expect(answer.statusCode).toBe(202);
  expect(JSON.parse(answer.body)).toMatchObject({ count: 6 });
  const sent = (await deployed.bodiesIn('JOB_ACTIVATION')) as { jobId: string; origin: string }[];
  expect(sent.filter(({ jobId, origin }) => jobId === 'historical' && origin === 'backfill')).toHaveLength(6);
});

test('of two editors who saw the same version, one is refused; the payload is what it was, to the last digit', async () => {
  const payload = `{"id":12345678901234567890,"zero":-0,"text":"${'Grüße 🕰'.repeat(100)}"}`;
  const created = await post(jobText('edited', '"old"'));
  const headers = { 'if-match': created.headers['etag']! };
  const edited = await send('PATCH', '/jobs/edited', `{"payload":${payload}}`, headers);
  expect(edited.statusCode).toBe(200);
  expect(edited.headers['etag']).not.toBe(created.headers['etag']);
  expect(await send('PATCH', '/jobs/edited', '{"payload":"other"}', headers)).toMatchObject({ statusCode: 412 });
  expect((await deployed.jobs.read('edited'))?.payload).toBe(payload);
  expect((await call({ path: '/jobs/edited' })).headers['etag']).toBe(edited.headers['etag']);
});

test('a job is deleted, and then is not there', async () => {
  await post(jobText('short-lived'));
  expect(await call({ method: 'DELETE', path: '/jobs/short-lived' })).toMatchObject({ statusCode: 204 });
  expect(await call({ path: '/jobs/short-lived' })).toMatchObject({ statusCode: 404 });
});
