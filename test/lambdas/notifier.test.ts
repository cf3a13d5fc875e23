import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { eventOf } from '../../src/domain/event';
import { codeIdOf } from '../../src/domain/guid';
import { aStartedRun, functionArn } from '../support/builders';
import { deploy } from '../support/deployment';
import { sqsEvent } from './recorded-events';

let deployed: Awaited<ReturnType<typeof deploy>>;
let handler: (event: SQSEvent) => Promise<SQSBatchResponse>;

const event = eventOf(aStartedRun());
const noticeOf = (jobId: string) => JSON.stringify({ version: 1, jobId, lifeId: 'g1', state: 'STARTED', event });

beforeAll(async () => {
  deployed = await deploy();
  handler = deployed.load('notifier');
});
afterAll(() => deployed.close());

async function subscribe(jobId: string, name: string, state: 'STARTED' | 'DONE' = 'STARTED') {
  const arn = functionArn(name);
  const codeId = codeIdOf(arn);
  await deployed.code.put({ codeId, kind: 'notification', functionArn: arn });
  await deployed.notifications.put({
    jobId,
    notifyId: name,
    state,
    functionArn: arn,
    codeId,
    lifeId: 'g1',
    createdAt: 0,
  });
}

test('a notice reaches whoever subscribed to that state of that job, and nobody else', async () => {
  const calls: unknown[] = [];
  for (const name of ['notify-one', 'notify-two', 'notify-done']) {
    deployed.functions.set(name, (given) => void calls.push([name, given]));
  }
  await subscribe('wanted', 'notify-one');
  await subscribe('wanted', 'notify-two');
  await subscribe('wanted', 'notify-done', 'DONE');
  expect(await handler(sqsEvent(noticeOf('wanted')))).toEqual({ batchItemFailures: [] });
  expect(calls.sort()).toEqual([
    ['notify-one', event],
    ['notify-two', event],
  ]);
});

test('a notice of which nobody wants to hear is let go', async () => {
  expect(await handler(sqsEvent(noticeOf('unwanted')))).toEqual({ batchItemFailures: [] });
});

test('of a batch only what nobody can read, and what its subscriber failed on, comes again', async () => {
  const served: unknown[] = [];
  deployed.functions.set('notify-one', (given) => {
    if (served.push(given) === 2) throw new Error('by a test');
  });
  await subscribe('unlucky', 'notify-one');
  const notice = noticeOf('unlucky');
  const { batchItemFailures } = await handler(sqsEvent(notice, 'not JSON', notice, '[]'));
  const ids = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  expect(served).toHaveLength(2);
  expect(ids).toEqual(expect.arrayContaining(['m1', 'm3']));
  expect(ids).toHaveLength(3);
});
