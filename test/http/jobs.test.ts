import { LIMITS } from '../../src/domain/limits';
import { answerCommand } from '../../src/operations/answer-command';
import { runActivations } from '../../src/operations/run-activation';
import { jobText } from '../messages/wrong-jobs';
import { functionArn, MINUTE, NOON } from '../support/builders';
import { Client } from './client';
import { containing, matching } from '../support/matchers';

let client: Client;
beforeEach(async () => (client = await Client.open()));
afterEach(() => client.close());

/** Carries out what lies on a command queue, as its consumer does. */
async function carryOut(name: 'job-create' | 'notify-delete'): Promise<number> {
  const messages = await client.ports.commands[name].receive(10);
  for (const message of messages) await answerCommand(name, message, client.ports);
  await client.ports.commands[name].remove(messages.map(({ receipt }) => receipt));
  return messages.length;
}

/** Runs what is on the activation queue now. */
async function run(): Promise<void> {
  const messages = await client.ports.activations.receive(10);
  await client.world.untilOver(runActivations(messages, client.ports));
  await client.ports.activations.remove(messages.map(({ receipt }) => receipt));
}

describe('creating a job', () => {
  test('answers 201 with the job and where it is', async () => {
    const body = {
      jobId: 'nightly_1',
      name: '📦 nightly ✨',
      target: { functionArn: functionArn('job-report') },
      schedule: 'rate(10 minutes)',
      timezone: 'Europe/London',
      payload: { any: 'JSON' },
      tags: ['reports', 'nightly'],
      retry: { maxAttempts: 5, backoff: { kind: 'list', seconds: [10, 60.5, 300] }, jitter: 'full' },
      misfire: { policy: 'skip', graceSeconds: 0 },
      timeoutSeconds: 30,
    };
    const answer = await client.post('/jobs', JSON.stringify(body));
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe('/jobs/nightly_1');
    expect(answer.headers.get('content-type')).toBe('application/json');
    const job = {
      ...body,
      state: 'ACTIVE',
      createdAt: '2027-05-04T12:00:00.000Z',
      nextRunAt: '2027-05-04T12:10:00.000Z',
    };
    expect((await client.send('/jobs/nightly_1')).json).toEqual(job);
    expect(answer.json).toEqual(job);
  });

  test('fills in the defaults', async () => {
    const { json } = await client.post('/jobs', jobText());
    expect(json).toEqual({
      jobId: matching(/^[0-9a-f]{8}-[0-9a-f]{4}-8/),
      state: 'ACTIVE',
      target: { functionArn: functionArn('job-report') },
      payload: null,
      tags: [],
      retry: {
        maxAttempts: 3,
        backoff: { kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 },
        jitter: 'none',
      },
      misfire: { policy: 'run-once', graceSeconds: 60 },
      timeoutSeconds: 840,
      createdAt: '2027-05-04T12:00:00.000Z',
      nextRunAt: '2027-05-04T12:00:00.000Z',
    });
    expect((await client.send(`/jobs/${json.jobId}`)).json).toEqual(json);
  });

  test.each([
    [{ maxAttempts: 1 }, { maxAttempts: 1, jitter: 'none', backoff: { kind: 'exponential', factor: 2 } }],
    [{ backoff: { kind: 'fixed', seconds: 0.5 } }, { maxAttempts: 3, backoff: { kind: 'fixed', seconds: 0.5 } }],
    [
      { backoff: { kind: 'exponential', factor: 3 } },
      { backoff: { kind: 'exponential', initialSeconds: 10, factor: 3, maxSeconds: 3600 } },
    ],
    [
      { backoff: { kind: 'exponential', initialSeconds: 2, factor: 2, maxSeconds: 3600 }, jitter: 'equal' },
      { jitter: 'equal', backoff: { kind: 'exponential', initialSeconds: 2 } },
    ],
  ])('fills in what %j leaves open', async (retry, filled) => {
    const { json } = await client.post('/jobs', jobText({ retry }));
    expect(json.retry).toMatchObject(filled);
  });

  test.each([
    [{ delaySeconds: 90 }, '2027-05-04T12:01:30.000Z'],
    [{ delaySeconds: 0.25 }, '2027-05-04T12:00:00.250Z'],
    [{ delaySeconds: 315_576_000 }, '2037-05-04T00:00:00.000Z'],
    [{ schedule: 'at(2027-06-01T09:00:00)' }, '2027-06-01T09:00:00.000Z'],
    [{ schedule: 'at(2027-06-01T09:00:00)', timezone: 'America/New_York' }, '2027-06-01T13:00:00.000Z'],
    [{ schedule: 'rate(1 second)' }, '2027-05-04T12:00:01.000Z'],
  ])('that is asked for by %j tells when it runs', async (when, nextRunAt) => {
    const { json } = await client.post('/jobs', jobText(when));
    expect(json).toMatchObject({ ...('schedule' in when ? { timezone: 'UTC', ...when } : when), nextRunAt });
    expect(json).not.toHaveProperty('delaySeconds' in when ? 'timezone' : 'delaySeconds');
  });

  test.each([
    ['numbers that lose digits', '{"id":9007199254740993,"amount":0.1,"big":1.23e+40,"neg0":-0.0}'],
    ['escapes and blanks', '{ "a" : "\\u00e9\\/\\u0000\\uffff" ,\n\t"b":[ 1.0 , 1E5 ] }'],
    ['characters of all planes', '"é📦\uffff\u007f"'],
    ['a key twice', '{"a":1,"a":2}'],
    ['a scalar', '-0'],
    ['text that looks like more', '"}],\\"payload\\":{"'],
  ])('keeps a payload byte for byte: %s', async (_, payload) => {
    const body = `{"payload":0,${jobText({ jobId: 'x' }).slice(1, -1)}, "payl\\u006fad" :  ${payload} }`;
    const created = await client.post('/jobs', body);
    expect(created.status).toBe(201);
    expect(created.text).toContain(`"payload":${payload},"tags"`);
    expect((await client.send('/jobs/x')).text).toContain(`"payload":${payload},"tags"`);
    client.world.code['job-report'] = () => 'done';
    await run();
    expect(client.world.calls.map(({ text }) => text)).toEqual([containing(`"payload":${payload}}`)]);

    const later = body.replace('"jobId":"x"', '"jobId":"y"');
    expect((await client.post('/jobs', later, { prefer: 'respond-async' })).status).toBe(202);
    await carryOut('job-create');
    const kept = payload.replace('\uffff', '\\uffff');
    expect((await client.send('/jobs/y')).text).toContain(`"payload":${kept},"tags"`);
  });

  test('takes a payload of 256 KiB of UTF-8 and not a byte more', async () => {
    const payloadOf = (bytes: number, character: string) =>
      character.repeat((bytes - 2) / Buffer.byteLength(character));
    for (const character of ['x', 'é']) {
      const most = await client.post('/jobs', jobText({ payload: payloadOf(LIMITS.payloadBytes, character) }));
      expect(most.status).toBe(201);
      const more = jobText({ payload: `${payloadOf(LIMITS.payloadBytes, character)}x` });
      const answer = await client.post('/jobs', more);
      expect(answer.status).toBe(413);
      expect(answer.json).toMatchObject({ type: 'urn:escapement:problem:too-large', title: 'Content too large' });
      expect(answer.json.errors).toEqual([
        { field: 'payload', message: containing('at most 262144 bytes of UTF-8; got 262145') },
      ]);
    }
  });

  test('asynchronously takes what fills a body to its limit with blanks', async () => {
    const text = jobText({ jobId: 'wide', payload: 'x'.repeat(200_000) });
    const body = text + ' '.repeat(LIMITS.bodyBytes - text.length);
    expect((await client.post('/jobs', body, { prefer: 'respond-async' })).status).toBe(202);
    await carryOut('job-create');
    expect((await client.send('/jobs/wide')).status).toBe(200);
  });

  test('counts the characters of a name, not its code units or bytes', async () => {
    for (const name of ['📦'.repeat(256), 'é'.repeat(256)]) {
      const { status, json } = await client.post('/jobs', jobText({ name }));
      expect([status, json.name]).toEqual([201, name]);
    }
  });
});

describe('the same idempotency key', () => {
  const key = { 'idempotency-key': 'order 7/2027 "a"' };

  test('makes one job, and gets the same answer', async () => {
    const first = await client.post('/jobs', jobText({ schedule: 'rate(1 hour)' }), key);
    const second = await client.post('/jobs', jobText({ schedule: 'rate(1 hour)' }), key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect((await client.send('/jobs')).json.items).toHaveLength(1);
  });

  test('gets the same answer after the job was deleted, and does not bring it back', async () => {
    const { json } = await client.post('/jobs', jobText({ delaySeconds: 60 }), key);
    await client.delete(`/jobs/${json.jobId}`);
    const again = await client.post('/jobs', jobText({ delaySeconds: 60 }), key);
    expect(again.status).toBe(201);
    expect(again.json.jobId).toBe(json.jobId);
    expect((await client.send(`/jobs/${json.jobId}`)).status).toBe(404);
  });

  test('is refused for another content', async () => {
    await client.post('/jobs', jobText(), key);
    const answer = await client.post('/jobs', jobText({ name: 'another' }), key);
    expect(answer.status).toBe(422);
    expect(answer.json.errors).toEqual([
      { field: 'Idempotency-Key', message: containing('already used for another job') },
    ]);
  });

  test('is refused for another job id too, and makes no job', async () => {
    await client.post('/jobs', jobText({ jobId: 'ia' }), key);
    for (const other of [jobText({ jobId: 'ib' }), jobText()]) {
      expect((await client.post('/jobs', other, key)).status).toBe(422);
    }
    expect((await client.send('/jobs')).json.items.map(({ jobId }: { jobId: string }) => jobId)).toEqual(['ia']);
  });

  test('that was refused with its content may come again with a better one', async () => {
    expect((await client.post('/jobs', jobText({ schedule: 'at(2001-01-01T00:00:00)' }), key)).status).toBe(400);
    expect((await client.post('/jobs', jobText(), key)).status).toBe(201);
  });

  test('names the same job by HTTP at once, by HTTP through the queue, and by queue', async () => {
    const accepted = await client.post('/jobs', jobText(), { ...key, prefer: 'wait=5, Respond-Async; x=1' });
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get('preference-applied')).toBe('respond-async');
    const { jobId } = accepted.json;
    expect(accepted.json).toEqual({ requestId: key['idempotency-key'], jobId });
    expect((await client.send(`/jobs/${jobId}`)).status).toBe(404);
    expect(await carryOut('job-create')).toBe(1);
    expect((await client.post('/jobs', jobText(), key)).json.jobId).toBe(jobId);

    const command = `{"version":1,"requestId":${JSON.stringify(accepted.json.requestId)},"job":${jobText()}}`;
    const put = await client.post('/queues/job-create', command);
    expect([put.status, put.json]).toEqual([202, { queue: 'job-create' }]);
    await carryOut('job-create');
    const reply = { version: 1, requestId: key['idempotency-key'], ok: true, jobId };
    expect((await client.send('/queues/job-created?max=1')).json).toEqual({ items: [reply] });
    expect((await client.send('/queues/job-created')).json).toEqual({ items: [reply] });
    expect((await client.send('/queues/job-created')).json).toEqual({ items: [] });
    expect((await client.send('/jobs')).json.items).toHaveLength(1);
  });
});

test('a job id that is taken is a conflict', async () => {
  await client.post('/jobs', jobText({ jobId: 'nightly' }));
  const answer = await client.post('/jobs', jobText({ jobId: 'nightly' }));
  expect(answer.status).toBe(409);
  expect(answer.json).toMatchObject({ type: 'urn:escapement:problem:conflict' });
  expect(answer.json.errors).toEqual([
    { field: 'jobId', message: 'job nightly exists already; delete it first, or choose another jobId' },
  ]);
});

test('a schedule that names nothing more is refused before the answer to come is promised', async () => {
  const body = jobText({ schedule: 'at(2027-05-04T12:00:00)' });
  const answer = await client.post('/jobs', body, { prefer: 'respond-async' });
  expect(answer.status).toBe(400);
  expect(answer.json.errors[0]).toMatchObject({ field: 'schedule' });
});

describe('deleting a job', () => {
  test('answers 204 each time, and the job is gone', async () => {
    await client.post('/jobs', jobText({ jobId: 'nightly', schedule: 'rate(1 hour)' }));
    for (const headers of [{}, { 'idempotency-key': 'a' }, { 'idempotency-key': 'a' }]) {
      const answer = await client.delete('/jobs/nightly', headers);
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    for (const path of ['/jobs/nightly', '/jobs/nightly/runs', '/jobs/nightly/notifications']) {
      expect((await client.send(path)).status).toBe(404);
    }
    expect((await client.send('/jobs')).json).toEqual({ items: [] });
  });

  test('leaves its id free for another', async () => {
    await client.post('/jobs', jobText({ jobId: 'nightly', schedule: 'rate(1 hour)' }));
    await client.delete('/jobs/nightly');
    expect((await client.post('/jobs', jobText({ jobId: 'nightly', name: 'new' }))).json.name).toBe('new');
  });

  test('removes its notifications', async () => {
    await client.post('/jobs', jobText({ jobId: 'nightly', schedule: 'rate(1 hour)' }));
    const asked = JSON.stringify({ state: 'DONE', target: { functionArn: functionArn('notify-me') } });
    const { json } = await client.post('/jobs/nightly/notifications', asked);
    await client.delete('/jobs/nightly', { 'idempotency-key': 'bye' });
    await carryOut('notify-delete');
    expect(await client.ports.notifications.of('nightly')).toEqual([]);
    expect((await client.send('/queues/notify-deleted')).json.items).toEqual([
      { version: 1, requestId: 'bye', ok: true, jobId: 'nightly', notifyId: json.notifyId, state: 'DONE' },
    ]);
  });
});

describe('the runs of a job', () => {
  test('show what happened, attempt by attempt', async () => {
    let calls = 0;
    client.world.code['job-report'] = () => {
      if (++calls === 1) throw new RangeError('not yet');
      return { sum: 3 };
    };
    const retry = { backoff: { kind: 'fixed', seconds: 5 } };
    await client.post('/jobs', jobText({ jobId: 'nightly', delaySeconds: 60, retry }));
    expect((await client.send('/jobs/nightly/runs')).json).toEqual({ items: [] });
    await client.world.clock.advanceTo(NOON + MINUTE + 250);
    await run();
    const [waiting] = (await client.send('/jobs/nightly/runs')).json.items;
    expect(waiting).toMatchObject({
      state: 'RELEASED',
      attempt: 1,
      reason: 'attempt-failed',
      dueAt: '2027-05-04T12:01:05.250Z',
      error: { type: 'RangeError', message: 'not yet' },
    });
    expect((await client.send('/jobs/nightly')).json).toMatchObject({
      state: 'ACTIVE',
      nextRunAt: '2027-05-04T12:01:05.250Z',
    });

    await client.world.clock.advance(5_000);
    await run();
    const answer = await client.send(`/jobs/nightly/runs/${waiting!.runId}`);
    expect(answer.json).toEqual({
      jobId: 'nightly',
      runId: waiting!.runId,
      state: 'DONE',
      origin: 'scheduled',
      nominalAt: '2027-05-04T12:01:00.000Z',
      dueAt: '2027-05-04T12:01:05.250Z',
      startedAt: '2027-05-04T12:01:05.250Z',
      finishedAt: '2027-05-04T12:01:05.250Z',
      attempt: 2,
      latenessMs: 0,
      result: { sum: 3 },
      attempts: [
        {
          attempt: 1,
          startedAt: '2027-05-04T12:01:00.250Z',
          finishedAt: '2027-05-04T12:01:00.250Z',
          reason: 'attempt-failed',
          error: { type: 'RangeError', message: 'not yet' },
        },
      ],
    });
    const job = (await client.send('/jobs/nightly')).json;
    expect(job.state).toBe('COMPLETED');
    expect(job).not.toHaveProperty('nextRunAt');
    expect((await client.send('/jobs')).json.items[0]).toMatchObject({ jobId: 'nightly', state: 'COMPLETED' });
  });

  test('come in pages, the latest first', async () => {
    client.world.code['job-report'] = () => null;
    await client.post('/jobs', jobText({ jobId: 'tick', schedule: 'rate(10 seconds)' }));
    for (let i = 0; i < 5; i++) {
      await client.world.clock.advance(10_000);
      await run();
    }
    const first = (await client.send('/jobs/tick/runs?limit=3')).json;
    const second = (await client.send(`/jobs/tick/runs?limit=3&cursor=${encodeURIComponent(first.cursor!)}`)).json;
    const seconds = [...first.items, ...second.items].map(({ nominalAt }) => nominalAt.slice(17, 19));
    expect(seconds).toEqual(['50', '40', '30', '20', '10']);
    expect(first.items).toHaveLength(3);
    expect(second).not.toHaveProperty('cursor');
  });
});

describe('the list of jobs', () => {
  test('comes in pages, without payloads', async () => {
    for (let i = 0; i < 5; i++) await client.post('/jobs', jobText({ jobId: `job-${i}`, payload: 'secret' }));
    const seen: string[] = [];
    let cursor = '';
    do {
      const answer = await client.send(`/jobs?limit=2${cursor}`);
      expect(answer.text).not.toContain('secret');
      seen.push(...answer.json.items.map(({ jobId }) => jobId));
      cursor = answer.json.cursor === undefined ? '' : `&cursor=${encodeURIComponent(answer.json.cursor)}`;
    } while (cursor !== '');
    expect(seen.sort()).toEqual(['job-0', 'job-1', 'job-2', 'job-3', 'job-4']);
  });

  test('can be asked for one tag', async () => {
    await client.post('/jobs', jobText({ jobId: 'a', tags: ['reports', 'b&c'] }));
    await client.post('/jobs', jobText({ jobId: 'b', tags: ['report'] }));
    const items = async (tag: string) =>
      (await client.send(`/jobs?tag=${encodeURIComponent(tag)}`)).json.items.map(({ jobId }) => jobId);
    expect(await items('reports')).toEqual(['a']);
    expect(await items('b&c')).toEqual(['a']);
    expect(await items('none')).toEqual([]);
  });

  test('gives no cursor of another list away as its own', async () => {
    for (let i = 0; i < 3; i++) await client.post('/jobs', jobText({ jobId: `job-${i}` }));
    const { cursor } = (await client.send('/jobs?limit=1')).json;
    expect((await client.send(`/jobs/job-1/runs?cursor=${encodeURIComponent(cursor!)}`)).status).toBe(400);
  });
});
