import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { SqsQueue } from '../../../src/adapters/aws/sqs-queue';
import { HALF, SkippingClock } from './skipping-clock';

const sqs = mockClient(SQSClient);
const QUEUE_URL = 'https://sqs.eu-west-1.amazonaws.com/111122223333/job-activation';
let clock: SkippingClock;
let queue: SqsQueue;

beforeEach(() => {
  sqs.reset();
  clock = new SkippingClock();
  queue = new SqsQueue({ client: new SQSClient({ region: 'eu-west-1' }), queueUrl: QUEUE_URL, clock, random: HALF });
});

interface Batch {
  Entries: SendMessageBatchRequestEntry[];
}

const messages = (count: number) => Array.from({ length: count }, (_, index) => ({ body: `message ${index}` }));
const bodiesOf = (batch: Batch) => batch.Entries.map((entry) => entry.MessageBody!);
const taken = ({ Entries }: Batch) => ({ Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] });
const failed = (Id: string | undefined, Code: string, SenderFault = false) => ({ Id, Code, SenderFault });

/** Answers each call by the next of these, and the rest by taking everything. Gives what every call carried. */
function answering(...answers: ((batch: Batch) => unknown)[]): Batch[] {
  const calls: Batch[] = [];
  sqs.on(SendMessageBatchCommand).callsFake((batch: Batch) => (answers[calls.push(batch) - 1] ?? taken)(batch));
  return calls;
}

const clientFault = (name: string) => Object.assign(new Error(`${name}!`), { name, $fault: 'client' });

describe('sending', () => {
  test('of 23 messages only the two that failed and the chunk that threw are sent again', async () => {
    const delivered: string[] = [];
    const deliver = (batch: Batch, but: readonly string[] = []) => {
      const Successful = batch.Entries.filter(({ Id }) => !but.includes(Id!));
      delivered.push(...Successful.map((entry) => entry.MessageBody!));
      return { Successful, Failed: but.map((Id) => failed(Id, 'InternalError')) };
    };
    const calls = answering(
      (batch) => deliver(batch),
      (batch) => deliver(batch, ['3', '7']),
      () => {
        throw new Error('socket hang up');
      },
      (batch) => deliver(batch),
    );
    await queue.send(messages(23));
    expect(calls.map((call) => call.Entries.length)).toEqual([10, 10, 3, 5]);
    expect(bodiesOf(calls[3]!)).toEqual(['message 13', 'message 17', 'message 20', 'message 21', 'message 22']);
    expect(delivered.sort()).toEqual(
      messages(23)
        .map(({ body }) => body)
        .sort(),
    );
    expect(clock.waitedMs).toBeGreaterThan(0);
  });

  test('no call carries more than ten messages or a MiB', async () => {
    const calls = answering();
    const bodies = ['é'.repeat(262_144), 'x'.repeat(524_288), 'y', ...Array.from({ length: 11 }, () => 'z')];
    await queue.send(bodies.map((body) => ({ body })));
    expect(calls.map((call) => call.Entries.length)).toEqual([2, 10, 2]);
    expect(calls.flatMap(bodiesOf)).toEqual(bodies);
  });

  test('a message over a MiB is refused before anything is sent', async () => {
    const calls = answering();
    const large = { body: 'é'.repeat(524_289) };
    await expect(queue.send([{ body: 'small' }, large])).rejects.toThrow('1048578 bytes; SQS takes at most 1048576');
    expect(calls).toEqual([]);
  });

  test.each([900_001, Infinity, NaN])('a delay of %p ms is refused before anything is sent', async (delayMs) => {
    const calls = answering();
    await expect(queue.send([{ body: 'now' }, { body: 'late', delayMs }])).rejects.toBeInstanceOf(RangeError);
    expect(calls).toEqual([]);
  });

  test('a delay is rounded down to whole seconds', async () => {
    const calls = answering();
    const delays = [undefined, -5, 0, 999, 1000, 59_999.9, 900_000];
    await queue.send(delays.map((delayMs) => ({ body: 'x', ...(delayMs !== undefined && { delayMs }) })));
    expect(calls[0]?.Entries.map((entry) => entry.DelaySeconds)).toEqual([0, 0, 0, 0, 1, 59, 900]);
  });

  test('what is sent again does not come later for it', async () => {
    const calls = answering((batch) => {
      clock.pass(4_000);
      return { Failed: [failed(batch.Entries[0]?.Id, 'InternalError')] };
    });
    await queue.send([{ body: 'late', delayMs: 10_000 }]);
    expect(calls.map((call) => call.Entries[0]?.DelaySeconds)).toEqual([10, 5]);
  });

  test('an entry that the answer does not account for counts as failed', async () => {
    const calls = answering((batch) => ({ Successful: batch.Entries.slice(1).map(({ Id }) => ({ Id })) }));
    await queue.send(messages(3));
    expect(calls.map(bodiesOf)).toEqual([['message 0', 'message 1', 'message 2'], ['message 0']]);
  });

  test('what fails by its own fault is not sent again, and the error says how many and why', async () => {
    const calls = answering((batch) => ({
      Successful: [batch.Entries[0]],
      Failed: [failed('1', 'InvalidMessageContents', true), failed('2', 'InvalidMessageContents', true)],
    }));
    await expect(queue.send(messages(3))).rejects.toThrow(
      `2 of 3 messages were not sent (queue ${QUEUE_URL}): InvalidMessageContents`,
    );
    expect(calls).toHaveLength(1);
  });

  test('what goes on failing is given up after five tries', async () => {
    const always = (batch: Batch) => ({ Failed: batch.Entries.map(({ Id }) => failed(Id, 'InternalError')) });
    const calls = answering(...Array.from({ length: 20 }, () => always));
    await expect(queue.send(messages(11))).rejects.toThrow('11 of 11 messages were not sent');
    expect(calls.map((call) => call.Entries.length)).toEqual([10, 1, 10, 1, 10, 1, 10, 1, 10, 1]);
  });

  test('a queue that is not there is asked once, a throttled one again', async () => {
    const missing = answering(() => {
      throw clientFault('QueueDoesNotExist');
    });
    const error: unknown = await queue.send(messages(2)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: expect.stringContaining('2 of 2 messages were not sent') as unknown,
      cause: { name: 'QueueDoesNotExist' },
    });
    expect(missing).toHaveLength(1);
    const throttled = answering(() => {
      throw clientFault('RequestThrottled');
    });
    await queue.send(messages(2));
    expect(throttled).toHaveLength(2);
  });

  test('nothing to send is no call', async () => {
    const calls = answering();
    await queue.send([]);
    expect(calls).toEqual([]);
  });
});

describe('receiving', () => {
  test('asks for the count of deliveries and the instant of sending, and waits in whole seconds, at most 20', async () => {
    sqs.on(ReceiveMessageCommand).resolves({
      Messages: [
        {
          MessageId: 'id',
          ReceiptHandle: 'receipt',
          Body: 'body',
          Attributes: { ApproximateReceiveCount: '3', SentTimestamp: '1772366400123' },
        },
      ],
    });
    expect(await queue.receive(10, { waitMs: 1_500 })).toEqual([
      { messageId: 'id', receipt: 'receipt', body: 'body', receives: 3, sentAt: 1_772_366_400_123 },
    ]);
    await queue.receive(1, { waitMs: 60_000 });
    await queue.receive(1);
    const inputs = sqs.commandCalls(ReceiveMessageCommand).map((call) => call.args[0].input);
    expect(inputs.map((input) => input.WaitTimeSeconds)).toEqual([2, 20, 0]);
    expect(inputs[0]).toMatchObject({
      QueueUrl: QUEUE_URL,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
    });
  });

  test('a poll that is called off brings nothing; one that fails is an error', async () => {
    const calledOff = new AbortController();
    sqs.on(ReceiveMessageCommand).callsFake(() => {
      calledOff.abort();
      throw Object.assign(new Error('Request aborted'), { name: 'AbortError' });
    });
    expect(await queue.receive(10, { waitMs: 20_000, signal: calledOff.signal })).toEqual([]);
    expect(sqs.calls()[0]?.args).toEqual([expect.anything(), { abortSignal: calledOff.signal }]);
    await expect(queue.receive(10)).rejects.toThrow('Request aborted');
  });
});

describe('removing and hiding', () => {
  const receipts = Array.from({ length: 12 }, (_, index) => `receipt ${index}`);
  interface Receipts {
    Entries: { Id: string; ReceiptHandle: string; VisibilityTimeout?: number }[];
  }
  const all = ({ Entries }: Receipts) => ({ Successful: Entries.map(({ Id }) => ({ Id })) });

  const receiveOne = async (receipt: string) => {
    sqs.on(ReceiveMessageCommand).resolves({ Messages: [{ ReceiptHandle: receipt }] });
    await queue.receive(1);
  };
  const hiddenFor = () =>
    sqs
      .commandCalls(ChangeMessageVisibilityBatchCommand)
      .flatMap((call) => call.args[0].input.Entries?.map((entry) => entry.VisibilityTimeout));

  test('goes in tens', async () => {
    sqs.on(DeleteMessageBatchCommand).callsFake(all);
    sqs.on(ChangeMessageVisibilityBatchCommand).callsFake(all);
    await queue.remove(receipts);
    await queue.hide(receipts, 59_001);
    const sizes = (command: typeof DeleteMessageBatchCommand | typeof ChangeMessageVisibilityBatchCommand) =>
      sqs.commandCalls(command as typeof DeleteMessageBatchCommand).map((call) => call.args[0].input.Entries?.length);
    expect(sizes(DeleteMessageBatchCommand)).toEqual([10, 2]);
    expect(sizes(ChangeMessageVisibilityBatchCommand)).toEqual([10, 2]);
    // rounded up: a message must not come back before its time
    expect(new Set(hiddenFor())).toEqual(new Set([60]));
  });

  test.each(['ReceiptHandleIsInvalid', 'InvalidParameterValue', 'AWS.SimpleQueueService.MessageNotInflight'])(
    'a delivery that is over is no error: %s',
    async (code) => {
      const stale = ({ Entries }: Receipts) => ({ Failed: Entries.map(({ Id }) => failed(Id, code, true)) });
      sqs.on(DeleteMessageBatchCommand).callsFake(stale);
      sqs.on(ChangeMessageVisibilityBatchCommand).callsFake(stale);
      await queue.remove(['receipt']);
      await queue.hide(['receipt'], 1000);
      expect(sqs.calls()).toHaveLength(2);
    },
  );

  test('what fails otherwise is sent again, and an error in the end', async () => {
    const broken = ({ Entries }: Receipts) => ({ Failed: Entries.map(({ Id }) => failed(Id, 'InternalError')) });
    sqs.on(DeleteMessageBatchCommand).callsFakeOnce(broken).callsFake(all);
    sqs.on(ChangeMessageVisibilityBatchCommand).callsFake(broken);
    await queue.remove(['receipt']);
    expect(sqs.commandCalls(DeleteMessageBatchCommand)).toHaveLength(2);
    await expect(queue.hide(['receipt'], 1000)).rejects.toThrow('1 of 1 messages were not hidden');
  });

  test('a message held for 600 s is hidden for what is left of twelve hours since its receive', async () => {
    sqs.on(ChangeMessageVisibilityBatchCommand).callsFake(all);
    await receiveOne('receipt');
    clock.pass(600_000);
    await queue.hide(['receipt'], 43_200_000);
    expect(hiddenFor()).toEqual([43_200 - 600 - 10]);
  });

  test('a message that came by another way is taken to have been held for as long as a function lives', async () => {
    sqs.on(ChangeMessageVisibilityBatchCommand).callsFake(all);
    await queue.hide(['from a mapping'], 43_200_000);
    await queue.hide(['from a mapping'], 60_000);
    expect(hiddenFor()).toEqual([43_200 - 900 - 10, 60]);
  });

  test('a message held for twelve hours is left alone', async () => {
    await receiveOne('receipt');
    clock.pass(43_200_000);
    await queue.hide(['receipt'], 60_000);
    expect(sqs.commandCalls(ChangeMessageVisibilityBatchCommand)).toEqual([]);
  });
});
