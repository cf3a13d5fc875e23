import { LIMITS } from '../../src/domain/limits';
import { jobText, WRONG_JOBS } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { Client } from './client';
import { containing } from '../support/matchers';

let client: Client;
beforeAll(async () => {
  client = await Client.open();
  await client.post('/jobs', jobText({ jobId: 'standing' }));
});
afterAll(() => client.close());

const listed = async () => (await client.send('/jobs')).json.items.map(({ jobId }) => jobId);

describe('a job is refused with the field named and nothing created:', () => {
  test.each(WRONG_JOBS)('%s', async (_, body, field, says) => {
    const answer = await client.post('/jobs', body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json).toMatchObject({ type: 'urn:escapement:problem:invalid-request', status: 400 });
    expect(answer.json.errors).toEqual([{ field, message: containing(says) }]);
    expect(await listed()).toEqual(['standing']);
  });

  test.each(WRONG_JOBS)('%s, before anything is put on a queue', async (_, body) => {
    const answer = await client.post('/jobs', body, { prefer: 'respond-async' });
    expect(answer.status).toBe(400);
    expect(await client.ports.commands['job-create'].receive(1)).toEqual([]);
  });

  test('everything that is wrong at once, an entry each', async () => {
    const body = {
      nam: 'x',
      jobId: 'a b',
      tags: ['a', 'a', ''],
      schedule: 'rate(x)',
      delaySeconds: -1,
      timezone: 'PST',
      retry: { maxAttempts: 0, backoff: { kind: 'list', seconds: ['x', 1, null] } },
      payload: 'x'.repeat(LIMITS.payloadBytes),
    };
    const { status, json } = await client.post('/jobs', JSON.stringify(body));
    expect(status).toBe(413);
    expect(json.detail).toBe(`${json.errors.length} fields are wrong; nothing was changed.`);
    expect(json.errors.map(({ field }) => field).sort()).toEqual([
      'delaySeconds',
      'jobId',
      'nam',
      'payload',
      'retry.backoff.seconds[0]',
      'retry.backoff.seconds[2]',
      'retry.maxAttempts',
      'schedule',
      'tags[1]',
      'tags[2]',
      'target',
      'timezone',
    ]);
  });
});

const NOTIFICATION = { state: 'DONE', target: { functionArn: functionArn('notify-me') } };

describe('a notification is refused with the field named:', () => {
  test.each([
    ['no state', { target: NOTIFICATION.target }, 'state', 'is missing; it must be one of SCHEDULED, STARTED'],
    ['an unknown state', { ...NOTIFICATION, state: 'SUCCEEDED' }, 'state', 'got "SUCCEEDED"'],
    ['a state in lower case', { ...NOTIFICATION, state: 'done' }, 'state', 'CANCELLED; got "done"'],
    ['no target', { state: 'DONE' }, 'target', 'is missing'],
    ['a wrong ARN', { ...NOTIFICATION, target: { functionArn: 'x' } }, 'target.functionArn', 'got "x"'],
    ['a misspelt field', { ...NOTIFICATION, sate: 1 }, 'sate', 'did you mean state?'],
    [
      'a function that may not be called',
      { ...NOTIFICATION, target: { functionArn: functionArn('forbidden') } },
      'target.functionArn',
      'function "forbidden" is not one that this deployment may call',
    ],
    ['a list', [], 'body', 'must be an object { "state": "DONE"'],
  ])('%s', async (_, body, field, says) => {
    const answer = await client.post('/jobs/standing/notifications', JSON.stringify(body));
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ field, message: containing(says) }]);
    expect((await client.send('/jobs/standing/notifications')).json).toEqual({ items: [] });
  });
});

describe('a query is refused with the parameter named:', () => {
  test.each([
    ['/jobs?limit=0', 'limit', 'must be a whole number from 1 to 100; got "0"'],
    ['/jobs?limit=101', 'limit', 'got "101"'],
    ['/jobs?limit=1.5', 'limit', 'got "1.5"'],
    ['/jobs?limit=1e1', 'limit', 'got "1e1"'],
    ['/jobs?limit=', 'limit', 'got ""'],
    ['/jobs?limits=5', 'limits', 'did you mean limit?'],
    ['/jobs?tag=', 'tag', 'must be text of 1 to 64'],
    ['/jobs?tag=a,b', 'tag', 'without commas'],
    ['/jobs?cursor=nonsense', 'cursor', 'not one that this list gave out'],
    ['/jobs?cursor=', 'cursor', 'not one that this list gave out'],
    ['/jobs/standing/runs?cursor=bm9uc2Vuc2U', 'cursor', 'leave it out to begin again'],
    ['/jobs/standing/runs?limit=-1', 'limit', 'got "-1"'],
    ['/jobs/standing/runs?tag=a', 'tag', 'unknown field'],
    ['/queues/job-created?max=11', 'max', 'from 1 to 10'],
  ])('%s', async (path, field, says) => {
    const answer = await client.send(path);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ field, message: containing(says) }]);
  });
});

describe('a body is refused', () => {
  test.each([
    ['that is empty', '', 'is empty'],
    ['of blanks', ' \n ', 'is empty'],
    ['that is no JSON', '{\n  "name": nightly\n}', 'is not JSON: line 2, column 11 has "n" where a value must stand'],
    ['that is cut off', '{"name":"nightly', 'column 9 has'],
    ['that nests 501 deep', jobText().replace('{', `{"payload":${'['.repeat(500)}${']'.repeat(500)},`), 'at most 500'],
    ['that nests 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000), 'at most 500 deep; got 100000'],
    ['that never stops nesting', '['.repeat(100_000), 'is not JSON: line 1, column 100001 has the end'],
  ])('%s', async (_, body, says) => {
    for (const path of ['/jobs', '/jobs/standing/notifications']) {
      const answer = await client.post(path, body);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([{ field: 'body', message: containing(says) }]);
    }
  });

  test('that is not UTF-8', async () => {
    const body = new Uint8Array([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]);
    const answer = await client.send('/jobs', { method: 'POST', body });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ field: 'body', message: 'must be UTF-8' }]);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense'])(
    'of the type %s',
    async (type) => {
      const answer = await client.post('/jobs', jobText(), { 'content-type': type });
      expect(answer.status).toBe(415);
      expect(answer.json.detail).toContain('set the header Content-Type to application/json');
    },
  );

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/cloudevents+json',
  ])('but not of the type %s', async (type) => {
    const answer = await client.post('/jobs', '{}', { 'content-type': type });
    expect(answer.json.errors).toEqual([{ field: 'target', message: containing('is missing') }]);
  });

  test('but not for a type left out, or a byte order mark', async () => {
    const body = new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from('{}')]);
    const answer = await client.send('/jobs', { method: 'POST', body });
    expect(answer.json.errors).toEqual([{ field: 'target', message: containing('is missing') }]);
  });

  test('above 1 MiB, whether its length is declared or not', async () => {
    const body = ' '.repeat(LIMITS.bodyBytes + 1);
    for (const headers of [{}, { 'content-length': String(body.length) }]) {
      const answer = await client.post('/jobs', body, headers);
      expect(answer.status).toBe(413);
      expect(answer.json.errors).toEqual([{ field: 'body', message: 'must be at most 1048576 bytes' }]);
    }
  });
});

describe('an idempotency key is refused', () => {
  test.each([
    ['that is empty', ''],
    ['of 129 characters', 'k'.repeat(129)],
    ['that is not ASCII', 'clé'],
    ['with a tab', 'a\tb'],
  ])('%s', async (_, key) => {
    const answer = await client.post('/jobs', jobText(), { 'idempotency-key': key });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { field: 'Idempotency-Key', message: containing('1 to 128 printable ASCII characters; got') },
    ]);
  });
});

describe('nothing is found', () => {
  const long = 'x'.repeat(4_000);
  test.each([
    ['GET', '/', 'There is nothing at /.'],
    ['GET', '/jobs/', 'There is nothing at /jobs/.'],
    ['POST', '/job', 'There is nothing at /job.'],
    ['GET', '/jobs/absent', 'there is no job "absent"'],
    ['DELETE', '/jobs/absent', 'there is no job "absent"'],
    ['POST', '/jobs/absent/pause', 'there is no job "absent"'],
    ['POST', '/jobs/absent/resume', 'there is no job "absent"'],
    ['POST', '/jobs/absent/trigger', 'there is no job "absent"'],
    ['POST', `/jobs/${long}/pause`, 'there is no job "xxx'],
    ['POST', `/jobs/${long}/trigger`, 'there is no job "xxx'],
    ['GET', '/jobs/*', 'there is no job "*"'],
    ['DELETE', '/jobs/*', 'there is no job "*"'],
    ['POST', '/jobs/*/trigger', 'there is no job "*"'],
    ['GET', '/jobs/*/runs', 'there is no job "*"'],
    ['GET', '/jobs/**/notifications', 'there is no job "**"'],
    ['POST', '/jobs/standing/pauses', 'There is nothing at /jobs/standing/pauses.'],
    ['GET', '/jobs/absent/runs', 'there is no job "absent"'],
    ['GET', '/jobs/absent/runs/x', 'there is no job "absent"'],
    ['GET', '/jobs/absent/notifications', 'there is no job "absent"'],
    ['DELETE', '/jobs/absent/notifications/x', 'there is no job "absent"'],
    ['GET', '/jobs/standing/runs/absent', 'job standing has no run "absent"'],
    ['GET', `/jobs/${long}`, 'there is no job "xxx'],
    ['DELETE', `/jobs/${long}`, 'there is no job "xxx'],
    ['GET', '/jobs/%00', 'there is no job "\\u0000"'],
    ['GET', '/jobs/%zz', 'there is no job'],
    ['GET', `/jobs/standing/runs/${long}`, 'there is no run'],
    ['DELETE', `/jobs/standing/notifications/${long}`, 'there is no notification'],
    ['GET', '/queues/nonsense', 'job-created, job-deleted, notify-created, notify-deleted'],
    ['POST', '/queues/job-created', 'job-create, job-delete, notify-create, notify-delete'],
    ['POST', '/queues/__proto__', 'job-create, job-delete'],
  ])('at %s %s', async (method, path, says) => {
    const answer = await client.send(path, { method });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json.detail).toContain(says);
  });

  test('by a notification of an absent job', async () => {
    const answer = await client.post('/jobs/absent/notifications', JSON.stringify(NOTIFICATION));
    expect(answer.status).toBe(404);
    expect(answer.json.errors).toEqual([{ field: 'jobId', message: 'there is no job "absent"' }]);
  });
});

test.each([
  ['PUT', '/jobs', 'GET, HEAD, POST'],
  ['PUT', '/jobs/standing', 'GET, HEAD, PATCH, DELETE'],
  ['PATCH', '/jobs', 'GET, HEAD, POST'],
  ['GET', '/jobs/standing/pause', 'POST'],
  ['DELETE', '/jobs/standing/pause', 'POST'],
  ['PUT', '/jobs/standing/resume', 'POST'],
  ['GET', '/jobs/standing/trigger', 'POST'],
  ['PATCH', '/jobs/standing/backfill', 'POST'],
  ['POST', '/jobs/standing/runs', 'GET, HEAD'],
  ['DELETE', '/jobs/standing/runs/x', 'GET, HEAD'],
  ['GET', '/jobs/standing/runs/x/cancel', 'POST'],
  ['PUT', '/jobs/standing/runs/x/complete', 'POST'],
  ['GET', '/jobs/standing/runs/x/fail', 'POST'],
  ['DELETE', '/jobs/standing/runs/x/heartbeat', 'POST'],
  ['PUT', '/jobs/*/notifications', 'GET, HEAD, POST'],
  ['PUT', '/jobs/standing/notifications', 'GET, HEAD, POST'],
  ['GET', '/jobs/standing/notifications/x', 'DELETE'],
  ['POST', '/health', 'GET, HEAD'],
  ['OPTIONS', '/jobs', 'GET, HEAD, POST'],
])('%s %s is told which methods there are', async (method, path, allow) => {
  const answer = await client.send(path, { method });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe(allow);
  expect(answer.json).toMatchObject({ status: 405, title: 'Method not allowed' });
});
