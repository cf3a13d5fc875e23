/** The whole system as deployed, in one process: the handlers on emulated tables and queues, mappings, and the loop's state machine. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { systemClock } from '../../src/adapters/system';
import { firstActivation } from '../../src/operations/dispatch';
import type { Run } from '../../src/domain/run';
import type { Reply } from '../../src/messages/commands';
import { httpEvent } from '../lambdas/recorded-events';
import { walk, type Walk } from '../support/asl-walker';
import { aJob, every, functionArn, HOUR, SECOND } from '../support/builders';
import { deploy, type QueueName } from '../support/deployment';
import { startMappings } from '../support/mappings';
import { loopDefinition, synthesise } from '../support/synthesised';

interface Call {
  code: string;
  jobId: string;
  runId: string;
  attempt: number;
  dueAt: string;
  at: number;
}

interface Event {
  id: string;
  type: string;
  source: string;
}

type Answer = Record<string, unknown> & { statusCode: number };

const ONE_SECOND = { kind: 'fixed', seconds: 1 };
/** So many beats need more than one tick: a tick sends what falls due within six seconds. */
const BEATS = 8;

let deployed: Awaited<ReturnType<typeof deploy>>;
let mappings: ReturnType<typeof startMappings>;
let loop: Walk;
const calls: Call[] = [];
const heard: Event[] = [];
const replies: Partial<Record<QueueName, Reply[]>> = {};
const http: Record<string, Answer> = {};
let deletedAt: number;

const runsOf = async (jobId: string): Promise<Run[]> =>
  (await deployed.runs.list({ jobId, limit: 100 })).items.reverse();
const callsOf = (jobId: string) => calls.filter((call) => call.jobId === jobId);
const eventsOf = (jobId: string) => heard.filter(({ source }) => source === `/jobs/${jobId}`).map(({ type }) => type);

/** Takes answers from a queue until there are so many. */
async function answersOn(name: QueueName, count: number): Promise<void> {
  const queue = deployed.queue(name);
  const answers = (replies[name] ??= []);
  while (answers.length < count) {
    const messages = await queue.receive(10, { waitMs: 20_000 });
    answers.push(...messages.map(({ body }) => JSON.parse(body) as Reply));
    await queue.remove(messages.map(({ receipt }) => receipt));
  }
}

beforeAll(async () => {
  // A message that nobody can read comes again soon, and once only, so that its way into the dead letters is short.
  deployed = await deploy({ queues: { JOB_CREATE: { visibilityMs: 4_000, maxReceives: 2 } } });
  process.env['TICK_SECONDS'] = '1';
  const consumer = (queue: QueueName, handler: string) => ({
    queue: deployed.queue(queue),
    queueUrl: deployed.queueUrls[queue],
    consumer: deployed.load<SQSEvent, SQSBatchResponse>(handler),
  });
  mappings = startMappings([
    consumer('JOB_ACTIVATION', 'runner'),
    consumer('JOB_ACTIVATION_HIGH', 'runner'),
    consumer('NOTIFY', 'notifier'),
    consumer('JOB_CREATE', 'job-creator'),
    consumer('JOB_DELETE', 'job-deleter'),
    consumer('NOTIFY_CREATE', 'notification-creator'),
    consumer('NOTIFY_DELETE', 'notification-deleter'),
  ]);
  const scheduler = deployed.load<unknown, unknown>('scheduler');
  const api = deployed.load<unknown, { statusCode: number; body: string }>('api');

  const code = (name: string, work: (attempt: number) => unknown) =>
    deployed.functions.set(name, (event) => {
      const call = event as Omit<Call, 'at' | 'code'>;
      calls.push({ ...call, code: name, at: Date.now() });
      return work(call.attempt);
    });
  code('job-report', () => 'done');
  code('job-flaky', (attempt) => {
    if (attempt < 3) throw new Error('not yet');
    return attempt;
  });
  code('job-hopeless', () => {
    throw new TypeError('never');
  });
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  code('job-slow', () => held);
  deployed.functions.set('notify-me', (event) => heard.push(event as Event));
  let isWell = false;
  deployed.functions.set('notify-unwell', (event) => {
    const wasWell = isWell;
    isWell = true;
    if (!wasWell) throw new Error('not now');
    heard.push(event as Event);
  });

  const target = (name: string) => ({ target: { functionArn: functionArn(name) } });
  const call = async (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const media = { 'content-type': 'application/json', ...headers };
    const answer = await api(httpEvent({ method, path, headers: media, ...text }));
    const parsed = (answer.body === '' ? {} : JSON.parse(answer.body)) as Record<string, unknown>;
    return { ...parsed, statusCode: answer.statusCode };
  };
  const send = (name: QueueName, ...commands: object[]) =>
    deployed.queue(name).send(commands.map((fields) => ({ body: JSON.stringify({ version: 1, ...fields }) })));

  // What is due already when the loop begins: a clockwork of yesterday, and a run that no runner took, in the dead letters.
  const second = Math.floor(Date.now() / SECOND) * SECOND;
  const generations = [{ id: 'g1', startedAt: second - HOUR }];
  const clockwork = aJob({
    jobId: 'clockwork',
    schedule: every('rate(1 second)', second - HOUR),
    dueAt: second + 2 * SECOND,
    generations,
  });
  await deployed.jobs.put(clockwork);
  await deployed.code.put({ codeId: clockwork.codeId, kind: 'job', functionArn: clockwork.functionArn });
  const lost = aJob({ jobId: 'lost', schedule: { kind: 'once', at: second, timezone: 'UTC' }, generations });
  await deployed.jobs.put(lost);
  const { version: _, ...activation } = firstActivation(lost, { nominalAt: second, dueAt: second });
  await send('JOB_ACTIVATION_DEAD_LETTER', activation);
  const walking = walk(loopDefinition(synthesise()), { clock: systemClock, invoke: scheduler });

  // by HTTP
  const job = { ...target('job-report'), payload: { n: 1 } };
  const key = { 'idempotency-key': 'once-only' };
  http['first'] = await call('POST', '/jobs', job, key);
  http['again'] = await call('POST', '/jobs', job, key);
  await call('POST', '/jobs', { ...target('job-report'), jobId: 'beat', schedule: 'rate(1 second)' });
  const retry = { maxAttempts: 3, backoff: ONE_SECOND };
  await call('POST', '/jobs', { ...target('job-flaky'), jobId: 'flaky', delaySeconds: 2, retry });
  for (const state of ['STARTED', 'RELEASED', 'DONE']) {
    await call('POST', '/jobs/flaky/notifications', { state, ...target('notify-me') });
  }
  const surplus = await call('POST', '/jobs/flaky/notifications', { state: 'DONE', ...target('notify-unwell') });
  http['unsubscribed'] = await call('DELETE', `/jobs/flaky/notifications/${String(surplus['notifyId'])}`);

  // what a person does to a job
  const hourly = { ...target('job-report'), jobId: 'hourly', schedule: 'cron(0 * * * ? *)', payload: 'old' };
  await call('POST', '/jobs', hourly);
  await call('POST', '/jobs/hourly/pause', { reason: 'the database moves' });
  await call('PATCH', '/jobs/hourly', { payload: 'new' });
  http['triggered'] = await call('POST', '/jobs/hourly/trigger', undefined, { 'idempotency-key': 'now' });
  await call('POST', '/jobs/hourly/trigger', undefined, { 'idempotency-key': 'now' });
  const hour = Math.floor(second / HOUR) * HOUR;
  const [from, to] = [hour - 2 * HOUR, hour].map((at) => new Date(at).toISOString());
  http['filled'] = await call('POST', '/jobs/hourly/backfill', { from, to });
  const crowded = { ...target('job-slow'), jobId: 'crowded', schedule: 'rate(1 second)', overlap: 'skip' };
  await call('POST', '/jobs', crowded);

  // by queue
  const hopeless = { ...target('job-hopeless'), jobId: 'hopeless', delaySeconds: 3 };
  const soon = { ...target('job-report'), jobId: 'soon', delaySeconds: 3 };
  await send(
    'JOB_CREATE',
    { requestId: 'r-soon', job: soon },
    { requestId: 'r-soon', job: soon },
    { requestId: 'r-hopeless', job: { ...hopeless, retry: { maxAttempts: 2, backoff: ONE_SECOND } } },
    { requestId: 'r-wrong', job: { ...soon, jobId: 'wrong', delaySeconds: -1 } },
  );
  await deployed.queue('JOB_CREATE').send([{ body: 'not JSON' }]);
  await answersOn('JOB_CREATED', 4);
  const row = (await deployed.jobs.read('soon'))!;
  const dueAt = row.schedule.kind === 'once' ? row.schedule.at : 0;
  const duplicate = {
    body: JSON.stringify(firstActivation(row, { nominalAt: dueAt, dueAt })),
    delayMs: Math.max(0, dueAt - Date.now()),
  };
  await deployed.queue('JOB_ACTIVATION').send([duplicate, duplicate]);
  const subscription = (state: string, name: string) => ({
    jobId: 'hopeless',
    notification: { state, ...target(name) },
  });
  await send(
    'NOTIFY_CREATE',
    { requestId: 'r-failed', ...subscription('FAILED', 'notify-unwell') },
    { requestId: 'r-started', ...subscription('STARTED', 'notify-me') },
  );
  await answersOn('NOTIFY_CREATED', 2);
  const started = replies['NOTIFY_CREATED']!.find(({ requestId }) => requestId === 'r-started')!;
  await send('NOTIFY_DELETE', { requestId: 'r-stop', jobId: 'hopeless', notifyId: started.notifyId });
  await answersOn('NOTIFY_DELETED', 1);

  // what was asked for happens
  const isOver = async (jobId: string) => (await runsOf(jobId)).some(({ state }) => /DONE|FAILED/.test(state));
  const beats = (jobId: string) => callsOf(jobId).length;
  await mappings.until(() => beats('beat') >= 3);
  http['deleted'] = await call('DELETE', '/jobs/beat');
  deletedAt = Date.now();
  await mappings.until(async () => (await runsOf('beat')).some(({ state }) => state === 'SKIPPED'));
  await mappings.until(() => beats('clockwork') >= BEATS);
  await mappings.until(async () => (await runsOf('crowded')).some(({ reason }) => reason === 'overlap'));
  letGo();
  await call('DELETE', '/jobs/crowded');
  await mappings.until(async () => (await runsOf('hourly')).filter(({ state }) => state === 'DONE').length === 4);
  for (const jobId of ['crowded', 'flaky', 'hopeless', 'soon', 'lost']) await mappings.until(() => isOver(jobId));
  await mappings.until(() => eventsOf('hopeless').length > 0);

  await send('JOB_DELETE', { requestId: 'r-end', jobId: 'clockwork' }, { requestId: 'r-forget', jobId: 'hopeless' });
  await answersOn('JOB_DELETED', 2);
  await answersOn('NOTIFY_DELETED', 2);
  await mappings.until(async () => (await deployed.notifications.of('hopeless')).length === 0);
  loop = await walking;
  await mappings.stop();
}, 90_000);
afterAll(async () => {
  await mappings.stop();
  await deployed.close();
});

test('a request that is repeated with its key makes one job, which runs once', async () => {
  expect(http['first']).toMatchObject({ statusCode: 201, state: 'ACTIVE' });
  expect(http['again']).toMatchObject({ statusCode: 201, jobId: http['first']!['jobId'] });
  const jobId = String(http['first']!['jobId']);
  expect(callsOf(jobId)).toEqual([expect.objectContaining({ attempt: 1, payload: { n: 1 } })]);
  expect(await runsOf(jobId)).toMatchObject([{ state: 'DONE', attempt: 1, result: '"done"' }]);
});

test('a job created by queue is answered, a repeat of the request alike, and what is wrong is told', () => {
  const answers = replies['JOB_CREATED']!;
  const of = (id: string) => answers.filter(({ requestId }) => requestId === id);
  expect(of('r-soon')).toEqual(Array(2).fill({ version: 1, requestId: 'r-soon', ok: true, jobId: 'soon' }));
  expect(of('r-hopeless')).toMatchObject([{ ok: true, jobId: 'hopeless' }]);
  expect(of('r-wrong')).toMatchObject([{ ok: false, errors: [{ field: 'job.delaySeconds' }] }]);
});

test('a delayed job whose activation is delivered three times runs once', async () => {
  expect(callsOf('soon')).toHaveLength(1);
  expect(await runsOf('soon')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
});

test('a command that nobody can read ends in the dead letters and harms none of its neighbours', async () => {
  const queue = deployed.queue('JOB_CREATE');
  const deadLetters = deployed.queue('JOB_CREATE_DEAD_LETTER');
  // It moves when somebody asks for it once more than it may be delivered.
  for (let found = await deadLetters.receive(1); ; found = await deadLetters.receive(1)) {
    if (found.length > 0) return expect(found).toMatchObject([{ body: 'not JSON' }]);
    expect(await queue.receive(10, { waitMs: 4_000 })).toEqual([]);
  }
});

test('a job that fails twice succeeds with its third attempt', async () => {
  expect(callsOf('flaky').map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(await runsOf('flaky')).toMatchObject([{ state: 'DONE', attempt: 3, result: '3' }]);
});

test('a job without hope is given up after its attempts, and the record says why', async () => {
  expect(callsOf('hopeless').map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(await runsOf('hopeless')).toMatchObject([
    { state: 'FAILED', attempt: 2, reason: 'out-of-attempts', error: { type: 'TypeError', message: 'never' } },
  ]);
});

test('a subscriber hears of the states that it asked for, each once', () => {
  expect(eventsOf('flaky').sort()).toEqual(
    ['released', 'released', 'started', 'started', 'started', 'done'].map((state) => `escapement.run.${state}`).sort(),
  );
  expect(new Set(heard.map(({ id }) => id)).size).toBe(heard.length);
});

test('a subscriber that failed is told again, and one that was removed hears nothing', () => {
  expect(http['unsubscribed']).toMatchObject({ statusCode: 204 });
  expect(eventsOf('hopeless')).toEqual(['escapement.run.failed']);
});

test('the loop dispatches a job of every second from tick to tick, each occurrence once', async () => {
  const nominalAts = (await runsOf('clockwork')).map(({ nominalAt }) => nominalAt);
  const sinceFirst = nominalAts.map((at) => (at - nominalAts[0]!) / SECOND);
  expect(sinceFirst).toEqual(sinceFirst.map((_, index) => index));
  expect(callsOf('clockwork').length).toBeGreaterThanOrEqual(BEATS);
  expect(loop.path.filter((state) => state === 'Tick').length).toBeGreaterThan(2);
});

test('the loop ends by itself once nothing is due', () => {
  expect(loop).toMatchObject({ status: 'SUCCEEDED' });
});

test('a run that no runner took comes back from the dead letters and runs', async () => {
  expect(await runsOf('lost')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  expect(await deployed.bodiesIn('JOB_ACTIVATION_DEAD_LETTER')).toEqual([]);
});

test('a job deleted by HTTP starts nothing more, and the record of what was on its way says so', async () => {
  expect(http['deleted']).toMatchObject({ statusCode: 204 });
  expect(callsOf('beat').filter(({ dueAt }) => Date.parse(dueAt) > deletedAt)).toEqual([]);
  const after = (await runsOf('beat')).filter(({ nominalAt }) => nominalAt > deletedAt);
  expect(after).toContainEqual(expect.objectContaining({ state: 'SKIPPED', reason: 'deleted', attempt: 0 }));
});

test('a paused job runs what a person asks for, once and as it was edited last, and nothing else', async () => {
  const [triggered, filled] = [http['triggered']!, http['filled']!];
  expect([triggered.statusCode, filled.statusCode, filled['count']]).toEqual([202, 202, 3]);
  const runs = (await runsOf('hourly')).map(({ runId, origin, state }) => [runId, origin, state]);
  expect(runs).toEqual([
    ...(filled['runIds'] as string[]).map((runId) => [runId, 'backfill', 'DONE']),
    [triggered['runId'], 'manual', 'DONE'],
  ]);
  expect(callsOf('hourly')).toEqual(Array(4).fill(expect.objectContaining({ attempt: 1, payload: 'new' })));
});

test('a run whose predecessor is at work is left out where its job says so', async () => {
  const firstTwo = (await runsOf('crowded')).slice(0, 2).map(({ state, reason }) => [state, reason]);
  // Which of the two came first is the queue's affair.
  expect(firstTwo.sort()).toEqual([
    ['DONE', undefined],
    ['SKIPPED', 'overlap'],
  ]);
});

test('what is deleted by queue is answered, with each notification that goes with its job', () => {
  const answers = (name: QueueName) => replies[name]!.map(({ version: _, ...answer }) => answer);
  const byRequest = (a: { requestId: string | null }, b: { requestId: string | null }) =>
    String(a.requestId).localeCompare(String(b.requestId));
  const notifyIdOf = (id: string) => replies['NOTIFY_CREATED']!.find(({ requestId }) => requestId === id)!.notifyId;
  expect(answers('JOB_DELETED').sort(byRequest)).toEqual([
    { requestId: 'r-end', ok: true, jobId: 'clockwork' },
    { requestId: 'r-forget', ok: true, jobId: 'hopeless' },
  ]);
  expect(answers('NOTIFY_DELETED').sort(byRequest)).toEqual([
    { requestId: 'r-forget', ok: true, jobId: 'hopeless', notifyId: notifyIdOf('r-failed'), state: 'FAILED' },
    { requestId: 'r-stop', ok: true, jobId: 'hopeless', notifyId: notifyIdOf('r-started') },
  ]);
});

test('no attempt starts before its due instant, and none twice', () => {
  expect(calls.filter(({ at, dueAt }) => at < Date.parse(dueAt))).toEqual([]);
  const attempts = calls.map(({ runId, attempt }) => `${runId} ${attempt}`);
  expect(new Set(attempts).size).toBe(attempts.length);
});
