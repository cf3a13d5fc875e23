import { answerCommand } from '../../src/operations/answer-command';
import { jobText } from '../messages/wrong-jobs';
import { containing } from '../support/matchers';
import { Client } from './client';

let client: Client;
beforeEach(async () => (client = await Client.open()));
afterEach(() => client.close());

const RICH = {
  schedule: 'cron(0 9 * * ? *)',
  timezone: 'Europe/London',
  dst: { gap: 'run-after', overlap: 'both' },
  start: '2027-06-01T09:00:00.000Z',
  end: '2199-12-31T23:59:59.999Z',
  maxRuns: 1_000_000,
  overlap: 'queue-one',
  jitterSeconds: 0,
};

test('a recurring job shows what it was given: clocks, start, end, maximum, overlap and jitter', async () => {
  const { status, json } = await client.post('/jobs', jobText({ jobId: 'a', ...RICH }));
  expect([status, json]).toEqual([201, expect.objectContaining({ ...RICH, nextRunAt: '2027-06-02T08:00:00.000Z' })]);
  expect((await client.send('/jobs/a')).json).toEqual(json);
  expect((await client.send('/jobs')).json.items).toEqual([{ ...json, payload: undefined }]);
});

test('the same fields come through the queue, and make the same job', async () => {
  const key = { 'idempotency-key': 'k' };
  await client.post('/jobs', jobText(RICH), { ...key, prefer: 'respond-async' });
  const [message] = await client.ports.commands['job-create'].receive(1);
  await answerCommand('job-create', message!, client.ports);
  const [queued] = (await client.send('/jobs')).json.items;
  expect(queued).toMatchObject(RICH);
  const repeated = await client.post('/jobs', jobText(RICH), key);
  expect([repeated.status, repeated.json.jobId]).toEqual([201, queued!.jobId]);
});

const QUEUED = {
  priority: 'high',
  unique: { key: 'invoice-9', forSeconds: 60, until: 'start' },
  concurrency: { key: 'shop', limit: 100 },
  rateLimit: { key: '📦'.repeat(128), limit: 1_000, perSeconds: 86_400 },
  completion: 'callback',
  heartbeatSeconds: 31_622_400,
  retry: {
    maxAttempts: 3,
    backoff: { kind: 'fixed', seconds: 1 },
    jitter: 'none',
    retryUntil: '2027-06-01T09:00:00.000Z',
  },
};

test('a job shows what it was given of the queue: priority, keys, completion and the end of its retries', async () => {
  const { status, json } = await client.post('/jobs', jobText({ jobId: 'a', ...QUEUED }));
  expect([status, json]).toEqual([201, expect.objectContaining(QUEUED)]);
  expect((await client.send('/jobs/a')).json).toEqual(json);
  const row = (await client.ports.jobs.read('a'))!;
  expect(row.retry.retryUntil).toBe(Date.UTC(2027, 5, 1, 9));
});

test('the fields of the queue come through the queue, and make the same job', async () => {
  const key = { 'idempotency-key': 'k' };
  await client.post('/jobs', jobText(QUEUED), { ...key, prefer: 'respond-async' });
  const [message] = await client.ports.commands['job-create'].receive(1);
  await answerCommand('job-create', message!, client.ports);
  const [queued] = (await client.send('/jobs')).json.items;
  expect(queued).toMatchObject(QUEUED);
  const repeated = await client.post('/jobs', jobText(QUEUED), key);
  expect([repeated.status, repeated.json.jobId]).toEqual([201, queued!.jobId]);
});

test('what a unique key leaves open has its default', async () => {
  const { json } = await client.post('/jobs', jobText({ unique: { key: 'a' } }));
  expect(json['unique']).toEqual({ key: 'a', forSeconds: 3_600, until: 'done' });
});

test('a unique key that is held is a conflict that names its holder', async () => {
  await client.post('/jobs', jobText({ jobId: 'a', unique: { key: 'k' } }));
  const { status, json } = await client.post('/jobs', jobText({ unique: { key: 'k' } }));
  expect([status, json.errors]).toEqual([409, [{ field: 'unique.key', message: containing('a') }]]);
});

test.each([
  ['with an offset', '2027-06-01T10:00:00+01:00', '2027-06-01T09:00:00.000Z'],
  ['without seconds', '2027-06-01T09:00Z', '2027-06-01T09:00:00.000Z'],
  ['in small letters, with a fraction that a rate leaves out', '2027-06-01t09:00:00.25z', '2027-06-01T09:00:00.000Z'],
  ['that is past', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['on a leap day', '2028-02-29T09:00:00Z', '2028-02-29T09:00:00.000Z'],
])('a start %s is understood', async (_, start, shown) => {
  const { json } = await client.post('/jobs', jobText({ schedule: 'rate(1 hour)', start }));
  expect(json).toMatchObject({ start: shown });
});

test('the start of a rate is its first run', async () => {
  const start = '2027-06-01T09:00:30.000Z';
  const { json } = await client.post('/jobs', jobText({ schedule: 'rate(1 hour)', start }));
  expect(json).toMatchObject({ start, nextRunAt: start });
});

test.each([['rate(1 hour)'], ['at(2027-07-01T09:00:00)']])('%s may have a jitter', async (schedule) => {
  const plain = await client.post('/jobs', jobText({ jobId: 'plain', schedule }));
  const { json } = await client.post('/jobs', jobText({ jobId: 'jittered', schedule, jitterSeconds: 3_600 }));
  expect(json).toMatchObject({ jitterSeconds: 3_600 });
  const lateMs = Date.parse(String(json['nextRunAt'])) - Date.parse(String(plain.json['nextRunAt']));
  expect(lateMs).toBeGreaterThan(0);
  expect(lateMs).toBeLessThan(3_600_000);
});

test('a local time that the clocks show twice is taken at its first, and the job says so', async () => {
  const schedule = 'at(2027-10-31T01:30:00)';
  const { json } = await client.post('/jobs', jobText({ jobId: 'a', schedule, timezone: 'Europe/London' }));
  expect(json).toMatchObject({
    nextRunAt: '2027-10-31T00:30:00.000Z',
    notes: ['The clocks of Europe/London show this local time twice: the first is taken, 2027-10-31T01:30:00+01:00.'],
  });
  expect((await client.send('/jobs/a')).json['notes']).toEqual(json['notes']);
  const plain = await client.post('/jobs', jobText({ schedule: 'at(2027-10-31T02:30:00)', timezone: 'Europe/London' }));
  expect(plain.json).not.toHaveProperty('notes');
});

test('everything that is wrong about a schedule is told at once', async () => {
  const body = jobText({ delaySeconds: 5, timezone: 'UTC', dst: {}, start: 'x', end: 7, maxRuns: 0, overlap: 'x' });
  const { status, json } = await client.post('/jobs', body);
  expect(status).toBe(400);
  expect(json.errors.map(({ field }) => field).sort()).toEqual([
    'dst',
    'end',
    'maxRuns',
    'overlap',
    'start',
    'timezone',
  ]);
});
