import { InvokeCommand, LambdaClient, type InvokeCommandOutput } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { LambdaInvoker } from '../../../src/adapters/aws/lambda-invoker';
import { HandClock } from '../../support/hand-clock';

const lambda = mockClient(LambdaClient);
const ARN = 'arn:aws:lambda:eu-west-1:111122223333:function:job-report';
let clock: HandClock;
let invoker: LambdaInvoker;

beforeEach(() => {
  lambda.reset();
  clock = new HandClock(1_772_366_400_000);
  invoker = new LambdaInvoker({ clock });
});

const invoke = (functionArn = ARN) =>
  invoker.invoke({ functionArn, event: '{"n":9007199254740993}', timeoutMs: 60_000 });

function answer(payload: string | Uint8Array | undefined, functionError?: string): void {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  lambda.on(InvokeCommand).resolves({
    StatusCode: 200,
    ...(bytes && { Payload: bytes as NonNullable<InvokeCommandOutput['Payload']> }),
    ...(functionError !== undefined && { FunctionError: functionError }),
  });
}

function throwing(name: string, httpStatusCode?: number): void {
  lambda.on(InvokeCommand).rejects(Object.assign(new Error(`${name}!`), { name, $metadata: { httpStatusCode } }));
}

describe('the call', () => {
  test('is synchronous, is made once, and carries the text as it is', async () => {
    answer('{"ok":true}');
    await invoke();
    expect(lambda.calls()).toHaveLength(1);
    const { Payload: payload, ...input } = lambda.commandCalls(InvokeCommand)[0]!.args[0].input;
    expect(input).toEqual({ FunctionName: ARN, InvocationType: 'RequestResponse' });
    expect(Buffer.from(payload as Uint8Array).toString('utf8')).toBe('{"n":9007199254740993}');
  });

  test.each([`${ARN}:live`, `${ARN}:42`, `${ARN}:$LATEST`, ARN])(
    'names the function exactly as given: %s',
    async (arn) => {
      answer('null');
      await invoke(arn);
      expect(lambda.commandCalls(InvokeCommand)[0]!.args[0].input.FunctionName).toBe(arn);
    },
  );

  test('goes to the region of the ARN, with one client for each', async () => {
    const regions: string[] = [];
    invoker = new LambdaInvoker({
      clock,
      clientFor: (region) => {
        regions.push(region);
        return new LambdaClient({ region });
      },
    });
    answer('null');
    for (const region of ['eu-west-1', 'us-gov-west-1', 'eu-west-1', 'us-gov-west-1']) {
      const partition = region.startsWith('us-gov') ? 'aws-us-gov' : 'aws';
      await invoke(`arn:${partition}:lambda:${region}:111122223333:function:job-report`);
    }
    expect(regions).toEqual(['eu-west-1', 'us-gov-west-1']);
    const used = lambda.commandCalls(InvokeCommand).map((call) => call.thisValue as LambdaClient);
    expect(await Promise.all(used.map((client) => client.config.region()))).toEqual([
      'eu-west-1',
      'us-gov-west-1',
      'eu-west-1',
      'us-gov-west-1',
    ]);
  });

  test.each([
    '',
    'job-report',
    'arn:aws:lambda:eu-west-1:111122223333:job-report',
    'arn:aws:sqs:eu-west-1:111122223333:function:job-report',
    `${ARN}:a:b`,
    `${ARN} `,
  ])('is not made for what is no ARN of a function: "%s"', async (arn) => {
    expect(await invoke(arn)).toMatchObject({ kind: 'refused', reason: 'malformed-arn' });
    expect(lambda.calls()).toEqual([]);
  });
});

describe('an answer without FunctionError is a result', () => {
  test.each([
    ['JSON as the code wrote it', '{"id":9007199254740993, "z":-0.0}', '{"id":9007199254740993, "z":-0.0}'],
    ['what looks like an error but was returned', '{"errorMessage":"x"}', '{"errorMessage":"x"}'],
    ['null', 'null', 'null'],
    ['nothing', undefined, 'null'],
    ['no bytes', '', 'null'],
    ['text that is not JSON', 'all "well"', '"all \\"well\\""'],
    ['emoji', '"👩‍👧"', '"👩‍👧"'],
  ])('%s', async (_what, payload, result) => {
    answer(payload);
    expect(await invoke()).toEqual({ kind: 'returned', result });
  });
});

describe('a FunctionError is a failed attempt', () => {
  test.each([
    ['a handler that threw', '{"errorType":"TypeError","errorMessage":"no x","trace":[]}', 'TypeError', 'no x'],
    [
      'a function that ran out of memory',
      '{"errorType":"Runtime.ExitError","errorMessage":"RequestId: 1 Error: Runtime exited with error: signal: killed"}',
      'Runtime.ExitError',
      'RequestId: 1 Error: Runtime exited with error: signal: killed',
    ],
    [
      'a function that ran out of time',
      '{"errorMessage":"2027-05-04T09:00:03Z 1 Task timed out after 3.00 seconds"}',
      'Timeout',
      '2027-05-04T09:00:03Z 1 Task timed out after 3.00 seconds',
    ],
    [
      'a function that ran out of time, as newer runtimes say it',
      '{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: 1 Error: Task timed out after 3.00 seconds"}',
      'Timeout',
      'RequestId: 1 Error: Task timed out after 3.00 seconds',
    ],
    ['an error without a type', '{"errorMessage":"no"}', 'Unhandled', 'no'],
    ['an error whose parts are no text', '{"errorType":7,"errorMessage":{"a":1}}', 'Unhandled', '{"a":1}'],
    ['an error without a message', '{"errorType":"E","code":1}', 'E', '{"errorType":"E","code":1}'],
    ['text', 'segmentation fault', 'Unhandled', 'segmentation fault'],
    ['a bare JSON text', '"no"', 'Unhandled', '"no"'],
    ['null', 'null', 'Unhandled', 'null'],
    ['a list', '[1]', 'Unhandled', '[1]'],
    ['nothing', undefined, 'Unhandled', ''],
  ])('%s', async (_what, payload, type, message) => {
    answer(payload, 'Unhandled');
    expect(await invoke()).toEqual({ kind: 'failed', error: { type, message } });
  });

  test('whose message is cut at 2 KiB, never within a character', async () => {
    answer(JSON.stringify({ errorType: 'E'.repeat(300), errorMessage: `x${'é'.repeat(5000)}` }), 'Handled');
    expect(await invoke()).toEqual({
      kind: 'failed',
      error: { type: 'E'.repeat(256), message: `x${'é'.repeat(1023)}` },
    });
  });
});

describe('a call that could not be made', () => {
  test.each([
    ['TooManyRequestsException', 429],
    ['SomethingNewAboutRates', 429],
    ['ENILimitReachedException', 502],
    ['EC2ThrottledException', 502],
    ['KMSThrottlingException', 502],
    ['SubnetIPAddressLimitReachedException', 502],
  ])('for want of room is held back: %s', async (name, status) => {
    throwing(name, status);
    expect(await invoke()).toEqual({ kind: 'held-back', reason: 'throttled', message: `${name}!` });
    expect(lambda.calls()).toHaveLength(1);
  });

  test.each([
    ['ServiceException', 500],
    ['EC2UnexpectedException', 502],
    ['UnknownError', 503],
    ['ResourceNotReadyException', 502],
    ['ResourceConflictException', 409],
    ['SnapStartNotReadyException', 409],
    ['EFSMountTimeoutException', 408],
    ['ExpiredTokenException', 403],
    ['CredentialsProviderError', undefined],
    ['ECONNRESET', undefined],
    ['TimeoutError', undefined],
  ])('for a fault of the service, the network or ours is held back: %s', async (name, status) => {
    throwing(name, status);
    expect(await invoke()).toEqual({ kind: 'held-back', reason: 'service-error', message: `${name}!` });
  });

  test.each([
    ['ResourceNotFoundException', 404, 'function-not-found'],
    ['AccessDeniedException', 403, 'not-permitted'],
    ['KMSAccessDeniedException', 502, 'not-permitted'],
    ['EC2AccessDeniedException', 502, 'not-permitted'],
    ['InvalidParameterValueException', 400, 'malformed-arn'],
  ])('for good is refused: %s', async (name, status, reason) => {
    throwing(name, status);
    expect(await invoke()).toEqual({ kind: 'refused', reason, message: `${name}!` });
  });

  test.each([
    ['InvalidRuntimeException', 502],
    ['InvalidZipFileException', 502],
    ['KMSDisabledException', 502],
    ['RequestTooLargeException', 413],
    ['SomethingNew', 400],
  ])('because the function or its event is broken is a failed attempt: %s', async (name, status) => {
    throwing(name, status);
    expect(await invoke()).toEqual({ kind: 'failed', error: { type: name, message: `${name}!` } });
  });

  test('never throws, whatever was thrown', async () => {
    invoker = new LambdaInvoker({
      clock,
      clientFor: () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error
        throw 'no client';
      },
    });
    expect(await invoke()).toEqual({ kind: 'held-back', reason: 'service-error', message: 'no client' });
  });
});

describe('the time that an attempt may last', () => {
  const hanging = (_command: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      abortSignal.addEventListener('abort', () => reject(new Error('socket closed')));
    });

  test('ends the call, as a failed attempt', async () => {
    invoker = new LambdaInvoker({ clock, clientFor: () => ({ send: hanging }) as unknown as LambdaClient });
    const outcome = invoke();
    let isOver = false;
    void outcome.then(() => (isOver = true));
    await clock.advance(59_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await outcome).toEqual({
      kind: 'failed',
      error: { type: 'Timeout', message: 'no answer within 60000 ms; the function may still be running' },
    });
  });

  test('is waited for no longer than the call lasts', async () => {
    answer('null');
    await invoke();
    throwing('ServiceException', 500);
    await invoke();
    expect(clock.awaited).toEqual([]);
  });
});
