import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Job } from '../../src/domain/job';
import { aJob, anActivation, aStartedRun, every, functionArn, HOUR, onceAt, SECOND } from '../support/builders';
import { deploy, type AwsCall, type QueueName } from '../support/deployment';
import { aGroup } from '../contracts/rows';
import { httpEvent, sqsEvent } from '../lambdas/recorded-events';

/** `<action> <variable>`, such as `dynamodb:GetItem JOBS_TABLE_NAME`, by the folder of the handler. */
export type Rights = Readonly<Record<string, ReadonlySet<string>>>;

/** What a day in the life below does not come to, and when it is needed. */
const RARELY_USED: Readonly<Record<string, string>> = {
  'job-creator: dynamodb:GetItem RUNS_TABLE_NAME':
    'dispatching finds an occurrence that was skipped and recorded before',
  'job-creator: sqs:SendMessage NOTIFY_QUEUE_URL': 'dispatching tells subscribers, of whom a new job has none',
  'job-deleter: dynamodb:GetItem RUNS_TABLE_NAME':
    'dispatching finds an occurrence that was skipped and recorded before',
  'job-deleter: dynamodb:GetItem GROUPS_TABLE_NAME': 'a job of a chain or batch goes only once the whole is over',
  'runner: dynamodb:DeleteItem JOBS_TABLE_NAME':
    'the large payload of a callback that another was faster to start is taken away',
  'scheduler: dynamodb:GetItem JOBS_TABLE_NAME':
    'a job with a large payload, whose run was given up, is kept as long as the run',
};

interface Statement {
  roleIds: string[];
  actions: string[];
  resources: string[];
}

/** A line for each role and resource with the actions on it, without the hashes of logical ids. */
export function tableOf(statements: readonly Statement[]): string {
  const withoutHash = (text: string) => text.replace(/(?<=[a-z])[0-9A-F]{8}\b/g, '');
  const actionsOn = new Map<string, Set<string>>();
  for (const { roleIds, actions, resources } of statements) {
    for (const line of roleIds.flatMap((role) => resources.map((on) => withoutHash(`${role} | ${on}`)))) {
      actionsOn.set(line, new Set([...(actionsOn.get(line) ?? []), ...actions]));
    }
  }
  return [...actionsOn]
    .map(([line, actions]) => `${line} | ${[...actions].sort().join(', ')}`)
    .sort()
    .join('\n');
}

/** Does each function have the rights that its calls need, and none beside? Its handlers run on the emulators to see. */
export function describeRights(rightsOf: () => Rights): void {
  let calls: readonly AwsCall[];
  beforeAll(async () => {
    calls = await callsOfADay();
  });

  test('every call that a function makes is one that its role allows', () => {
    const rights = rightsOf();
    const refused = calls.filter(({ handler, action, on }) => {
      return action !== 'lambda:InvokeFunction' && !rights[handler]?.has(`${action} ${on}`);
    });
    expect(refused).toEqual([]);
    expect(new Set(calls.map(({ handler }) => handler))).toEqual(new Set(Object.keys(rights)));
  });

  test('only the runner and the notifier call functions', () => {
    const calling = calls.filter(({ action }) => action === 'lambda:InvokeFunction').map(({ handler }) => handler);
    expect(new Set(calling)).toEqual(new Set(['runner', 'notifier']));
  });

  test('no role allows what its function has no use for', () => {
    const used = new Set(calls.map(({ handler, action, on }) => `${handler}: ${action} ${on}`));
    const unused = Object.entries(rightsOf()).flatMap(([handler, rights]) =>
      [...rights].map((right) => `${handler}: ${right}`).filter((right) => !used.has(right)),
    );
    expect(unused.sort()).toEqual(Object.keys(RARELY_USED).sort());
  });
}

/** Everything that the functions do, once. */
async function callsOfADay(): Promise<AwsCall[]> {
  const deployed = await deploy();
  const consumer = (name: string) => deployed.load<SQSEvent, SQSBatchResponse>(name);
  const api = deployed.load<unknown, { statusCode: number; body: string }>('api');
  const tick = deployed.load<unknown, unknown>('scheduler');
  const run = consumer('runner');
  const notify = consumer('notifier');
  const createJob = consumer('job-creator');
  const deleteJob = consumer('job-deleter');
  const createNotification = consumer('notification-creator');
  const deleteNotification = consumer('notification-deleter');

  const now = Date.now();
  const second = Math.floor(now / SECOND) * SECOND;
  const generations = [{ id: 'g1', startedAt: second - 2 * HOUR }];
  const large = 'x'.repeat(600);
  const target = { functionArn: functionArn('job-report') };
  const command = (fields: object) => JSON.stringify({ version: 1, ...fields });
  const bodies = async (name: QueueName) => (await deployed.bodiesIn(name)).map((body) => JSON.stringify(body));
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await api(
      httpEvent({
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    expect({ method, path, ...answer, isGood: answer.statusCode < 300 }).toMatchObject({ isGood: true });
    return answer.body === '' ? {} : (JSON.parse(answer.body) as Record<string, unknown>);
  };
  /** Runs every second for two hours, somebody hears of each run, and nobody has sent it for as long. */
  const overdue = (jobId: string, changes: Partial<Job> = {}) =>
    aJob({
      jobId,
      schedule: every('rate(1 second)', second - 2 * HOUR),
      dueAt: second - HOUR,
      generations,
      subscribedStates: ['SCHEDULED'],
      payload: JSON.stringify(large),
      ...changes,
    });

  deployed.functions.set('job-report', () => 'done');
  deployed.functions.set('notify-me', () => 'heard');

  await queueOfADay();

  // the API: a job with a large payload, its notifications, its deletion, and a new one under its id
  const notification = { state: 'STARTED', target: { functionArn: functionArn('notify-me') } };
  await call('POST', '/jobs', { jobId: 'a', target, schedule: 'rate(1 hour)', payload: large });
  await call('POST', '/jobs', { jobId: 'later', target }, { prefer: 'respond-async' });
  await call('GET', '/jobs');
  await call('GET', '/jobs/a');
  await call('GET', '/jobs/a/runs');
  const { notifyId } = await call('POST', '/jobs/a/notifications', notification);
  await call('GET', '/jobs/a/notifications');
  await call('POST', '/jobs/a/pause', { reason: 'why' });
  await call('PATCH', '/jobs/a', { payload: `${large}!` });
  await call('POST', '/jobs/a/resume');
  await call('POST', '/jobs/a/trigger', {}, { 'idempotency-key': 'k' });
  await call('POST', '/jobs/a/trigger', {}, { 'idempotency-key': 'k' });
  await call('PATCH', '/jobs/a', { schedule: 'cron(0 * * * ? *)' });
  await call('POST', '/jobs/a/backfill', { from: '2026-03-01T00:00:00Z', to: '2026-03-01T02:00:00Z' });
  await call('DELETE', `/jobs/a/notifications/${String(notifyId)}`);
  await call('POST', '/jobs/a/notifications', notification);
  await call('DELETE', '/jobs/a');
  await call('POST', '/jobs', { jobId: 'a', target, payload: large });
  await deployed.jobs.put(overdue('b'));
  await call('DELETE', '/jobs/b');
  await call('GET', '/jobs/a');

  // the same by queues
  const job = { jobId: 'c', target, schedule: 'rate(1 hour)', payload: large };
  await createJob(sqsEvent(command({ requestId: 'r1', job })));
  await createNotification(sqsEvent(command({ requestId: 'r2', jobId: 'c', notification })));
  await deleteJob(sqsEvent(command({ requestId: 'r3', jobId: 'c' })));
  await createJob(sqsEvent(command({ requestId: 'r4', job: { ...job, schedule: undefined } })));
  const locked = { target, priority: 'high', unique: { key: 'locked', forSeconds: 60, until: 'done' } };
  await createJob(sqsEvent(command({ requestId: 'r10', job: locked })));
  await deployed.jobs.put(overdue('d'));
  await deleteJob(sqsEvent(command({ requestId: 'r5', jobId: 'd' })));
  await deployed.jobs.put(overdue('urgent', { priority: 'high' }));
  await deleteJob(sqsEvent(command({ requestId: 'r11', jobId: 'urgent' })));
  await deleteJob(sqsEvent(command({ requestId: 'r6', jobId: 'c' })));

  // a tick with all that there can be: due jobs and runs, dead letters, a loop that goes on
  await deployed.jobs.put(overdue('e'));
  await deployed.jobs.put(overdue('hurried', { priority: 'high' }));
  await deployed.runs.put({ ...aStartedRun(), jobId: 'e', state: 'RELEASED', indexDueAt: second, dueAt: second });
  const given = {
    version: 1,
    jobId: 'lost',
    generation: 'g1',
    origin: 'scheduled',
    nominalAt: 0,
    dueAt: 0,
    sequence: 1,
  };
  await deployed.queue('JOB_ACTIVATION_DEAD_LETTER').send([{ body: JSON.stringify({ ...given, returns: 9 }) }]);
  const startedAt = new Date(now).toISOString();
  await tick({ startedAt, isFirst: true });
  await tick({ startedAt, isFirst: false });
  await tick({ sweep: true });

  // the runner: a job with a subscriber, a message whose row never came
  const runnable = aJob({
    jobId: 'f',
    schedule: onceAt(second),
    generations,
    subscribedStates: ['STARTED'],
    payload: JSON.stringify(large),
  });
  await deployed.jobs.put(runnable);
  await deployed.code.put({ codeId: runnable.codeId, kind: 'job', functionArn: runnable.functionArn });
  const activation = (jobId: string, dueAt: number) => JSON.stringify(anActivation({ jobId, nominalAt: dueAt, dueAt }));
  await run(sqsEvent(activation('f', second)));
  await run(sqsEvent(activation('f', second), activation('orphan', second - HOUR), activation('f', now + HOUR)));

  // the notifier: one who hears, one who is not there
  const subscription = { state: 'STARTED', target: { functionArn: functionArn('notify-nobody') } };
  await createNotification(sqsEvent(command({ requestId: 'r7', jobId: 'f', notification })));
  await createNotification(sqsEvent(command({ requestId: 'r8', jobId: 'f', notification: subscription })));
  const notices = (await bodies('NOTIFY')).filter((body) => body.includes('"f"'));
  await notify(sqsEvent(...notices, 'not JSON'));

  await deleteNotification(sqsEvent(command({ requestId: 'r9', jobId: 'f' })));

  await deployed.close();
  return deployed.calls;

  /** Limits, chains, batches, failed runs, cancelling and callbacks; while the queues hold nothing else. */
  async function queueOfADay() {
    const failing = { target: { functionArn: functionArn('job-failing') }, retry: { maxAttempts: 1 } };
    const events: { jobId: string; runId: string; token: string }[] = [];
    deployed.functions.set('job-failing', () => {
      throw new Error('by a test');
    });
    deployed.functions.set('job-callback', (event) => void events.push(event as (typeof events)[number]));
    deployed.functions.set('job-called', () => 'heard');
    /** All that can be carried now, and what follows from it. */
    const carry = async () => {
      for (;;) {
        const found = await bodies('JOB_ACTIVATION');
        const urgent = await bodies('JOB_ACTIVATION_HIGH');
        if (found.length + urgent.length === 0) return;
        const eventSourceARN = `arn:aws:sqs:eu-west-1:111122223333:${deployed.queueUrls.JOB_ACTIVATION_HIGH.split('/').at(-1)}`;
        await Promise.all([
          run(sqsEvent(...found)),
          run(sqsEvent(...urgent.map((body) => ({ body, eventSourceARN })))),
        ]);
      }
    };
    const called = { functionArn: functionArn('job-called') };
    const limits = {
      unique: { key: 'u', forSeconds: 60, until: 'done' },
      concurrency: { key: 'c', limit: 1 },
      rateLimit: { key: 'r', limit: 10, perSeconds: 60 },
    };
    await call('POST', '/jobs', { target, priority: 'high', ...limits });
    const again = { ...failing, priority: 'high', retry: { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 0 } } };
    await call('POST', '/jobs', again);
    await call('POST', '/jobs/bulk', { jobs: [{ target }, { target, payload: large }] });

    const { chainId } = await call('POST', '/chains', { jobs: [{ target }, failing, { target }], catch: called });
    const all = { then: called, catch: called, finally: called, progress: called };
    const { batchId } = await call('POST', '/batches', { jobs: [{ target }, [{ target }, failing]], ...all });
    await call('POST', `/batches/${String(batchId)}/jobs`, { jobs: [{ target, payload: large }] });
    await carry();
    await call('GET', `/chains/${String(chainId)}`);
    await call('GET', '/batches');
    const later = [{ target, delaySeconds: 600 }, { target }];
    const { chainId: waiting } = await call('POST', '/chains', { jobs: later });
    await carry();
    await call('POST', `/chains/${String(waiting)}/cancel`);
    await carry();

    const failed = async () => (await call('GET', '/failed'))['items'] as { jobId: string; runId: string }[];
    const [one, other] = await failed();
    await call('GET', `/failed/${one!.jobId}/${one!.runId}`);
    await call('POST', `/failed/${one!.jobId}/${one!.runId}/retry`);
    await call('POST', '/failed/retry', {});
    await carry();
    await call('DELETE', `/failed/${other!.jobId}/${other!.runId}`);
    await call('DELETE', '/failed');

    await call('POST', '/jobs', {
      jobId: 'callback',
      completion: 'callback',
      target: { functionArn: functionArn('job-callback') },
    });
    await carry();
    const [{ runId, token }] = events as [(typeof events)[number]];
    await call('POST', `/jobs/callback/runs/${runId}/heartbeat`, { token });
    await call('POST', `/jobs/callback/runs/${runId}/complete`, { token });
    await call('POST', '/jobs', { jobId: 'cancelled', target, delaySeconds: 600 });
    const { items } = (await call('GET', '/jobs/cancelled/runs')) as { items: { runId: string }[] };
    for (const { runId: waitingRun } of items) await call('POST', `/jobs/cancelled/runs/${waitingRun}/cancel`);
    await deployed.groups.put(aGroup({ createdAt: now - 2 * HOUR }));
  }
}
