import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { keepAsStackHasIt, type Outcome } from '../../lambdas/job-resource/keep';
import type { InvokeOutcome } from '../../src/ports';
import { scheduledRunIdOf } from '../../src/domain/activation';
import { aStartedRun, functionArn } from '../support/builders';
import { deploy } from '../support/deployment';

const API = 'the-api';

type Deployed = Awaited<ReturnType<typeof deploy>>;
let deployed: Deployed;
let ask: (event: object) => Promise<void>;
let server: Server;
let answers: Outcome[];

beforeEach(async () => {
  deployed = await deploy();
  process.env['API_FUNCTION_ARN'] = functionArn(API);
  const api = deployed.load<unknown, unknown>('api');
  deployed.functions.set(API, (event) => api(event));
  ask = deployed.load<object, void>('job-resource');
  answers = [];
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      answers.push(JSON.parse(Buffer.concat(chunks).toString()) as Outcome);
      response.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  delete process.env['API_FUNCTION_ARN'];
  await new Promise((resolve) => server.close(resolve));
  await deployed.close();
});

let requests = 0;

/** What CloudFormation is told of one request. */
async function outcomeOf(event: object): Promise<Outcome> {
  await ask({
    ResponseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer`,
    StackId: 'arn:aws:cloudformation:eu-west-1:111122223333:stack/app/1',
    RequestId: `request-${(requests += 1)}`,
    LogicalResourceId: 'Nightly',
    ResourceType: 'Custom::EscapementJob',
    ...event,
  });
  return answers.at(-1)!;
}

const properties = (definition: object) => ({ Definition: JSON.stringify(definition) });

const nightly = {
  jobId: 'nightly',
  target: { functionArn: functionArn('job-report') },
  schedule: 'cron(0 3 * * ? *)',
  timezone: 'Europe/London',
  tags: ['reports'],
  payload: { order: 7 },
};

const create = (definition: object, more: object = {}) =>
  outcomeOf({ RequestType: 'Create', ResourceProperties: properties(definition), ...more });
const update = (before: object, after: object, id: string, more: object = {}) =>
  outcomeOf({
    RequestType: 'Update',
    PhysicalResourceId: id,
    OldResourceProperties: properties(before),
    ResourceProperties: properties(after),
    ...more,
  });
const remove = (id: string, more: object = {}) =>
  outcomeOf({ RequestType: 'Delete', PhysicalResourceId: id, ResourceProperties: {}, ...more });

const SUCCESS = { Status: 'SUCCESS', PhysicalResourceId: 'nightly' };

test('a job is created with the stack, once though it is asked for twice', async () => {
  expect(await create(nightly, { RequestId: 'the-same' })).toMatchObject(SUCCESS);
  expect(await create(nightly, { RequestId: 'the-same' })).toMatchObject(SUCCESS);
  const job = await deployed.jobs.read('nightly');
  expect(job).toMatchObject({ state: 'ACTIVE', schedule: { timezone: 'Europe/London' }, tags: ['reports'] });
  expect(JSON.parse(job!.payload)).toEqual({ order: 7 });
});

test('a change of the stack edits the job, and what is no longer said goes back to its default', async () => {
  await create(nightly);
  const { timezone: _timezone, payload: _payload, ...rest } = nightly;
  const after = { ...rest, schedule: 'rate(5 minutes)', tags: [] };
  expect(await update(nightly, after, 'nightly')).toMatchObject(SUCCESS);
  expect(await update(nightly, after, 'nightly')).toMatchObject(SUCCESS);
  const job = await deployed.jobs.read('nightly');
  expect(job).toMatchObject({
    schedule: { expression: 'rate(5 minutes)', timezone: 'UTC' },
    tags: [],
    payload: 'null',
  });
});

test('another id is another job: the new one is created, and CloudFormation deletes the old one', async () => {
  await create(nightly);
  const after = { ...nightly, jobId: 'each-night' };
  expect(await update(nightly, after, 'nightly')).toMatchObject({
    Status: 'SUCCESS',
    PhysicalResourceId: 'each-night',
  });
  expect(await remove('nightly')).toMatchObject(SUCCESS);
  expect(await deployed.jobs.read('nightly')).toMatchObject({ state: 'DELETED' });
  expect(await deployed.jobs.read('each-night')).toMatchObject({ state: 'ACTIVE' });
});

test('a job that somebody deleted by hand is created again by the next change', async () => {
  await create(nightly);
  await remove('nightly');
  expect(await update(nightly, { ...nightly, tags: ['again'] }, 'nightly')).toMatchObject(SUCCESS);
  expect(await deployed.jobs.read('nightly')).toMatchObject({ state: 'ACTIVE', tags: ['again'] });
});

test('a job is deleted with the stack, and deleting what is gone is no failure', async () => {
  await create(nightly);
  expect(await remove('nightly')).toMatchObject(SUCCESS);
  expect(await remove('nightly')).toMatchObject(SUCCESS);
  expect(await remove('never-there')).toMatchObject({ Status: 'SUCCESS' });
});

test('what is wrong is told in the words of the API, and nothing is left of it', async () => {
  const outcome = await create({ ...nightly, schedule: 'cron(0 25 * * ? *)' });
  expect(outcome).toMatchObject({ Status: 'FAILED', Reason: expect.stringMatching(/schedule .*25/) as string });
  expect(await deployed.jobs.read('nightly')).toBeUndefined();
  expect(await remove(outcome.PhysicalResourceId)).toMatchObject({ Status: 'SUCCESS' });
});

test('a creation that failed because the id is taken does not delete the job of another', async () => {
  await create(nightly);
  const outcome = await create({ ...nightly, tags: ['mine'] });
  expect(outcome).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining('nightly') as string });
  await remove(outcome.PhysicalResourceId);
  expect(await deployed.jobs.read('nightly')).toMatchObject({ state: 'ACTIVE', tags: ['reports'] });
});

test('a notification comes and goes with the stack', async () => {
  await create(nightly);
  const kind = { ResourceType: 'Custom::EscapementNotification' };
  const told = { jobId: 'nightly', state: 'FAILED', target: { functionArn: functionArn('notify-print') } };
  const { Status, PhysicalResourceId } = await create(told, kind);
  expect(Status).toBe('SUCCESS');
  const [notification] = await deployed.notifications.of('nightly');
  expect(PhysicalResourceId).toBe(`nightly/${notification!.notifyId}`);
  expect(await remove(PhysicalResourceId, kind)).toMatchObject({ Status: 'SUCCESS' });
  expect(await remove(PhysicalResourceId, kind)).toMatchObject({ Status: 'SUCCESS' });
  expect(await deployed.notifications.of('nightly')).toEqual([]);
});

test('a notification that nothing changes keeps its id, and a change that is rolled back finds the one that it had', async () => {
  await create(nightly);
  const kind = { ResourceType: 'Custom::EscapementNotification' };
  const failed = { jobId: 'nightly', state: 'FAILED', target: { functionArn: functionArn('notify-print') } };
  const done = { ...failed, state: 'DONE' };
  const { PhysicalResourceId: first } = await create(failed, kind);
  expect(await update(failed, failed, first, kind)).toEqual(expect.objectContaining({ PhysicalResourceId: first }));
  const { PhysicalResourceId: second } = await update(failed, done, first, kind);
  expect(second).not.toBe(first);
  expect(await update(done, failed, second, kind)).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: first });
  await remove(second, kind);
  expect((await deployed.notifications.of('nightly')).map(({ state }) => state)).toEqual(['FAILED']);
});

test('a notification that a stack takes out and has again is there again', async () => {
  await create(nightly);
  const kind = { ResourceType: 'Custom::EscapementNotification' };
  const told = { jobId: 'nightly', state: 'FAILED', target: { functionArn: functionArn('notify-print') } };
  const { PhysicalResourceId: first } = await create(told, kind);
  await remove(first, kind);
  const { PhysicalResourceId: second } = await create(told, kind);
  const [notification] = await deployed.notifications.of('nightly');
  expect(second).toBe(`nightly/${notification?.notifyId}`);
});

test('an update that changes nothing leaves the job as it is', async () => {
  await create(nightly);
  const before = await deployed.jobs.read('nightly');
  expect(await update(nightly, nightly, 'nightly')).toMatchObject(SUCCESS);
  expect(await deployed.jobs.read('nightly')).toEqual(before);
});

test.each([
  ['unique', { ...nightly, unique: { key: 'a' } }, { ...nightly, unique: { key: 'b' } }],
  ['schedule', nightly, { jobId: 'nightly', target: nightly.target }],
  ['delaySeconds', { ...nightly, schedule: undefined, timezone: undefined, delaySeconds: 9_000 }, nightly],
])(
  'what cannot be changed about %s fails the deployment, and going back from there does not',
  async (field, was, now) => {
    expect(await create(was)).toMatchObject(SUCCESS);
    const before = await deployed.jobs.read('nightly');
    const refused = await update(was, now, 'nightly');
    expect(refused).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining(field) as string });
    expect(await update(now, was, 'nightly')).toMatchObject(SUCCESS);
    const { generations: _is, revision: _now, ...after } = (await deployed.jobs.read('nightly'))!;
    expect(before).toMatchObject(after);
  },
);

test('a change of a job that runs once and has begun is refused, and going back from there is not', async () => {
  const once = { jobId: 'nightly', target: nightly.target, payload: { order: 7 } };
  await create(once);
  const { schedule } = (await deployed.jobs.read('nightly'))!;
  const runId = scheduledRunIdOf('nightly', schedule.kind === 'once' ? schedule.at : 0);
  expect(await deployed.runs.put({ ...aStartedRun(), jobId: 'nightly', runId })).toBe(true);
  const other = { ...once, payload: { order: 8 }, retry: { maxAttempts: 9 } };
  expect(await update(once, other, 'nightly')).toMatchObject({
    Status: 'FAILED',
    Reason: expect.stringContaining('runs once and has begun') as string,
  });
  expect(await update(other, once, 'nightly')).toMatchObject(SUCCESS);
});

test('a replacement that is rolled back has the old job again, but never the job of another', async () => {
  await create(nightly);
  const weekly = { ...nightly, jobId: 'weekly' };
  await create({ ...weekly, tags: ['of another'] });
  const successor = { ...nightly, jobId: 'each-night' };
  await update(nightly, successor, 'nightly');
  expect(await update(successor, nightly, 'each-night')).toMatchObject(SUCCESS);
  expect(await update(nightly, weekly, 'nightly')).toMatchObject({ Status: 'FAILED', PhysicalResourceId: 'nightly' });
  expect(await deployed.jobs.read('weekly')).toMatchObject({ tags: ['of another'] });
});

describe('an API that does not answer', () => {
  const outcomeWith = async (outcomes: InvokeOutcome[]) => {
    const waits: number[] = [];
    const event = {
      RequestType: 'Create',
      RequestId: 'request',
      ResourceType: 'Custom::EscapementJob',
      ResourceProperties: properties(nightly),
    } as unknown as CloudFormationCustomResourceEvent;
    const outcome = await keepAsStackHasIt(event, {
      apiFunctionArn: functionArn(API),
      invoker: { invoke: () => Promise.resolve(outcomes.length > 1 ? outcomes.shift()! : outcomes[0]!) },
      wait: (ms) => Promise.resolve(void waits.push(ms)),
    });
    return { outcome, waits };
  };
  const throttled: InvokeOutcome = { kind: 'held-back', reason: 'throttled', message: 'too many' };
  const answered = (statusCode: number): InvokeOutcome => ({
    kind: 'returned',
    result: JSON.stringify({ statusCode, body: '{}' }),
  });

  test('is asked again, longer and longer, since a stack asks for all its jobs at once', async () => {
    const { outcome, waits } = await outcomeWith([throttled, answered(500), throttled, answered(201)]);
    expect(outcome).toEqual(SUCCESS);
    expect(waits).toEqual([1_000, 2_000, 4_000]);
  });

  test('is a failure in the end, which says why', async () => {
    const { outcome, waits } = await outcomeWith([throttled]);
    expect(outcome).toMatchObject({
      Status: 'FAILED',
      Reason: 'the API did not answer POST /jobs: throttled: too many',
    });
    expect(waits).toHaveLength(5);
  });

  test('is a failure at once where waiting does not help', async () => {
    const { outcome, waits } = await outcomeWith([{ kind: 'refused', reason: 'function-not-found', message: 'gone' }]);
    expect(outcome).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining('gone') as string });
    expect(waits).toEqual([]);
  });
});
