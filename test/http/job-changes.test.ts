import { LIMITS } from '../../src/domain/limits';
import { runActivations } from '../../src/operations/run-activation';
import { jobText } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { containing } from '../support/matchers';
import { Client } from './client';

let client: Client;
beforeEach(async () => (client = await Client.open()));
afterEach(() => client.close());

const RICH = {
  name: 'nightly',
  tags: ['a', 'b'],
  schedule: 'cron(30 1 * * ? *)',
  timezone: 'Europe/London',
  dst: { gap: 'run-after' },
  start: '2027-06-01T00:00:00.000Z',
  end: '2027-09-01T00:00:00.000Z',
  maxRuns: 5,
  overlap: 'skip',
  jitterSeconds: 30,
  payload: { a: 1 },
  retry: { maxAttempts: 7, backoff: { kind: 'fixed', seconds: 1 }, jitter: 'full' },
  misfire: { policy: 'skip', graceSeconds: 5 },
  timeoutSeconds: 30,
  priority: 'high',
  concurrency: { key: 'shop', limit: 5 },
  rateLimit: { key: 'shop', limit: 10, perSeconds: 60 },
  completion: 'callback',
  heartbeatSeconds: 600,
};

const create = async (changes: object) => {
  const answer = await client.post('/jobs', jobText({ jobId: 'a', ...changes }));
  expect(answer.status).toBe(201);
  return answer;
};
const patch = (changes: object, headers: Record<string, string> = {}) =>
  client.patch('/jobs/a', JSON.stringify(changes), headers);

describe('an edit', () => {
  const CHANGES: Record<string, unknown>[] = [
    { name: 'hourly' },
    { tags: [] },
    { target: { functionArn: functionArn('job-other') } },
    { schedule: 'rate(1 day)' },
    { timezone: 'America/New_York' },
    { dst: { gap: 'skip', overlap: 'both' } },
    { start: '2027-07-01T00:00:00.000Z' },
    { end: '2028-01-01T00:00:00.000Z' },
    { payload: [1, null] },
    { payload: null },
    { retry: { maxAttempts: 1, backoff: { kind: 'list', seconds: [1, 2] }, jitter: 'none' } },
    { misfire: { policy: 'run-all', graceSeconds: 1 } },
    { overlap: 'cancel-previous' },
    { jitterSeconds: 0 },
    { maxRuns: 1_000_000 },
    { timeoutSeconds: 840 },
    { priority: 'normal' },
    { concurrency: { key: 'other', limit: 1 } },
    { rateLimit: { key: 'other', limit: 1, perSeconds: 1 } },
    { heartbeatSeconds: 1 },
    {
      retry: {
        maxAttempts: 1,
        backoff: { kind: 'fixed', seconds: 1 },
        jitter: 'none',
        retryUntil: '2028-01-01T00:00:00.000Z',
      },
    },
    { start: '2027-07-01T00:00:00.000Z', end: '2027-07-01T00:00:01.000Z', schedule: 'rate(1 second)', name: 'x' },
  ];
  test.each(CHANGES)('changes %j and leaves the rest', async (changes) => {
    const { json: before } = await create(RICH);
    const { status, json } = await patch(changes);
    expect(status).toBe(200);
    expect(json).toEqual({ ...before, ...changes, nextRunAt: json['nextRunAt'] });
    expect((await client.send('/jobs/a')).json).toEqual(json);
  });

  const DEFAULTS: [string, unknown][] = [
    ['name', undefined],
    ['tags', []],
    ['timezone', 'UTC'],
    ['dst', undefined],
    ['start', undefined],
    ['end', undefined],
    ['maxRuns', undefined],
    ['overlap', undefined],
    ['jitterSeconds', undefined],
    ['payload', null],
    [
      'retry',
      {
        maxAttempts: 3,
        backoff: { kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 },
        jitter: 'none',
      },
    ],
    ['misfire', { policy: 'run-once', graceSeconds: 60 }],
    ['timeoutSeconds', 840],
    ['priority', undefined],
    ['concurrency', undefined],
    ['rateLimit', undefined],
    ['heartbeatSeconds', undefined],
  ];
  test.each(DEFAULTS)('with null takes %s away, so that its default counts', async (field, value) => {
    const { json: before } = await create(RICH);
    const { json } = await patch({ [field]: null });
    const after: Record<string, unknown> = { ...before, [field]: value, nextRunAt: json['nextRunAt'] };
    if (value === undefined) delete after[field];
    expect(json).toEqual(after);
  });

  test('with null of what is not there changes nothing', async () => {
    const { json: before } = await create({});
    const fields = ['name', 'timezone', 'dst', 'start', 'end', 'maxRuns', 'overlap', 'jitterSeconds'];
    const { status, json } = await patch(Object.fromEntries(fields.map((field) => [field, null])));
    expect([status, json]).toEqual([200, before]);
  });

  test('fills a partial retry with the defaults, not with what was there', async () => {
    await create(RICH);
    const { json } = await patch({ retry: { maxAttempts: 2 }, misfire: { policy: 'run-all' } });
    expect(json['retry']).toEqual({
      maxAttempts: 2,
      backoff: { kind: 'exponential', initialSeconds: 10, factor: 2, maxSeconds: 3600 },
      jitter: 'none',
    });
    expect(json['misfire']).toEqual({ policy: 'run-all', graceSeconds: 60 });
  });

  test.each([
    ['numbers that lose digits', '{"id":9007199254740993,"big":1.23e+40,"neg0":-0.0}'],
    ['escapes and blanks', '{ "a" : "\\u00e9\\/\\u0000\\uffff" ,\n\t"b":[ 1.0 , 1E5 ] }'],
    ['a key twice', '{"a":1,"a":2}'],
    ['text that looks like more', '"}],\\"payload\\":{"'],
    ['more than fits into a row', `"${'é'.repeat(1_000)}"`],
  ])('keeps a payload byte for byte: %s', async (_, payload) => {
    await create({ schedule: 'rate(1 hour)', payload: 'old' });
    const answer = await client.patch('/jobs/a', `{"payload":0, "payl\\u006fad" :  ${payload} }`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`"payload":${payload},"tags"`);
    expect((await client.send('/jobs/a')).text).toBe(answer.text);
    await client.patch('/jobs/a', '{"name":"x"}');
    expect((await client.send('/jobs/a')).text).toContain(`"payload":${payload},"tags"`);
    client.world.code['job-report'] = () => 'done';
    await client.send('/jobs/a/trigger', { method: 'POST' });
    const messages = await client.ports.activations.receive(10);
    await client.world.untilOver(runActivations(messages, client.ports));
    expect(client.world.calls.map(({ text }) => text)).toEqual([containing(`"payload":${payload}}`)]);
  });

  test('takes a payload of 256 KiB and not a byte more', async () => {
    await create({ payload: 'old', schedule: 'rate(1 hour)' });
    const most = 'x'.repeat(LIMITS.payloadBytes - 2);
    expect((await patch({ payload: most })).status).toBe(200);
    const { status, json } = await patch({ payload: `${most}x`, name: '' });
    expect(status).toBe(413);
    expect(json.errors.map(({ field }) => field).sort()).toEqual(['name', 'payload']);
    expect((await client.send('/jobs/a')).json).toMatchObject({ payload: most });
  });

  test('does not resume a paused job', async () => {
    await create({ schedule: 'rate(1 hour)' });
    await client.post('/jobs/a/pause', '{"reason":"why"}');
    const { json } = await patch({ schedule: 'rate(2 hours)' });
    expect(json).toMatchObject({ state: 'PAUSED', schedule: 'rate(2 hours)', pause: { reason: 'why' } });
  });

  test('turns a delay into a schedule, and a schedule into a one-off', async () => {
    await create({ delaySeconds: 3_600 });
    const recurring = await patch({ schedule: 'rate(1 hour)', maxRuns: 3, overlap: 'skip' });
    expect(recurring.json).toMatchObject({ schedule: 'rate(1 hour)', timezone: 'UTC', maxRuns: 3 });
    expect(recurring.json).not.toHaveProperty('delaySeconds');
    const once = await patch({ schedule: 'at(2027-06-01T09:00:00)', maxRuns: null, overlap: null });
    expect(once.json).toMatchObject({ nextRunAt: '2027-06-01T09:00:00.000Z', state: 'ACTIVE' });
    expect(once.json).not.toHaveProperty('maxRuns');
  });

  test('lets a job complete by callback, and no longer', async () => {
    await create({ schedule: 'rate(1 hour)' });
    const callback = { completion: 'callback', heartbeatSeconds: 60 };
    expect((await patch(callback)).json).toMatchObject(callback);
    const { status, json } = await patch({ completion: null, heartbeatSeconds: null });
    expect(status).toBe(200);
    for (const field of Object.keys(callback)) expect(json).not.toHaveProperty(field);
  });

  test('brings a completed job back to life', async () => {
    await create({ schedule: 'rate(1 hour)', end: '2027-05-04T13:30:00Z' });
    await client.world.clock.advance(7_200_000);
    expect((await patch({ name: 'over' })).json.state).toBe('COMPLETED');
    expect((await patch({ end: null })).json).toMatchObject({ state: 'ACTIVE', nextRunAt: '2027-05-04T15:00:00.000Z' });
  });

  test('of a one-off that has begun is a conflict', async () => {
    client.world.code['job-report'] = () => 'done';
    await create({});
    await client.world.untilOver(runActivations(await client.ports.activations.receive(1), client.ports));
    const { status, json } = await patch({ name: 'late' });
    expect([status, json.errors]).toEqual([409, [{ field: 'jobId', message: containing('create another job') }]]);
  });

  test.each(['application/merge-patch+json', 'application/json; charset=utf-8'])(
    'may be of the type %s',
    async (type) => {
      await create({});
      expect((await patch({ name: 'x' }, { 'content-type': type })).status).toBe(200);
    },
  );
});

describe('the version of a job', () => {
  const tagOf = async () => (await client.send('/jobs/a')).headers.get('etag')!;

  test('is told by create, read and edit, and changes with each edit', async () => {
    const created = await create({ schedule: 'rate(1 hour)' });
    const first = created.headers.get('etag')!;
    expect(first).toMatch(/^"[\w-]+"$/);
    expect(await tagOf()).toBe(first);
    expect((await client.send('/jobs/a', { method: 'HEAD' })).headers.get('etag')).toBe(first);
    const second = (await patch({ name: 'x' })).headers.get('etag')!;
    expect(second).not.toBe(first);
    expect(await tagOf()).toBe(second);
    expect((await client.send('/jobs')).headers.get('etag')).toBeNull();
  });

  test.each([
    ['alone', (tag: string) => tag],
    ['among others', (tag: string) => `"x", W/"y" ,${tag},"z"`],
    ['with a comma in another', (tag: string) => `"a,b", ${tag}`],
    ['with empty places in the list', (tag: string) => `${tag}, ,`],
    ['as anything', () => '*'],
  ])('lets the edit through that names it: %s', async (_, header) => {
    await create({ schedule: 'rate(1 hour)' });
    const { status, json } = await patch({ name: 'x' }, { 'if-match': header(await tagOf()) });
    expect([status, json['name']]).toEqual([200, 'x']);
  });

  test('keeps two editors from overwriting each other', async () => {
    await create({ schedule: 'rate(1 hour)' });
    const seen = await tagOf();
    expect((await patch({ name: 'first' }, { 'if-match': seen })).status).toBe(200);
    const { status, json } = await patch({ name: 'second' }, { 'if-match': seen });
    expect(status).toBe(412);
    expect(json).toMatchObject({ type: 'urn:escapement:problem:precondition-failed', title: 'Precondition failed' });
    expect(json.errors).toEqual([{ field: 'If-Match', message: containing('read it again, then edit') }]);
    expect((await client.send('/jobs/a')).json['name']).toBe('first');
  });

  test.each([
    ['that is weak', (tag: string) => `W/${tag}`],
    ['of another job', () => '"guid-999999"'],
    ['that is empty', () => '""'],
    ['in other letters', (tag: string) => tag.toUpperCase()],
    ['that only begins alike', (tag: string) => tag.replace(/"$/, '0"')],
  ])('is not matched by one %s', async (_, header) => {
    await create({ schedule: 'rate(1 hour)' });
    const answer = await patch({ name: 'x' }, { 'if-match': header(await tagOf()) });
    expect(answer.status).toBe(412);
    expect((await client.send('/jobs/a')).json).not.toHaveProperty('name');
  });

  test.each([
    ['without quotes', 'guid-000001'],
    ['with half a quote', '"guid-000001'],
    ['with a blank inside', '"guid 1"'],
    ['without a comma between', '"a" "b"'],
    ['a star beside another', '*, "a"'],
    ['a weak mark in small letters', 'w/"a"'],
    ['nothing', ''],
  ])('is refused when it is written wrong: %s', async (_, header) => {
    await create({ schedule: 'rate(1 hour)' });
    const { status, json } = await patch({ name: 'x' }, { 'if-match': header });
    expect([status, json.errors]).toEqual([400, [{ field: 'If-Match', message: containing('each in double quotes') }]]);
  });

  test('of a job that is not there is not found, whatever is asked for', async () => {
    for (const header of ['*', '"x"']) {
      expect((await client.patch('/jobs/absent', '{"name":"x"}', { 'if-match': header })).status).toBe(404);
    }
  });
});

describe('an edit is refused with the field named and nothing changed:', () => {
  const DELAYED = { delaySeconds: 3_600 };
  const HOURLY = { schedule: 'rate(1 hour)' };
  const ONE_OFF = { schedule: 'at(2027-07-01T09:00:00)' };
  const LONDON_GAP = { schedule: 'at(2028-03-26T01:30:00)' };
  const NULL = 'take it away with null';
  test.each<[object, object | string, string, string]>([
    [HOURLY, {}, 'body', 'must change at least one field; got {}'],
    [HOURLY, [], 'body', 'must be an object with the fields that change'],
    [HOURLY, 'null', 'body', 'got null'],
    [HOURLY, '"x"', 'body', 'got "x"'],
    [HOURLY, '', 'body', 'is empty'],
    [HOURLY, '{"name":', 'body', 'is not JSON'],
    [HOURLY, { jobId: 'b' }, 'jobId', 'create a job of the new id and delete this one'],
    [HOURLY, { jobId: null }, 'jobId', 'cannot be changed'],
    [HOURLY, { delaySeconds: 5 }, 'delaySeconds', 'write the instant as a schedule, such as at('],
    [HOURLY, { delaySeconds: null }, 'delaySeconds', 'cannot be changed'],
    [HOURLY, { state: 'PAUSED' }, 'state', 'POST to /jobs/{jobId}/pause'],
    [HOURLY, { unique: { key: 'a' } }, 'unique', 'create another job with the other key'],
    [{ ...HOURLY, unique: { key: 'a' } }, { unique: null }, 'unique', 'cannot be changed'],
    [HOURLY, { priority: 'low' }, 'priority', 'must be one of high, normal'],
    [HOURLY, { concurrency: { key: 'a' } }, 'concurrency.limit', 'is missing'],
    [HOURLY, { rateLimit: { key: 'a', limit: 1, perSeconds: 0 } }, 'rateLimit.perSeconds', 'got 0'],
    [HOURLY, { completion: 'later' }, 'completion', 'must be "callback"'],
    [HOURLY, { heartbeatSeconds: 60 }, 'heartbeatSeconds', `beside "completion": "callback" only; ${NULL}`],
    [
      { ...HOURLY, completion: 'callback', heartbeatSeconds: 60 },
      { completion: null },
      'heartbeatSeconds',
      'take it away with null',
    ],
    [HOURLY, { retry: { retryUntil: 'tomorrow' } }, 'retry.retryUntil', 'must be an instant'],
    [HOURLY, { pause: null }, 'pause', '/jobs/{jobId}/resume'],
    [HOURLY, { nam: 'x' }, 'nam', 'did you mean name?'],
    [HOURLY, { createdAt: 1 }, 'createdAt', 'unknown field; the known ones are name, tags, target'],
    [HOURLY, '{"__proto__":{"name":"x"}}', '__proto__', 'unknown field'],
    [HOURLY, { name: '' }, 'name', 'must be text of 1 to 256'],
    [HOURLY, { name: 'a\nb' }, 'name', 'without control characters'],
    [HOURLY, { tags: ['a', 'a'] }, 'tags[1]', 'must differ from tags[0]'],
    [HOURLY, { tags: 'a' }, 'tags', 'must be a list'],
    [HOURLY, { target: null }, 'target', 'got null'],
    [HOURLY, { target: {} }, 'target.functionArn', 'is missing'],
    [HOURLY, { target: { functionArn: functionArn('payroll') } }, 'target.functionArn', 'not one that this deployment'],
    [HOURLY, { schedule: null }, 'schedule', 'must be an expression'],
    [HOURLY, { schedule: '' }, 'schedule', 'must be an expression'],
    [HOURLY, { schedule: 'rate(0 minutes)' }, 'schedule', 'write a whole number from 1 up'],
    [HOURLY, { schedule: 'at(2020-01-01T00:00:00)' }, 'schedule', 'names no instant after now'],
    [HOURLY, { schedule: 'cron(0 9 31 2 ? *)' }, 'schedule', 'never comes in month'],
    [HOURLY, { timezone: 'PST' }, 'timezone', 'America/Los_Angeles'],
    [HOURLY, { timezone: 5 }, 'timezone', 'IANA name'],
    [HOURLY, { dst: 'skip' }, 'dst', 'must be an object'],
    [HOURLY, { dst: { gap: 'x' } }, 'dst.gap', 'skip, run-after'],
    [HOURLY, { start: 'tomorrow' }, 'start', 'must be an instant'],
    [HOURLY, { end: '2027-06-01' }, 'end', 'must be an instant'],
    [HOURLY, { end: '2027-05-04T11:00:00Z' }, 'end', 'is too early: "rate(1 hour)" names no instant after now'],
    [HOURLY, { maxRuns: 0 }, 'maxRuns', 'from 1 to 1000000'],
    [HOURLY, { overlap: 'x' }, 'overlap', 'allow, skip, queue-one'],
    [HOURLY, { jitterSeconds: 3_601 }, 'jitterSeconds', 'from 0 to 3600'],
    [HOURLY, { retry: { maxAttempts: 0 } }, 'retry.maxAttempts', 'got 0'],
    [HOURLY, { retry: { backoff: {} } }, 'retry.backoff.kind', 'is missing'],
    [HOURLY, { misfire: { policy: 'x' } }, 'misfire.policy', 'run-once'],
    [HOURLY, { timeoutSeconds: 841 }, 'timeoutSeconds', 'got 841'],
    [HOURLY, '{"payload":"\\ud83d"}', 'payload', 'surrogate pair'],
    [{ ...HOURLY, start: '2027-06-01T00:00:00Z' }, { end: '2027-06-01T00:00:00Z' }, 'end', 'must lie after start'],
    [{ ...HOURLY, end: '2027-06-01T00:00:00Z' }, { start: '2027-06-02T00:00:00Z' }, 'end', 'must lie after start'],
    [{ schedule: 'cron(0 9 1 1 ? 2029)' }, { start: '2030-01-01T00:00:00Z' }, 'start', 'names no instant after now'],
    [{ ...HOURLY, maxRuns: 3 }, ONE_OFF, 'maxRuns', NULL],
    [{ ...HOURLY, overlap: 'skip' }, ONE_OFF, 'overlap', 'not an at(...), only; take it away with null'],
    [{ ...HOURLY, dst: {} }, ONE_OFF, 'dst', NULL],
    [{ ...HOURLY, start: '2027-06-01T00:00:00Z' }, ONE_OFF, 'start', NULL],
    [{ ...HOURLY, end: '2027-06-01T00:00:00Z' }, ONE_OFF, 'end', NULL],
    [ONE_OFF, { maxRuns: 3 }, 'maxRuns', 'beside a recurring schedule, not an at(...)'],
    [ONE_OFF, { overlap: 'skip' }, 'overlap', 'not an at(...)'],
    [ONE_OFF, { start: '2027-06-01T00:00:00Z' }, 'start', 'not an at(...)'],
    [ONE_OFF, { schedule: 'at(2027-05-04T12:00:00)' }, 'schedule', 'names no instant after now'],
    [LONDON_GAP, { timezone: 'Europe/London' }, 'timezone', 'does not exist in Europe/London'],
    [{ ...ONE_OFF, timezone: 'Europe/London' }, LONDON_GAP, 'schedule', 'does not exist in Europe/London'],
    [
      { schedule: 'at(2027-05-04T10:00:00)', timezone: 'America/New_York' },
      { timezone: null },
      'timezone',
      'names no instant after now',
    ],
    [DELAYED, { timezone: 'Europe/London' }, 'timezone', 'must stand beside a schedule only'],
    [DELAYED, { jitterSeconds: 5 }, 'jitterSeconds', 'must stand beside a schedule only'],
    [DELAYED, { dst: {} }, 'dst', 'must stand beside a recurring schedule'],
    [DELAYED, { end: '2027-06-01T00:00:00Z' }, 'end', 'must stand beside a recurring schedule'],
    [DELAYED, { maxRuns: 1 }, 'maxRuns', 'must stand beside a recurring schedule'],
  ])('of %j by %j', async (job, changes, field, says) => {
    const { headers } = await create(job);
    const before = await client.ports.jobs.read('a');
    const body = typeof changes === 'string' ? changes : JSON.stringify(changes);
    const answer = await client.patch('/jobs/a', body, { 'if-match': headers.get('etag')! });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json.errors).toEqual([{ field, message: containing(says) }]);
    expect(await client.ports.jobs.read('a')).toEqual(before);
  });

  test('everything at once, an entry each', async () => {
    await create(HOURLY);
    const body = { jobId: 'b', delaySeconds: 1, name: 7, schedule: 'x', timezone: 'PST', end: 1, nam: 1 };
    const { json } = await patch(body);
    expect(json.errors.map(({ field }) => field).sort()).toEqual([
      'delaySeconds',
      'end',
      'jobId',
      'nam',
      'name',
      'schedule',
      'timezone',
    ]);
  });

  test('each field that no longer fits, an entry each', async () => {
    await create(RICH);
    const { json } = await patch({ schedule: 'at(2027-07-01T09:00:00)' });
    expect(json.errors.map(({ field }) => field)).toEqual(['dst', 'start', 'end', 'maxRuns', 'overlap']);
  });

  test('of another type of content', async () => {
    await create(HOURLY);
    expect((await patch({ name: 'x' }, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('of a job that is deleted, or never was', async () => {
    await create(HOURLY);
    await client.delete('/jobs/a');
    expect((await patch({ name: 'x' })).status).toBe(404);
    expect((await client.patch('/jobs/absent', '{"name":"x"}')).status).toBe(404);
  });
});
