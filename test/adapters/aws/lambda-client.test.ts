import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLambdaClient, LambdaInvoker } from '../../../src/adapters/aws/lambda-invoker';
import { HandClock } from '../../support/hand-clock';

const ARN = 'arn:aws:lambda:eu-west-1:111122223333:function:job-report:live';
const clock = new HandClock(0);
const invoker = new LambdaInvoker({ clock });
let server: Server;
let requests: { path: string; body: string }[];
let answer: { status: number; type?: string; body: string } | 'nothing';
let arrived: () => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      requests.push({ path: decodeURIComponent(request.url ?? ''), body });
      arrived();
      if (answer === 'nothing') return;
      response.writeHead(answer.status, answer.type === undefined ? {} : { 'x-amzn-ErrorType': answer.type });
      response.end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_ACCESS_KEY_ID: 'nobody',
    AWS_SECRET_ACCESS_KEY: 'nothing',
  });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  requests = [];
  arrived = () => undefined;
});

const invoke = () => invoker.invoke({ functionArn: ARN, event: '{"big":1E400}', timeoutMs: 60_000 });

test('the real client invokes the qualified function with the event as it is', async () => {
  answer = { status: 200, body: '{"big":1E400}' };
  expect(await invoke()).toEqual({ kind: 'returned', result: '{"big":1E400}' });
  expect(requests).toEqual([{ path: `/2015-03-31/functions/${ARN}/invocations`, body: '{"big":1E400}' }]);
});

test.each([
  [503, 'ServiceUnavailable', { kind: 'held-back', reason: 'service-error' }],
  [500, 'ServiceException', { kind: 'held-back', reason: 'service-error' }],
  [429, 'TooManyRequestsException', { kind: 'held-back', reason: 'throttled' }],
  [404, 'ResourceNotFoundException', { kind: 'refused', reason: 'function-not-found' }],
  [403, 'AccessDeniedException', { kind: 'refused', reason: 'not-permitted' }],
  [502, 'KMSAccessDeniedException', { kind: 'refused', reason: 'not-permitted' }],
])('the real client asks once, whatever the answer: %i %s', async (status, type, outcome) => {
  answer = { status, type, body: '{"Message":"no"}' };
  expect(await invoke()).toMatchObject(outcome);
  expect(requests).toHaveLength(1);
});

test('the real client lets go of a call that lasts too long', async () => {
  answer = 'nothing';
  const asked = new Promise<void>((resolve) => (arrived = resolve));
  const outcome = invoke();
  await asked;
  await clock.advance(60_000);
  expect(await outcome).toMatchObject({ kind: 'failed', error: { type: 'Timeout' } });
});

test('the socket of the real client outlasts the longest attempt', async () => {
  const client = createLambdaClient('eu-west-1');
  expect(await client.config.maxAttempts()).toBe(1);
  answer = { status: 200, body: 'null' };
  // the handler knows its settings once it has been used
  await new LambdaInvoker({ clock, clientFor: () => client }).invoke({ functionArn: ARN, event: '{}', timeoutMs: 1 });
  const handler = client.config.requestHandler as unknown as { httpHandlerConfigs(): Record<string, number> };
  const { socketTimeout = 0, requestTimeout = 0 } = handler.httpHandlerConfigs();
  expect(Math.min(socketTimeout, requestTimeout)).toBeGreaterThan(840_000);
});
