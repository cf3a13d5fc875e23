import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { functionArn } from '../support/builders';
import { deploy } from '../support/deployment';
import { sqsEvent } from './recorded-events';

let deployed: Awaited<ReturnType<typeof deploy>>;
type Handler = (event: SQSEvent) => Promise<SQSBatchResponse>;
let createJob: Handler;
let deleteJob: Handler;
let createNotification: Handler;
let deleteNotification: Handler;

beforeAll(async () => {
  deployed = await deploy();
  createJob = deployed.load('job-creator');
  deleteJob = deployed.load('job-deleter');
  createNotification = deployed.load('notification-creator');
  deleteNotification = deployed.load('notification-deleter');
});
afterAll(() => deployed.close());

const command = (fields: object) => JSON.stringify({ version: 1, ...fields });
const jobCreate = (requestId: string, job: object = {}) =>
  command({
    requestId,
    job: {
      jobId: requestId,
      target: { functionArn: functionArn('job-report') },
      schedule: 'rate(1 hour)',
      ...job,
    },
  });
const notifyCreate = (requestId: string, jobId: string, state = 'DONE') =>
  command({ requestId, jobId, notification: { state, target: { functionArn: functionArn('notify-me') } } });

test('jobs asked for in one batch are created and answered, each by itself', async () => {
  const answer = await createJob(
    sqsEvent(
      jobCreate('one'),
      'not JSON',
      jobCreate('two', { target: { functionArn: functionArn('payroll') } }),
      command({ requestId: 'three' }),
      jobCreate('four'),
    ),
  );
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
  const replies = await deployed.bodiesIn('JOB_CREATED');
  expect(replies).toHaveLength(4);
  expect(replies).toEqual(
    expect.arrayContaining([
      { version: 1, requestId: 'one', ok: true, jobId: 'one' },
      { version: 1, requestId: 'four', ok: true, jobId: 'four' },
      expect.objectContaining({
        requestId: 'two',
        ok: false,
        errors: [expect.objectContaining({ field: 'job.target.functionArn' })],
      }),
      expect.objectContaining({ requestId: 'three', ok: false, errors: [expect.objectContaining({ field: 'job' })] }),
    ]),
  );
  expect(await deployed.jobs.read('two')).toBeUndefined();
});

test('a command that comes twice creates one job, and is answered twice alike', async () => {
  const body = jobCreate('twice', { payload: { amount: 1 } });
  expect(await createJob(sqsEvent(body))).toEqual({ batchItemFailures: [] });
  const first = await deployed.jobs.read('twice');
  expect(await createJob(sqsEvent(body))).toEqual({ batchItemFailures: [] });
  const reply = { version: 1, requestId: 'twice', ok: true, jobId: 'twice' };
  expect(await deployed.bodiesIn('JOB_CREATED')).toEqual([reply, reply]);
  expect((await deployed.jobs.read('twice'))?.lifeId).toBe(first?.lifeId);
});

test('a job and its notifications are deleted by one command, which reaches the notification deleter too', async () => {
  await createJob(sqsEvent(jobCreate('gone')));
  await createNotification(sqsEvent(notifyCreate('n1', 'gone', 'DONE'), notifyCreate('n2', 'gone', 'FAILED')));
  const created = await deployed.bodiesIn('NOTIFY_CREATED');
  expect(created).toEqual([expect.objectContaining({ ok: true }), expect.objectContaining({ ok: true })]);

  expect(await deleteJob(sqsEvent(command({ requestId: 'd1', jobId: 'gone' })))).toEqual({ batchItemFailures: [] });
  expect(await deployed.bodiesIn('JOB_DELETED')).toEqual([{ version: 1, requestId: 'd1', ok: true, jobId: 'gone' }]);
  expect((await deployed.jobs.read('gone'))?.state).toBe('DELETED');

  const passedOn = await deployed.bodiesIn('NOTIFY_DELETE');
  expect(await deleteNotification(sqsEvent(...passedOn.map((body) => JSON.stringify(body))))).toEqual({
    batchItemFailures: [],
  });
  const removed = await deployed.bodiesIn('NOTIFY_DELETED');
  const idsOf = (replies: unknown[]) => replies.map((reply) => (reply as { notifyId: string }).notifyId).sort();
  expect(idsOf(removed)).toEqual(idsOf(created));
  expect(await deployed.notifications.of('gone')).toEqual([]);
});

test('what is asked for of a job that is not there is answered, and does not come again', async () => {
  const absent = { requestId: 'r1', jobId: 'nowhere' };
  const none = { batchItemFailures: [] };
  expect(await deleteJob(sqsEvent(command(absent)))).toEqual(none);
  expect(await createNotification(sqsEvent(notifyCreate('r1', 'nowhere')))).toEqual(none);
  expect(await deleteNotification(sqsEvent(command(absent)))).toEqual(none);
  for (const queue of ['JOB_DELETED', 'NOTIFY_CREATED', 'NOTIFY_DELETED'] as const) {
    expect(await deployed.bodiesIn(queue)).toEqual([
      expect.objectContaining({ requestId: 'r1', ok: false, errors: [expect.objectContaining({ field: 'jobId' })] }),
    ]);
  }
});

test('of each command only the message that nobody can read comes again', async () => {
  for (const handler of [deleteJob, createNotification, deleteNotification]) {
    const answer = await handler(sqsEvent('not JSON', command({ requestId: 'r1', jobId: 'nowhere' })));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
  }
});

test('a message whose answer cannot be sent comes again', async () => {
  process.env['JOB_CREATED_QUEUE_URL'] += '-that-is-gone';
  createJob = deployed.load('job-creator');
  expect(await createJob(sqsEvent(jobCreate('one')))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
});
