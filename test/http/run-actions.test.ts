import { scheduledRunIdOf } from '../../src/domain/activation';
import { jobText } from '../messages/wrong-jobs';
import { containing } from '../support/matchers';
import { Client } from './client';

let client: Client;
beforeEach(async () => (client = await Client.open()));
afterEach(() => client.close());

const runOf = async (jobId: string) => (await client.world.runsOf(jobId))[0]!;

describe('cancelling a run', () => {
  test('that waits for its retry answers with the run, CANCELLED, and says why and by whom', async () => {
    client.world.code['job-report'] = () => {
      throw new Error('not yet');
    };
    await client.post('/jobs', jobText({ jobId: 'a' }));
    await client.run();
    const { runId } = await runOf('a');
    const path = `/jobs/a/runs/${runId}`;
    const { status, json } = await client.post(`${path}/cancel`, '{"reason":"no need","by":"ops"}');
    expect([status, json['state'], json['reason']]).toEqual([200, 'CANCELLED', 'cancelled by ops: no need']);
    expect((await client.send(path)).json).toEqual(json);
    expect((await client.post(`${path}/cancel`, '')).json).toEqual(json);
  });

  test('that has no row yet', async () => {
    await client.post('/jobs', jobText({ jobId: 'a', delaySeconds: 60 }));
    const runId = scheduledRunIdOf('a', client.world.clock.now() + 60_000);
    const { status, json } = await client.post(`/jobs/a/runs/${runId}/cancel`, '');
    expect([status, json['state']]).toEqual([200, 'CANCELLED']);
  });

  test('that is over is a conflict', async () => {
    client.world.code['job-report'] = () => 'done';
    await client.post('/jobs', jobText({ jobId: 'a' }));
    await client.run();
    const { status, json } = await client.post(`/jobs/a/runs/${(await runOf('a')).runId}/cancel`, '');
    expect([status, json.errors]).toEqual([409, [{ field: 'runId', message: containing('is DONE') }]]);
  });

  test.each([
    ['/jobs/absent/runs/x/cancel', 404, 'there is no job "absent"'],
    ['/jobs/a/runs/x/cancel', 404, 'job a has no run "x"'],
    ['/jobs/a/runs/a%20b/cancel', 404, 'there is no run "a b"'],
  ])('at %s is not found', async (path, status, says) => {
    await client.post('/jobs', jobText({ jobId: 'a' }));
    const answer = await client.post(path, '');
    expect([answer.status, answer.json.detail]).toEqual([status, containing(says)]);
  });
});

describe('a run that completes by callback', () => {
  let token: string;
  let path: string;
  beforeEach(async () => {
    client.world.code['job-report'] = ({ event }) => {
      token = event['token'] as string;
      return 'begun';
    };
    const retry = { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 1 } };
    await client.post('/jobs', jobText({ jobId: 'a', completion: 'callback', heartbeatSeconds: 600, retry }));
    await client.run();
    path = `/jobs/a/runs/${(await runOf('a')).runId}`;
  });
  const send = (action: string, body: object | string) =>
    client.post(`${path}/${action}`, typeof body === 'string' ? body : JSON.stringify(body));

  test('goes on, and its token stands in no answer', async () => {
    const { json, text } = await client.send(path);
    expect(json).toMatchObject({ state: 'STARTED', isAwaited: true });
    expect(token).toMatch(/^guid-\d+$/);
    for (const seen of [text, (await client.send('/jobs/a/runs')).text, (await client.send('/jobs/a')).text]) {
      expect(seen).not.toContain(token);
    }
  });

  test('is completed with its result byte for byte, and twice is once', async () => {
    const result = '{"id":9007199254740993, "neg0":-0.0}';
    const { status, text, json } = await send('complete', `{"result":1,"token":"${token}","result": ${result} }`);
    expect([status, json['state']]).toEqual([200, 'DONE']);
    expect(text).toContain(`"result":${result},`);
    expect(text).not.toContain(token);
    expect((await send('complete', { token })).text).toBe(text);
    expect((await send('fail', { token, error: { message: 'x' } })).status).toBe(409);
  });

  test('is completed without a result', async () => {
    expect((await send('complete', { token })).json).toMatchObject({ state: 'DONE', result: null });
  });

  test('is failed, and retried as any', async () => {
    const first = token;
    const { status, json } = await send('fail', { token, error: { type: 'ShopClosed', message: 'at noon' } });
    expect([status, json]).toEqual([200, expect.objectContaining({ state: 'RELEASED', reason: 'attempt-failed' })]);
    expect(json['error']).toEqual({ type: 'ShopClosed', message: 'at noon' });
    await client.world.clock.advance(1_000);
    await client.run();
    expect(token).not.toBe(first);
    expect((await send('complete', { token: first })).json.errors).toEqual([
      { field: 'token', message: containing('names no attempt') },
    ]);
    const again = await send('fail', { token, error: { message: 'again' } });
    expect(again.json).toMatchObject({ state: 'FAILED', error: { type: 'Error', message: 'again' } });
  });

  test('goes on with a sign of life, which answers whether to stop', async () => {
    await client.world.clock.advance(60_000);
    const { status, json } = await send('heartbeat', { token });
    expect([status, json]).toEqual([200, { leaseUntil: '2027-05-04T12:11:00.000Z', isCancelRequested: false }]);
    const cancelled = await client.post(`${path}/cancel`, '');
    expect(cancelled.json).toMatchObject({ state: 'STARTED', cancelRequestedAt: '2027-05-04T12:01:00.000Z' });
    expect((await send('heartbeat', { token })).json).toMatchObject({ isCancelRequested: true });
    expect((await send('complete', { token })).json).toMatchObject({ state: 'CANCELLED' });
  });

  const RIGHT_ERROR = { message: 'x' };
  test.each<[string, object | string, string, string]>([
    ['complete', {}, 'token', 'is missing; it must be the token that the code got in its event'],
    ['complete', { token: '' }, 'token', 'got ""'],
    ['complete', { token: 7 }, 'token', 'got 7'],
    ['complete', { token: 't'.repeat(129) }, 'token', 'must be the token'],
    ['complete', { token: 'x', results: 1 }, 'results', 'did you mean result?'],
    ['complete', [], 'body', 'must be an object { "token": "...", "result"'],
    ['complete', '', 'body', 'is empty'],
    ['fail', { error: RIGHT_ERROR }, 'token', 'is missing'],
    ['fail', { token: 'x' }, 'error', 'is missing; it must be an object such as { "type"'],
    ['fail', { token: 'x', error: 'x' }, 'error', 'got "x"'],
    ['fail', { token: 'x', error: {} }, 'error.message', 'is missing; it must be text that says what went wrong'],
    ['fail', { token: 'x', error: { ...RIGHT_ERROR, type: '' } }, 'error.type', 'got ""'],
    ['fail', { token: 'x', error: { ...RIGHT_ERROR, stack: 'x' } }, 'error.stack', 'unknown field'],
    ['heartbeat', {}, 'token', 'is missing'],
    ['heartbeat', { token: 'x', seconds: 5 }, 'seconds', 'unknown field'],
    ['cancel', { reason: '' }, 'reason', 'must be text of 1 to 256 characters'],
    ['cancel', { by: 'a\nb' }, 'by', 'without control characters'],
    ['cancel', { token: 'x' }, 'token', 'unknown field; the known ones are reason, by'],
    ['cancel', [], 'body', 'got []'],
  ])('is not changed by a wrong body: %s %j', async (action, body, field, says) => {
    const before = await runOf('a');
    const answer = await send(action, body);
    expect([answer.status, answer.json.errors]).toEqual([400, [{ field, message: containing(says) }]]);
    expect(await runOf('a')).toEqual(before);
  });

  test.each(['complete', 'fail', 'heartbeat'])('is not changed by another token: %s', async (action) => {
    const error = action === 'fail' ? { error: RIGHT_ERROR } : {};
    const before = await runOf('a');
    const answer = await send(action, { token: 'guid-999999', ...error });
    expect([answer.status, answer.json.errors.map(({ field }) => field)]).toEqual([409, ['token']]);
    expect(await runOf('a')).toEqual(before);
    const absent = await client.post(`/jobs/a/runs/x/${action}`, JSON.stringify({ token: 'x', ...error }));
    expect(absent.status).toBe(404);
  });
});
