import type { InvokeOutcome, Invoker } from '../../src/ports';

export interface InvokerUnderTest {
  invoker: Invoker;
  close(): Promise<void>;
}

/** Functions that the adapter must be able to call: CommonJS text whose `module.exports` is `(event, context) => result`. */
export const CONTRACT_FUNCTIONS: Readonly<Record<string, string>> = {
  echo: 'module.exports = async (event) => event;',
  synchronous: 'module.exports = () => ({ done: true });',
  nothing: 'module.exports = async () => {};',
  'throws-error': "module.exports = async () => { throw new TypeError('the disk is full'); };",
  'throws-named': `module.exports = async () => {
    const error = new Error('the order is gone');
    error.name = 'NonRetriableError';
    throw error;
  };`,
  'throws-synchronously': "module.exports = () => { throw new RangeError('too far'); };",
  'throws-text': "module.exports = async () => { throw 'just text'; };",
  'throws-null': 'module.exports = async () => { throw null; };',
  'throws-undefined': 'module.exports = async () => { throw undefined; };',
  'throws-object': 'module.exports = async () => { throw { code: 42 }; };',
  'never-ends': 'module.exports = () => new Promise(() => {});',
  'returns-megabytes': "module.exports = async () => 'é'.repeat(2_000_000);",
  'looks-failed': "module.exports = async () => ({ errorType: 'Error', errorMessage: 'only data' });",
  measures: 'module.exports = async ({ text }) => ({ length: text.length, last: text.codePointAt(text.length - 2) });',
  context: 'module.exports = async (event, context) => context;',
  remaining: 'module.exports = async (event, context) => context.getRemainingTimeInMillis();',
};

export const contractArn = (name: string) => `arn:aws:lambda:eu-west-1:111122223333:function:${name}`;

/** `makeAdapter` answers an invoker that can call the given functions, in a world where they have just been put. */
export function describeInvokerContract(
  name: string,
  makeAdapter: (functions: Readonly<Record<string, string>>) => Promise<InvokerUnderTest>,
): void {
  describe(`${name} keeps the contract of an invoker`, () => {
    let adapter: InvokerUnderTest;
    beforeAll(async () => {
      adapter = await makeAdapter(CONTRACT_FUNCTIONS);
    });
    afterAll(() => adapter.close());

    const call = (functionName: string, event: unknown = {}, timeoutMs = 20_000) =>
      adapter.invoker.invoke({ functionArn: contractArn(functionName), event: JSON.stringify(event), timeoutMs });
    const returned = (value: unknown): InvokeOutcome => ({ kind: 'returned', result: JSON.stringify(value) });

    test('the value that the code returns is answered as JSON', async () => {
      expect(await call('echo', { a: [1, 'two', null] })).toEqual(returned({ a: [1, 'two', null] }));
      expect(await call('synchronous')).toEqual(returned({ done: true }));
    });

    test('code that returns nothing answers null', async () => {
      expect(await call('nothing')).toEqual({ kind: 'returned', result: 'null' });
    });

    test('a value that looks like an error is a value', async () => {
      expect(await call('looks-failed')).toEqual(returned({ errorType: 'Error', errorMessage: 'only data' }));
    });

    test.each([
      ['throws-error', 'TypeError', 'the disk is full'],
      ['throws-named', 'NonRetriableError', 'the order is gone'],
      ['throws-synchronously', 'RangeError', 'too far'],
    ])('the type and message of an error are kept (%s)', async (functionName, type, message) => {
      expect(await call(functionName)).toEqual({ kind: 'failed', error: { type, message } });
    });

    test('thrown text is the message of the failure', async () => {
      expect(await call('throws-text')).toMatchObject({ kind: 'failed', error: { message: 'just text' } });
    });

    test.each(['throws-null', 'throws-undefined', 'throws-object'])(
      'whatever is thrown, the attempt is failed with words (%s)',
      async (functionName) => {
        expect(await call(functionName)).toEqual({
          kind: 'failed',
          error: { type: expect.stringMatching(/./) as string, message: expect.stringMatching(/./) as string },
        });
      },
    );

    test('code that never ends is failed with Timeout', async () => {
      expect(await call('never-ends', {}, 50)).toMatchObject({ kind: 'failed', error: { type: 'Timeout' } });
    });

    test('a failure does not harm the next call of the same function', async () => {
      expect(await call('never-ends', {}, 50)).toMatchObject({ error: { type: 'Timeout' } });
      expect(await call('never-ends', {}, 50)).toMatchObject({ error: { type: 'Timeout' } });
    });

    test('calls side by side get each their own answer', async () => {
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
      expect(await Promise.all(numbers.map((number) => call('echo', number)))).toEqual(numbers.map(returned));
    });

    test('a function that does not exist is refused', async () => {
      expect(await call('nowhere')).toMatchObject({ kind: 'refused', reason: 'function-not-found' });
    });

    test.each(['', 'echo', 'arn:aws:sqs:eu-west-1:111122223333:echo', contractArn('../echo'), contractArn('a/b')])(
      'what is no function ARN is refused (%j)',
      async (functionArn) => {
        const outcome = await adapter.invoker.invoke({ functionArn, event: '{}', timeoutMs: 1_000 });
        expect(outcome).toMatchObject({ kind: 'refused', reason: 'malformed-arn' });
      },
    );

    test.each(['live', '7', '$LATEST'])('an ARN may name an alias or a version (%s)', async (qualifier) => {
      expect(await call(`echo:${qualifier}`, 'here')).toEqual(returned('here'));
    });

    test('unicode comes back as it went in', async () => {
      const text = 'naïve – 日本語 🕰️ \u0000 \u2028 "quoted" \\ \n';
      expect(await call('echo', { text })).toEqual(returned({ text }));
    });

    test('a payload of 256 KiB reaches the code whole', async () => {
      const text = 'x'.repeat(262_000) + '🕰';
      expect(await call('measures', { text })).toEqual(returned({ length: text.length, last: 0x1f570 }));
    });

    test('a result of megabytes is answered whole', async () => {
      expect(await call('returns-megabytes')).toEqual(returned('é'.repeat(2_000_000)));
    });

    test('the code learns its name and the ARN that it was called by', async () => {
      const outcome = await call('context:live');
      const context = JSON.parse(outcome.kind === 'returned' ? outcome.result : '{}') as Record<string, unknown>;
      expect(context).toMatchObject({ functionName: 'context', invokedFunctionArn: contractArn('context:live') });
      expect(context.awsRequestId).toMatch(/^[0-9a-f-]{36}$/);
    });

    test('the code can ask how much of its time is left', async () => {
      const outcome = await call('remaining', {}, 20_000);
      const left = Number(outcome.kind === 'returned' ? outcome.result : NaN);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(20_000);
    });
  });
}
