import { LIMITS } from '../../src/domain/limits';
import { readBatch } from '../../src/messages/group-request';
import { jobText, WRONG_JOBS } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { containing } from '../support/matchers';
import { Client } from './client';

let client: Client;
beforeAll(async () => (client = await Client.open()));
afterAll(() => client.close());

/** Whatever is refused, nothing is there afterwards. */
afterEach(async () => {
  for (const path of ['/jobs', '/chains', '/batches']) expect((await client.send(path)).json).toEqual({ items: [] });
  expect(await client.ports.activations.receive(1)).toEqual([]);
});

const target = { functionArn: functionArn('job-report') };
const job = (changes: object = {}) => ({ target, ...changes });
const WHERE_NO_TURN_COMES = [
  'schedule',
  'timezone',
  'dst',
  'start',
  'end',
  'maxRuns',
  'overlap',
  'jitterSeconds',
  'misfire',
];

/** Rules of any job that a job of a chain or batch has too. */
const wrongMembers = WRONG_JOBS.filter(([, body, field]) => {
  const value: unknown = JSON.parse(body);
  const fields = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return !WHERE_NO_TURN_COMES.some((one) => fields.includes(one) || field.startsWith(one)) && field !== 'startAt';
});
const saysOfMembers = (says: string) => (says.startsWith('did you mean schedule') ? 'unknown field' : says);

test('most rules of a job are rules of a job of a chain or batch', () => {
  expect(wrongMembers.length).toBeGreaterThan(80);
});

describe.each([
  ['/chains', (member: string) => `{"jobs":[${jobText()},${member}]}`, 'jobs[1]'],
  ['/batches', (member: string) => `{"jobs":[${jobText()},${member}]}`, 'jobs[1]'],
  ['/batches', (member: string) => `{"jobs":[${jobText()},[${jobText()},${jobText()},${member}]]}`, 'jobs[1][2]'],
])('POST %s is refused with the field of the job named', (path, bodyOf, at) => {
  // A list is a chain where one may stand.
  const members = wrongMembers.filter(([, body]) => body !== '[]' || at !== 'jobs[1]' || path === '/chains');
  test.each(members)('%s', async (_, member, field, says) => {
    const { status, json } = await client.post(path, bodyOf(member));
    const named = field === 'body' ? at : `${at}.${field}`;
    expect([status, json.errors]).toEqual([400, [{ field: named, message: containing(saysOfMembers(says)) }]]);
  });

  test.each(WHERE_NO_TURN_COMES)('a job has no %s of its own', async (field) => {
    for (const value of ['x', null, 5, {}]) {
      const { status, json } = await client.post(path, bodyOf(jobText({ [field]: value })));
      const message = containing('runs when its turn comes; use delaySeconds');
      expect([status, json.errors]).toEqual([400, [{ field: `${at}.${field}`, message }]]);
    }
  });

  test('a payload too large', async () => {
    const { status, json } = await client.post(path, bodyOf(jobText({ payload: 'x'.repeat(LIMITS.payloadBytes) })));
    expect([status, json.errors.map(({ field }) => field)]).toEqual([413, [`${at}.payload`]]);
  });

  test('an id twice', async () => {
    const { status, json } = await client.post(
      path,
      bodyOf(jobText()).replaceAll('{"target"', '{"jobId":"a","target"'),
    );
    const message = 'must differ from jobs[0].jobId; got "a" again';
    expect(status).toBe(400);
    expect(json.errors).toContainEqual({ field: `${at}.jobId`, message });
  });
});

const many = (count: number) => `[${Array(count).fill(jobText()).join()}]`;

const WHOLE: [string, string | object, string, string][] = [
  ['/chains', [], 'body', 'must be an object { "jobs"'],
  ['/chains', 'null', 'body', 'got null'],
  ['/chains', {}, 'jobs', 'is missing; it must be a list of 1 to 100 jobs'],
  ['/chains', { jobs: [] }, 'jobs', 'must be a list of 1 to 100 jobs, one after another; got []'],
  ['/chains', { jobs: job() }, 'jobs', 'must be a list'],
  ['/chains', `{"jobs":${many(101)}}`, 'jobs', 'must be a list of 1 to 100 jobs'],
  ['/chains', { jobs: [[job(), job()]] }, 'jobs[0]', 'must be an object with at least a target'],
  ['/chains', { jobs: [job()], name: '' }, 'name', 'must be text of 1 to 256'],
  ['/chains', { jobs: [job()], catch: functionArn('job-report') }, 'catch', 'must be an object { "functionArn"'],
  ['/chains', { jobs: [job()], catch: {} }, 'catch.functionArn', 'is missing'],
  ['/chains', { jobs: [job()], catch: { functionArn: functionArn('forbidden') } }, 'catch.functionArn', 'may call'],
  ['/chains', { jobs: [job()], then: target }, 'then', 'unknown field; the known ones are name, jobs, catch'],
  [
    '/chains',
    { jobs: [job(), { target: { functionArn: functionArn('forbidden') } }] },
    'jobs[1].target.functionArn',
    'may call',
  ],
  ['/batches', [], 'body', 'must be an object { "jobs"'],
  ['/batches', {}, 'jobs', 'is missing; it must be a list of 0 to 10000 jobs, or lists'],
  ['/batches', { jobs: 'all' }, 'jobs', 'got "all"'],
  ['/batches', { jobs: [job(), []] }, 'jobs[1]', 'must be a job, or a list of 1 to 100 of them; got a list of 0'],
  ['/batches', `{"jobs":[${many(101)}]}`, 'jobs[0]', 'got a list of 101'],
  ['/batches', { jobs: [[[job()]]] }, 'jobs[0][0]', 'must be an object with at least a target'],
  ['/batches', `{"jobs":[${Array(10_001).fill('1').join()}]}`, 'jobs', 'must be a list of 0 to 10000 jobs'],
  ['/batches', { jobs: [], allowFailures: 'yes' }, 'allowFailures', 'must be true or false; got "yes"'],
  ['/batches', { jobs: [], then: null }, 'then', 'got null'],
  ['/batches', { jobs: [], progress: { functionArn: functionArn('forbidden') } }, 'progress.functionArn', 'may call'],
  ['/batches', { jobs: [], final: target }, 'final', 'did you mean finally?'],
  [
    '/batches',
    { jobs: [job(), [job(), { target: { functionArn: functionArn('forbidden') } }]] },
    'jobs[1][1].target.functionArn',
    'may call',
  ],
  ['/chains', '{"jobs":', 'body', 'is not JSON'],
  ['/batches', '', 'body', 'is empty'],
  ['/batches', `{"jobs":[{"payload":${'['.repeat(499)}${']'.repeat(499)}}]}`, 'body', 'at most 500 deep'],
];
test.each(WHOLE.map(([path, body, field, says]) => ({ path, body, field, says })))(
  'POST $path is refused as a whole: $field $says',
  async ({ path, body, field, says }) => {
    const { status, json } = await client.post(path, typeof body === 'string' ? body : JSON.stringify(body));
    expect([status, json.errors]).toEqual([400, [{ field, message: containing(says) }]]);
  },
);

test('a batch has at most 10,000 jobs, those of its chains counted', async () => {
  const { status, json } = await client.post(
    '/batches',
    `{"jobs":[${Array(101)
      .fill(`[${Array(100).fill('1').join()}]`)
      .join()}]}`,
  );
  expect(status).toBe(400);
  // What is wrong with each job is told first, and the rest not looked at.
  expect(json.errors.at(-1)).toEqual({ field: 'body', message: 'has more wrong fields than these' });
  const text = `{"jobs":[${Array(101).fill(many(100)).join()}]}`;
  expect(() => readBatch(text, JSON.parse(text))).toThrow('jobs: must hold at most 10000 jobs in all; got 10100');
});

test('everything that is wrong at once, an entry each, up to fifty', async () => {
  const jobs = [job({ name: 7 }), [job({ tags: 1 }), job({ schedule: 'x', payload: 'x'.repeat(LIMITS.payloadBytes) })]];
  const { status, json } = await client.post('/batches', JSON.stringify({ nam: 1, jobs, then: 1 }));
  expect(status).toBe(413);
  expect(json.errors.map(({ field }) => field).sort()).toEqual([
    'jobs[0].name',
    'jobs[1][0].tags',
    'jobs[1][1].payload',
    'jobs[1][1].schedule',
    'nam',
    'then',
  ]);
  const all = await client.post('/batches', `{"jobs":[${Array(10_000).fill('{}').join()}]}`);
  expect(all.json.errors).toHaveLength(51);
  expect(all.json.errors[50]).toEqual({ field: 'body', message: 'has more wrong fields than these' });
});

describe.each(['/chains', '/batches'])('%s', (path) => {
  test('takes 4 MiB, and not a byte more', async () => {
    const body = ' '.repeat(LIMITS.manyJobsBodyBytes);
    expect((await client.post(path, body)).json.errors).toEqual([{ field: 'body', message: 'is empty' }]);
    const { status, json } = await client.post(path, `${body} `);
    expect([status, json.errors]).toEqual([413, [{ field: 'body', message: 'must be at most 4194304 bytes' }]]);
  });

  test.each(['limit=0', 'limit=101', 'cursor=nonsense', 'tag=a'])('is not listed by ?%s', async (query) => {
    const { status, json } = await client.send(`${path}?${query}`);
    expect([status, json.errors.map(({ field }) => field)]).toEqual([400, [query.split('=')[0]]]);
  });

  test.each([
    ['PUT', '', 'GET, HEAD, POST'],
    ['DELETE', '/x', 'GET, HEAD'],
    ['GET', '/x/cancel', 'POST'],
    ['GET', '/x/retry', 'POST'],
  ])('%s %s is told which methods there are', async (method, rest, allow) => {
    const answer = await client.send(`${path}${rest}`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  test.each(['cancel', 'retry'])('to %s it takes no words', async (action) => {
    const { status, json } = await client.post(`${path}/x/${action}`, '{"reason":"x"}');
    expect([status, json.errors]).toEqual([400, [{ field: 'reason', message: 'unknown field; leave it out' }]]);
  });
});

test.each([
  ['{}', 'jobs', 'is missing; it must be a list of 1 to 10000'],
  ['{"jobs":[]}', 'jobs', 'got []'],
  ['{"jobs":[{}]}', 'jobs[0].target', 'is missing'],
  ['{"jobs":[],"then":{}}', 'then', 'unknown field; the known ones are jobs'],
])('a batch is not added to by %s', async (body, field, says) => {
  const { status, json } = await client.post('/batches/x/jobs', body);
  expect(status).toBe(400);
  expect(json.errors).toContainEqual({ field, message: containing(says) });
});

test('an idempotency key that is none is refused on every POST', async () => {
  for (const path of ['/chains', '/batches', '/batches/x/jobs', '/chains/x/retry', '/batches/x/cancel', '/jobs/bulk']) {
    const { status, json } = await client.post(path, '{}', { 'idempotency-key': 'clé' });
    expect([status, json.errors.map(({ field }) => field)]).toEqual([400, ['Idempotency-Key']]);
  }
  for (const path of ['/jobs/x/pause', '/jobs/x/runs/y/cancel', '/failed/retry', '/failed/x/y/retry']) {
    expect((await client.post(path, '', { 'idempotency-key': '' })).status).toBe(400);
  }
});
