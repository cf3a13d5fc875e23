import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Outcome } from '../../lambdas/job-resource/keep';
import { functionArn } from '../support/builders';
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

test('an API that does not answer is a failure that says so', async () => {
  deployed.functions.delete(API);
  expect(await create(nightly)).toMatchObject({
    Status: 'FAILED',
    Reason: expect.stringContaining('POST /jobs') as string,
  });
});
