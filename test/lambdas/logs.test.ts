/** What the deployed handlers write down while they carry what users wrote, of which no word may be in it. */
import { format } from 'node:util';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { functionArn } from '../support/builders';
import { deploy, type QueueName } from '../support/deployment';
import { carryBatch } from '../support/mappings';
import { httpEvent, sqsEvent } from './recorded-events';

const MARKER = 'nobody-may-read-this';

let written = '';
let lines: Record<string, unknown>[];

/** More than we ship, which is INFO. */
const LEVEL = 'DEBUG';

function capture() {
  const hear = (chunk: unknown) => {
    written += typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString();
    return true;
  };
  jest.spyOn(process.stdout, 'write').mockImplementation(hear);
  jest.spyOn(process.stderr, 'write').mockImplementation(hear);
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
    jest.spyOn(console, method).mockImplementation((...said: unknown[]) => void hear(`${format(...said)}\n`));
  }
}

beforeAll(async () => {
  let isBroken = false;
  const deployed = await deploy({
    around: async (_, send) => {
      if (isBroken) throw Object.assign(new Error(`refused: ${MARKER}`), { name: 'ValidationException' });
      return send();
    },
  });
  process.env['POWERTOOLS_LOG_LEVEL'] = LEVEL;
  capture();
  const consumer = (name: string) => deployed.load<SQSEvent, SQSBatchResponse>(name);
  const api = deployed.load<unknown, { statusCode: number; body: string }>('api');
  const scheduler = deployed.load<unknown, unknown>('scheduler');
  const consumers: Partial<Record<QueueName, (event: SQSEvent) => Promise<SQSBatchResponse>>> = {
    JOB_CREATE: consumer('job-creator'),
    JOB_DELETE: consumer('job-deleter'),
    NOTIFY_CREATE: consumer('notification-creator'),
    NOTIFY_DELETE: consumer('notification-deleter'),
    JOB_ACTIVATION: consumer('runner'),
    NOTIFY: consumer('notifier'),
  };
  const carry = async (name: QueueName) => {
    for (;;) {
      const messages = await deployed.queue(name).receive(10);
      if (messages.length === 0) return;
      await carryBatch(messages, deployed.queue(name), consumers[name]!);
    }
  };
  const say = (fault: string) => Object.assign(new Error(`${MARKER} ${fault}`), { name: MARKER });
  deployed.functions.set('job-report', () => ({ result: MARKER }));
  deployed.functions.set('job-flaky', () => {
    throw say('flaky');
  });
  deployed.functions.set('job-hopeless', () => {
    throw Object.assign(say('hopeless'), { name: 'NonRetriableError' });
  });
  deployed.functions.set('notify-me', () => MARKER);
  deployed.functions.set('notify-unwell', () => {
    throw say('unwell');
  });

  const target = (name: string) => ({ target: { functionArn: functionArn(name) } });
  const call = async (method: string, path: string, body?: object | string) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    return api(httpEvent({ method, path, headers, ...(body === undefined ? {} : { body: text }) }));
  };
  const job = (jobId: string, name: string) => ({
    jobId,
    name: MARKER,
    tags: [MARKER],
    payload: MARKER,
    ...target(name),
  });
  const command = (fields: object) => ({ body: JSON.stringify({ version: 1, ...fields }) });

  // by HTTP, right, wrong, and when the store refuses
  await call('POST', '/jobs', { ...job('later', 'job-report'), delaySeconds: 800 });
  for (const [state, name] of [
    ['DONE', 'notify-me'],
    ['DONE', 'notify-unwell'],
    ['FAILED', 'notify-me'],
  ] as const) {
    await call('POST', '/jobs/later/notifications', { state, ...target(name) });
  }
  await call('POST', '/jobs/later/pause', { reason: MARKER, by: MARKER });
  await call('PATCH', '/jobs/later', { payload: `${MARKER}, edited` });
  await call('POST', '/jobs/later/resume');
  await call('POST', '/jobs/later/trigger');
  await call('POST', '/jobs', { ...job('wrong', 'job-report'), payload: MARKER, [MARKER]: MARKER, schedule: MARKER });
  await call('POST', '/jobs', `{ "payload": "${MARKER}`);
  isBroken = true;
  await call('POST', '/jobs', job('refused', 'job-report'));
  isBroken = false;

  // by queue
  await deployed
    .queue('JOB_CREATE')
    .send([
      command({ requestId: 'r1', job: job('report', 'job-report') }),
      command({ requestId: 'r2', job: job('flaky', 'job-flaky') }),
      command({ requestId: 'r3', job: job('hopeless', 'job-hopeless') }),
      command({ requestId: 'r4', job: { ...job('wrong', 'job-report'), schedule: MARKER } }),
    ]);
  await consumers.JOB_CREATE!(sqsEvent(`not JSON: ${MARKER}`));
  await carry('JOB_CREATE');
  const subscription = (requestId: string, name: string) =>
    command({ requestId, jobId: 'report', notification: { state: 'DONE', ...target(name) } });
  await deployed.queue('NOTIFY_CREATE').send([subscription('r5', 'notify-me'), subscription('r6', 'notify-unwell')]);
  await carry('NOTIFY_CREATE');

  // they run, and are told of
  await scheduler({ startedAt: new Date().toISOString(), isFirst: true });
  await carry('JOB_ACTIVATION');
  await consumers.JOB_ACTIVATION!(sqsEvent(`not JSON: ${MARKER}`));
  await carry('NOTIFY');
  await consumers.NOTIFY!(sqsEvent(`not JSON: ${MARKER}`));
  await call('GET', '/jobs/report/runs');
  await deployed.queue('JOB_DELETE').send([command({ requestId: 'r7', jobId: 'report' })]);
  await carry('JOB_DELETE');
  await carry('NOTIFY_DELETE');
  await scheduler({ sweep: true });

  jest.restoreAllMocks();
  await deployed.close();
  lines = written
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
});

const told = (message: string) => lines.filter((line) => line['message'] === message);

test('everything was told of: jobs that ran and failed, subscribers, what is wrong and what cannot be read', () => {
  expect(told('run').map(({ jobId, state }) => `${String(jobId)} ${String(state)}`)).toEqual(
    expect.arrayContaining(['report DONE', 'flaky RELEASED', 'hopeless FAILED', 'later DONE']),
  );
  for (const message of [
    'ticked',
    'swept',
    'notified',
    'not-notified',
    'notice-left',
    'message-left',
    'request-failed',
  ]) {
    expect({ message, count: told(message).length }).not.toEqual({ message, count: 0 });
  }
});

test('no line has a word of a payload, a result, an error, a name, a tag or a reason of a user', () => {
  expect(written.split('\n').filter((line) => line.includes(MARKER))).toEqual([]);
});

test('each line of a run has the ids of its job and its run', () => {
  for (const line of told('run')) {
    expect(line).toMatchObject({ jobId: expect.any(String) as unknown, runId: expect.any(String) as unknown });
  }
});

test('metrics are part of the lines that tell of what they count', () => {
  const counted = (name: string) => lines.filter((line) => '_aws' in line && name in line);
  const sum = (name: string) => counted(name).reduce((total, line) => total + Number(line[name]), 0);
  expect({ ticks: sum('Ticks'), done: sum('RunsDone'), failed: sum('RunsFailed') }).toEqual({
    ticks: told('ticked').length,
    done: told('run').filter(({ state }) => state === 'DONE').length,
    failed: told('run').filter(({ state }) => state === 'FAILED').length,
  });
  expect(counted('LatenessMs').length).toBe(told('run').filter(({ state }) => state === 'STARTED').length);
});
