import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Activation } from '../../src/domain/activation';
import type { Job } from '../../src/domain/job';
import { aJob, anActivation, HOUR, onceAt } from '../support/builders';
import { deploy } from '../support/deployment';
import { sqsEvent } from './recorded-events';

let deployed: Awaited<ReturnType<typeof deploy>>;
let handler: (event: SQSEvent) => Promise<SQSBatchResponse>;
let dueAt: number;

beforeAll(async () => {
  deployed = await deploy();
  handler = deployed.load('runner');
  dueAt = Date.now() - 100;
});
beforeEach(() => deployed.functions.clear());
afterAll(() => deployed.close());

/** A job that is due, and the message that says so. */
async function dueJob(jobId: string, changes: Partial<Job> = {}): Promise<string> {
  const job = aJob({
    jobId,
    schedule: onceAt(dueAt),
    generations: [{ id: 'g1', startedAt: dueAt - HOUR }],
    ...changes,
  });
  await deployed.jobs.put(job);
  await deployed.code.put({ codeId: job.codeId, kind: 'job', functionArn: job.functionArn });
  return JSON.stringify(anActivation({ jobId, nominalAt: dueAt, dueAt }) satisfies Activation);
}

const runsOf = async (jobId: string) => (await deployed.runs.list({ jobId, limit: 10 })).items;

test('an activation calls the code once, and the run is DONE', async () => {
  const calls: unknown[] = [];
  deployed.functions.set('job-report', (event) => calls.push(event));
  expect(await handler(sqsEvent(await dueJob('job-1', { payload: '{"a":[1]}' })))).toEqual({ batchItemFailures: [] });
  expect(calls).toEqual([expect.objectContaining({ jobId: 'job-1', attempt: 1, payload: { a: [1] } })]);
  expect(await runsOf('job-1')).toMatchObject([{ state: 'DONE', attempt: 1, result: '1' }]);
});

test('only the messages of a batch that nobody can read come again', async () => {
  deployed.functions.set('job-report', () => 'done');
  const event = sqsEvent(await dueJob('job-2'), 'not JSON', '{"version":1}', '', await dueJob('job-2-beside'));
  expect(await handler(event)).toEqual({
    batchItemFailures: [{ itemIdentifier: 'm1' }, { itemIdentifier: 'm2' }, { itemIdentifier: 'm3' }],
  });
  expect(await runsOf('job-2')).toMatchObject([{ state: 'DONE' }]);
  expect(await runsOf('job-2-beside')).toMatchObject([{ state: 'DONE' }]);
});

test('a message that comes twice in a batch starts its run once', async () => {
  const calls: unknown[] = [];
  deployed.functions.set('job-report', (event) => calls.push(event));
  const body = await dueJob('job-3');
  expect(await handler(sqsEvent(body, body))).toEqual({ batchItemFailures: [] });
  expect(calls).toHaveLength(1);
  expect(await runsOf('job-3')).toHaveLength(1);
});

test('a message that comes again after its run calls nothing', async () => {
  const calls: unknown[] = [];
  deployed.functions.set('job-report', (event) => calls.push(event));
  const event = sqsEvent(await dueJob('job-4'));
  await handler(event);
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  expect(calls).toHaveLength(1);
});

test('code that fails makes its run wait for a retry, and its message does not come again', async () => {
  deployed.functions.set('job-report', () => {
    throw new TypeError('by a test');
  });
  expect(await handler(sqsEvent(await dueJob('job-5')))).toEqual({ batchItemFailures: [] });
  expect(await runsOf('job-5')).toMatchObject([{ state: 'RELEASED', error: { type: 'TypeError' } }]);
});

test('a function that is not there fails its run at once', async () => {
  await handler(sqsEvent(await dueJob('job-6')));
  expect(await runsOf('job-6')).toMatchObject([{ state: 'FAILED', reason: 'function-not-found' }]);
});

test('the first call on a batch hides its messages for 60 s', async () => {
  deployed.calls.length = 0;
  await handler(sqsEvent('not JSON', 'not JSON either'));
  expect(deployed.calls[0]).toMatchObject({
    action: 'sqs:ChangeMessageVisibility',
    on: 'JOB_ACTIVATION_QUEUE_URL',
    input: { Entries: [{ VisibilityTimeout: 60 }, { VisibilityTimeout: 60 }] },
  });
});

test('a batch of the queue for high priority is hidden on that queue', async () => {
  deployed.functions.set('job-report', () => 'done');
  deployed.calls.length = 0;
  const name = deployed.queueUrls.JOB_ACTIVATION_HIGH.split('/').at(-1);
  const event = sqsEvent({ body: await dueJob('job-7'), eventSourceARN: `arn:aws:sqs:eu-west-1:111122223333:${name}` });
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  const [first, ...others] = deployed.calls.filter(({ action }) => action === 'sqs:ChangeMessageVisibility');
  expect(first).toMatchObject({ on: 'JOB_ACTIVATION_HIGH_QUEUE_URL' });
  expect(others).toEqual([]);
  expect(await runsOf('job-7')).toMatchObject([{ state: 'DONE' }]);
});

test('a batch is carried even when its messages cannot be hidden', async () => {
  deployed.functions.set('job-report', () => 'done');
  const event = sqsEvent(await dueJob('job-8'));
  process.env['JOB_ACTIVATION_QUEUE_URL'] += '-that-is-gone';
  handler = deployed.load('runner');
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  expect(await runsOf('job-8')).toMatchObject([{ state: 'DONE' }]);
});
