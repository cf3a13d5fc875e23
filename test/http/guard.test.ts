import { createApp } from '../../src/http/app';
import { jobText } from '../messages/wrong-jobs';
import { Client } from './client';

let client: Client;
beforeAll(async () => (client = await Client.open()));
afterAll(() => client.close());

test('health is told, and nothing is kept in a cache', async () => {
  const answer = await client.send('/health');
  expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect((await client.send('/health', { method: 'HEAD' })).status).toBe(200);
});

describe('the local server answers', () => {
  test.each([
    [{ host: '127.0.0.1:4700' }],
    [{ host: 'localhost' }],
    [{ host: 'LocalHost:1' }],
    [{ host: '[::1]:4700' }],
    [{ host: '127.0.0.1:4700', origin: 'http://127.0.0.1:4700', 'sec-fetch-site': 'same-origin' }],
    [{ host: '127.0.0.1:4700', 'sec-fetch-site': 'none' }],
  ])('to %j', async (headers) => {
    expect((await client.send('/health', { headers })).status).toBe(200);
  });
});

describe('the local server refuses', () => {
  test.each([
    ['a name that only resolves to this machine', { host: 'evil.example:4700' }],
    ['a name that begins like this machine', { host: '127.0.0.1.evil.example' }],
    ['a name that ends like this machine', { host: 'evil.localhost' }],
    ['an address of the network', { host: '192.168.1.5:4700' }],
    ['an empty name', { host: '' }],
    ['a name with a user', { host: 'localhost@evil.example' }],
    ['a page of another server', { host: '127.0.0.1:4700', origin: 'https://evil.example' }],
    ['a page of another port of this machine', { host: '127.0.0.1:4700', origin: 'http://127.0.0.1:3000' }],
    ['a page of another name of this machine', { host: '127.0.0.1:4700', origin: 'http://localhost:4700' }],
    ['a page without an origin', { host: '127.0.0.1:4700', origin: 'null' }],
    ['a page that only fetches', { host: '127.0.0.1:4700', 'sec-fetch-site': 'cross-site' }],
  ])('%s, on every path', async (_, headers) => {
    const answers = [
      await client.send('/health', { headers }),
      await client.post('/jobs', jobText({ jobId: 'evil' }), headers),
      await client.post('/queues/job-delete', '{}', headers),
      await client.send('/queues/job-created', { headers }),
      await client.send('/nowhere', { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect(answers[0]!.json).toMatchObject({ type: 'urn:escapement:problem:forbidden', status: 403 });
    expect((await client.send('/jobs/evil')).status).toBe(404);
  });
});

test('deployed, the app knows no queues and asks for no loopback', async () => {
  const app = createApp({ ports: client.ports, isLocal: false });
  const headers = { host: 'api.example', origin: 'https://dashboard.example' };
  expect((await app.request('/health', { headers })).status).toBe(200);
  expect((await app.request('/queues/job-created', { headers })).status).toBe(404);
});

test('a fault of ours is a 500 that tells nothing of the inside', async () => {
  const broken = () => Promise.reject(new TypeError('secret at 10.0.0.1'));
  const jobs = { ...client.ports.jobs, read: broken, list: broken };
  const app = createApp({ ports: { ...client.ports, jobs }, isLocal: true });
  const answer = await app.request('/jobs/nightly');
  expect(answer.status).toBe(500);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(await answer.text()).not.toContain('secret');
  expect(client.world.notes).toContainEqual({
    what: 'request-failed',
    details: { method: 'GET', path: '/jobs/nightly', error: 'TypeError' },
  });
});

describe('the local queues', () => {
  test('take a message as it is, whatever it is', async () => {
    const body = '{"not": json, é📦 -0.0';
    expect((await client.send('/queues/job-delete', { method: 'POST', body })).status).toBe(202);
    const [message] = await client.ports.commands['job-delete'].receive(1);
    expect(message!.body).toBe(body);
  });

  test('take no empty message', async () => {
    expect((await client.post('/queues/job-delete', '')).status).toBe(400);
  });

  test('give replies as they are, each once', async () => {
    await client.ports.replies['notify-created'].send([{ body: '{"a":-0.0}' }, { body: '{"b":9007199254740993}' }]);
    const taken = await client.send('/queues/notify-created?max=2');
    expect(taken.text).toBe('{"items":[{"a":-0.0},{"b":9007199254740993}]}');
    expect((await client.send('/queues/notify-created')).text).toBe('{"items":[]}');
  });
});
