import { aGroup } from '../contracts/rows';
import { LIMITS } from '../../src/domain/limits';
import { runActivations } from '../../src/operations/run-activation';
import { jobText } from '../messages/wrong-jobs';
import { containing, matching } from '../support/matchers';
import { aJob } from '../support/builders';
import { Client } from './client';

let client: Client;
beforeEach(async () => {
  client = await Client.open();
  client.world.code['job-report'] = () => 'done';
  await client.post('/jobs', jobText({ jobId: 'hourly', schedule: 'cron(0 * * * ? *)', payload: { a: 1 } }));
  await client.post('/jobs', jobText({ jobId: 'once', delaySeconds: 86_400 }));
});
afterEach(() => client.close());

/** Runs what is on the activation queue now. @returns how many messages that were */
async function run(): Promise<number> {
  const messages = await client.ports.activations.receive(10);
  await client.world.untilOver(runActivations(messages, client.ports));
  await client.ports.activations.remove(messages.map(({ receipt }) => receipt));
  return messages.length;
}

describe('pausing', () => {
  test('answers with the job, and says since when, why and by whom', async () => {
    const { status, json } = await client.post('/jobs/hourly/pause', '{"reason":"the database moves","by":"ops"}');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      jobId: 'hourly',
      state: 'PAUSED',
      payload: { a: 1 },
      pause: { at: '2027-05-04T12:00:00.000Z', reason: 'the database moves', by: 'ops' },
    });
    expect(json).not.toHaveProperty('nextRunAt');
    expect((await client.send('/jobs/hourly')).json).toEqual(json);
  });

  test.each([
    ['no body', undefined, {}],
    ['an empty body of a form', '', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a body of blanks', ' \n', {}],
    ['an empty object', '{}', {}],
  ])('needs no words: %s', async (_, body, headers) => {
    const request = { method: 'POST', headers, ...(body === undefined ? {} : { body }) };
    const paused = await client.send('/jobs/hourly/pause', request);
    expect([paused.status, paused.json['pause']]).toEqual([200, { at: '2027-05-04T12:00:00.000Z' }]);
    const resumed = await client.send('/jobs/hourly/resume', request);
    expect(resumed.status).toBe(200);
    expect(resumed.json).toMatchObject({ state: 'ACTIVE', nextRunAt: '2027-05-04T13:00:00.000Z' });
    expect(resumed.json).not.toHaveProperty('pause');
  });

  test('again keeps the instant and takes the new words', async () => {
    await client.post('/jobs/hourly/pause', '{"reason":"a","by":"b"}');
    await client.world.clock.advance(1_000);
    const { json } = await client.post('/jobs/hourly/pause', `{"reason":"${'é📦'.repeat(128)}"}`);
    expect(json['pause']).toEqual({ at: '2027-05-04T12:00:00.000Z', reason: 'é📦'.repeat(128) });
  });

  test('is no new version of the job', async () => {
    const before = (await client.send('/jobs/hourly')).headers.get('etag');
    for (const action of ['pause', 'resume']) {
      expect((await client.send(`/jobs/hourly/${action}`, { method: 'POST' })).headers.get('etag')).toBe(before);
    }
  });

  test('a one-off that has begun does not keep it for ever', async () => {
    await client.world.clock.advance(86_400_000);
    await client.post('/jobs', jobText({ jobId: 'now' }));
    await run();
    const before = (await client.ports.jobs.read('now'))!.expiresAt;
    const { json } = await client.send('/jobs/now/pause', { method: 'POST' });
    expect(json.state).toBe('COMPLETED');
    expect(json).not.toHaveProperty('pause');
    expect((await client.ports.jobs.read('now'))!.expiresAt).toBe(before);
  });

  test('resuming what is not paused changes nothing', async () => {
    const before = (await client.send('/jobs/hourly')).text;
    expect((await client.send('/jobs/hourly/resume', { method: 'POST' })).text).toBe(before);
  });
});

describe('triggering', () => {
  test('answers 202 with the run and where it will be', async () => {
    const { status, json, headers } = await client.send('/jobs/hourly/trigger', { method: 'POST' });
    expect([status, json]).toEqual([202, { runId: matching(/^20270504T120000000Z-/) }]);
    expect(headers.get('location')).toBe(`/jobs/hourly/runs/${json.runId}`);
    await run();
    expect((await client.send(headers.get('location')!)).json).toMatchObject({
      state: 'DONE',
      origin: 'manual',
      dueAt: '2027-05-04T12:00:00.000Z',
    });
  });

  test('works while the job is paused', async () => {
    await client.post('/jobs/hourly/pause', '{}');
    const { json } = await client.post('/jobs/hourly/trigger', '{}');
    await run();
    expect((await client.send(`/jobs/hourly/runs/${json.runId}`)).json.state).toBe('DONE');
  });

  test('twice with one idempotency key is one run, with two keys or none it is two', async () => {
    const trigger = async (headers: Record<string, string>, jobId = 'hourly') => {
      const answer = await client.send(`/jobs/${jobId}/trigger`, { method: 'POST', headers });
      await client.world.clock.advance(1_000);
      return [answer.json.runId, answer.headers.get('location')];
    };
    const first = await trigger({ 'idempotency-key': 'k' });
    expect(await trigger({ 'idempotency-key': 'k' })).toEqual(first);
    await run();
    expect(await trigger({ 'idempotency-key': 'k' })).toEqual(first);
    await run();
    expect(client.world.calls).toHaveLength(1);
    const others = [await trigger({ 'idempotency-key': 'K' }), await trigger({}), await trigger({})];
    const elsewhere = await trigger({ 'idempotency-key': 'k' }, 'once');
    expect(new Set([first, ...others, elsewhere].map(([runId]) => runId)).size).toBe(5);
  });

  test('several times in the same millisecond is as many runs', async () => {
    const triggers = Array.from({ length: 5 }, () => client.send('/jobs/hourly/trigger', { method: 'POST' }));
    const runIds = (await Promise.all(triggers)).map(({ json }) => json.runId);
    expect(new Set(runIds).size).toBe(5);
    await client.world.clock.advance(10);
    await run();
    expect(client.world.calls).toHaveLength(5);
  });

  test('with a key that a deleted job of this id has used is a run all the same', async () => {
    const key = { 'idempotency-key': 'k' };
    const first = await client.send('/jobs/hourly/trigger', { method: 'POST', headers: key });
    await run();
    await client.delete('/jobs/hourly');
    await client.world.clock.advance(1_000);
    await client.post('/jobs', jobText({ jobId: 'hourly', schedule: 'rate(1 hour)' }));
    const second = await client.send('/jobs/hourly/trigger', { method: 'POST', headers: key });
    expect(second.json.runId).not.toBe(first.json.runId);
    await run();
    expect(client.world.calls).toHaveLength(2);
  });
});

describe('a backfill', () => {
  const range = '{"from":"2027-05-04T10:00:00+01:00","to":"2027-05-04T11:00:00Z"}';

  test('answers 202 with its runs, and twice it is the same runs', async () => {
    const first = await client.post('/jobs/hourly/backfill', range);
    expect(first.status).toBe(202);
    expect(first.json).toEqual({
      count: 3,
      runIds: ['09', '10', '11'].map((hour) => matching(new RegExp(`^20270504T${hour}0000000Z-`))),
    });
    await run();
    expect((await client.post('/jobs/hourly/backfill', range)).text).toBe(first.text);
    await run();
    expect(client.world.calls).toHaveLength(3);
    const { items } = (await client.send('/jobs/hourly/runs')).json;
    expect(items.map(({ state, origin }) => [state, origin])).toEqual(items.map(() => ['DONE', 'backfill']));
  });

  test('of a range without an occurrence is none', async () => {
    const body = '{"from":"2027-05-04T10:00:01Z","to":"2027-05-04T10:59:59Z"}';
    expect((await client.post('/jobs/hourly/backfill', body)).json).toEqual({ count: 0, runIds: [] });
  });

  test('of more runs than its limit is refused, with the range that is allowed', async () => {
    await client.post('/jobs', jobText({ jobId: 'busy', schedule: 'cron(* * * * * ? *)' }));
    const asked = (to: string) => client.post('/jobs/busy/backfill', `{"from":"2027-05-04T11:00:00Z","to":"${to}"}`);
    const { status, json } = await asked('2027-05-04T11:16:40Z');
    expect([status, json.errors]).toEqual([
      400,
      [{ field: 'to', message: containing(`more than ${LIMITS.backfillRuns} runs`) }],
    ]);
    expect(json.errors[0]!.message).toContain('up to 2027-05-04T11:16:39.000Z');
    expect((await asked('2027-05-04T11:16:39Z')).json).toMatchObject({ count: LIMITS.backfillRuns });
  });

  test('of a job that runs once is a conflict', async () => {
    const { status, json } = await client.post('/jobs/once/backfill', range);
    expect([status, json.errors]).toEqual([409, [{ field: 'jobId', message: containing('trigger it instead') }]]);
  });

  test('of a job that is not there is not found', async () => {
    expect((await client.post('/jobs/absent/backfill', range)).status).toBe(404);
  });
});

describe('what is wrong with an action is told, and nothing is done:', () => {
  const instant = 'must be an instant with Z or an offset in the years 1970 to 2199';
  const backfill = (from: unknown, to: unknown) => JSON.stringify({ from, to });
  const MORNING = '2027-05-04T09:00:00Z';
  test.each([
    ['pause', '{"reason":""}', 'reason', 'must be text of 1 to 256 characters'],
    ['pause', `{"reason":"${'x'.repeat(257)}"}`, 'reason', '1 to 256'],
    ['pause', '{"reason":"a\\nb"}', 'reason', 'without control characters'],
    ['pause', '{"reason":null}', 'reason', 'got null'],
    ['pause', '{"by":7}', 'by', 'got 7'],
    ['pause', '{"by":"\\ud83d"}', 'by', 'must be text'],
    ['pause', `{"by":"${'é'.repeat(257)}"}`, 'by', '1 to 256'],
    ['pause', '{"who":"ops"}', 'who', 'unknown field'],
    ['pause', '{"reasons":"x"}', 'reasons', 'did you mean reason?'],
    ['pause', '[]', 'body', 'must be an object such as { "reason": "the database moves"'],
    ['pause', '"x"', 'body', 'got "x"'],
    ['pause', '{', 'body', 'is not JSON'],
    ['resume', '{"by":"ops"}', 'by', 'unknown field; leave it out'],
    ['resume', 'null', 'body', 'must be left out, or an empty object; got null'],
    ['trigger', '{"payload":1}', 'payload', 'unknown field; leave it out'],
    ['trigger', 'nonsense', 'body', 'is not JSON'],
    ['backfill', '', 'body', 'is empty'],
    ['backfill', '[]', 'body', 'must be an object { "from"'],
    ['backfill', `{"from":"${MORNING}"}`, 'to', 'is missing; it must be an instant'],
    ['backfill', `{"to":"${MORNING}"}`, 'from', 'is missing'],
    ['backfill', backfill('yesterday', MORNING), 'from', instant],
    ['backfill', backfill('2027-05-04T09:00:00', MORNING), 'from', 'got "2027-05-04T09:00:00"'],
    ['backfill', backfill('2027-02-29T09:00:00Z', MORNING), 'from', instant],
    ['backfill', backfill('1969-12-31T00:00:00Z', MORNING), 'from', instant],
    ['backfill', backfill(MORNING, 1_809_432_000_000), 'to', 'got 1809432000000'],
    ['backfill', backfill(MORNING, '2027-05-04T08:59:59Z'), 'to', 'must not lie before from'],
    ['backfill', backfill(MORNING, '2027-05-04T12:00:00.001Z'), 'to', 'must not lie in the future'],
    ['backfill', `{"from":"${MORNING}","to":"${MORNING}","count":1}`, 'count', 'the known ones are from, to'],
  ])('%s %s', async (action, body, field, says) => {
    const before = await client.ports.jobs.read('hourly');
    const answer = await client.post(`/jobs/hourly/${action}`, body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json.errors).toEqual([{ field, message: containing(says) }]);
    expect(await client.ports.jobs.read('hourly')).toEqual(before);
    expect(await client.ports.activations.receive(1)).toEqual([]);
  });

  test.each(['pause', 'resume', 'trigger', 'backfill'])('%s of another type of content', async (action) => {
    const answer = await client.post(`/jobs/hourly/${action}`, '{}', { 'content-type': 'text/plain' });
    expect(answer.status).toBe(415);
  });

  test.each(['pause', 'resume', 'trigger', 'backfill'])('%s of a job that is deleted', async (action) => {
    await client.delete('/jobs/hourly');
    const body = action === 'backfill' ? backfill(MORNING, MORNING) : '';
    const answer = await client.post(`/jobs/hourly/${action}`, body);
    expect([answer.status, answer.json.detail]).toEqual([404, 'there is no job "hourly"']);
  });

  test('trigger with an idempotency key that is none', async () => {
    const headers = { 'idempotency-key': '' };
    const { status, json } = await client.send('/jobs/hourly/trigger', { method: 'POST', headers });
    expect([status, json.errors]).toEqual([400, [{ field: 'Idempotency-Key', message: containing('1 to 128') }]]);
  });
});

describe('a job of a chain or batch is not changed by itself, but with the whole:', () => {
  const range = '{"from":"2027-05-04T10:00:00Z","to":"2027-05-04T11:00:00Z"}';
  const ACTIONS: [string, () => ReturnType<Client['send']>, string][] = [
    ['paused', () => client.post('/jobs/member/pause', ''), 'be paused by itself'],
    ['resumed', () => client.post('/jobs/member/resume', ''), 'be resumed'],
    ['triggered', () => client.post('/jobs/member/trigger', ''), 'be triggered'],
    ['filled in', () => client.post('/jobs/member/backfill', range), 'be filled in'],
    ['edited', () => client.patch('/jobs/member', '{"name":"x"}'), 'be edited'],
    ['deleted', () => client.delete('/jobs/member'), 'be deleted'],
  ];
  const KINDS = [
    ['chain', 'chains'],
    ['batch', 'batches'],
  ] as const;
  test.each(ACTIONS.flatMap(([what, act, says]) => KINDS.map(([kind, path]) => ({ what, act, says, kind, path }))))(
    'it is not $what, in a $kind',
    async ({ act, says, kind, path }) => {
      const member = { groupId: 'g-1', kind, partId: 'p-1', index: 0 };
      await client.ports.jobs.put(aJob({ jobId: 'member', member }));
      await client.ports.groups.put(aGroup({ groupId: 'g-1', kind, parts: { 'p-1': -1 } }));
      const before = await client.ports.jobs.read('member');
      const { status, json } = await act();
      expect([status, json.errors.map(({ field }) => field)]).toEqual([409, ['jobId']]);
      expect(json.detail).toContain(says);
      expect(json.detail).toContain(`belongs to ${kind} g-1`);
      expect(json.detail).toContain(`POST /${path}/g-1/cancel`);
      expect(await client.ports.jobs.read('member')).toEqual(before);
      expect((await client.send('/jobs/member')).json).toMatchObject({ [`${kind}Id`]: 'g-1' });
    },
  );
});
