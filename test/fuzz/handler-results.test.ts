import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import fc from 'fast-check';
import { LambdaInvoker } from '../../src/adapters/aws/lambda-invoker';
import { outcomeOfError } from '../../src/adapters/aws/lambda-outcomes';
import { LocalInvoker } from '../../src/adapters/local/invoker';
import { decideAfterAttempt } from '../../src/domain/conclude';
import { eventOf } from '../../src/domain/event';
import { DEFAULT_RETRY } from '../../src/domain/retry-policy';
import { runView } from '../../src/http/views';
import { stringify } from '../../src/messages/raw-json';
import type { InvokeOutcome } from '../../src/ports';
import { aStartedRun, functionArn, NOON, RETENTION_MS } from '../support/builders';
import { HandClock } from '../support/hand-clock';
import { runs } from '../support/property-runs';
import { check } from './check';
import { kept } from './corpus';
import { Inputs } from './inputs';
import { treeOf, type Tree } from './json-tree';
import { mutated, oddText, oddValue, written } from './odd-json';

const inputs = new Inputs();
const LONG_MS = 1_800_000;
const NAMES = ['Error', 'NonRetriableError', 'RetryAfterError', 'Sandbox.Timedout', '', ' '];
const WAITS = ['0', '30', '1.5 later', '-1', '1e400', 'NaN', '9'.repeat(400), '0.0000001', '315576001', ' 7 '];
const INSTANTS = ['2027-05-04T12:00:01Z', '+275760-09-13T00:00:00Z', '0000-01-01T00:00Z', '9999-12-31T23:59:59Z'];

/** What comes of an attempt is a state that can be kept, shown and told. */
function expectRightOutcome(outcome: InvokeOutcome): void {
  if (outcome.kind === 'returned') expect(() => JSON.parse(outcome.result) as unknown).not.toThrow();
  if (outcome.kind === 'failed') {
    const { type, message } = outcome.error;
    expect([typeof type, typeof message]).toEqual(['string', 'string']);
  }
  const run = decideAfterAttempt({
    run: aStartedRun(),
    outcome,
    retry: DEFAULT_RETRY,
    now: NOON,
    chance: 0.5,
    failedRetentionMs: RETENTION_MS,
  });
  expect(['DONE', 'RELEASED', 'FAILED']).toContain(run.state);
  for (const instant of [run.dueAt, run.expiresAt]) expect(Number.isSafeInteger(instant)).toBe(true);
  expect(run.dueAt).toBeGreaterThanOrEqual(NOON);
  expect(() => JSON.parse(stringify(runView(run))) as unknown).not.toThrow();
  expect(JSON.stringify(eventOf(run))).toMatch(/^\{/);
  if (run.error) {
    expect(run.error.type.isWellFormed() && run.error.message.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(run.error.message)).toBeLessThanOrEqual(2_048);
  }
}

const failure = (type: unknown, message: unknown) => ({ errorType: type, errorMessage: message, trace: ['x'] });
const failures = [
  ...NAMES.flatMap((name) => [...WAITS, ...INSTANTS].map((wait) => failure(name, wait))),
  failure('Error', 'Task timed out after 3.00 seconds'),
];

test(
  'whatever Lambda answers is an outcome, and what it throws is one too',
  async () => {
    const trees = failures.map(treeOf) as [Tree, ...Tree[]];
    const answer = fc.record({
      Payload: fc.option(written(mutated(trees)), { nil: undefined }),
      FunctionError: fc.option(fc.oneof(fc.constantFrom('Handled', 'Unhandled'), oddText), { nil: undefined }),
    });
    const name = fc.oneof(
      fc.constantFrom('ResourceNotFoundException', 'TooManyRequestsException', 'ServiceException', 'AccessDenied'),
      oddText,
    );
    const status = fc.constantFrom(undefined, 0, 200, 400, 429, 500, 599, NaN);
    const thrown = fc.oneof(
      fc
        .tuple(name, oddText, status)
        .map(([is, message, httpStatusCode]) =>
          Object.assign(new Error(message), { name: is, $metadata: { httpStatusCode } }),
        ),
      fc.constantFrom(undefined, null, 'text', 7, Symbol('x'), {}, Object.create(null) as object),
    );
    const property = fc.asyncProperty(fc.oneof(answer, fc.record({ thrown })), async (one) => {
      inputs.count('answers of Lambda');
      const send = () =>
        'thrown' in one
          ? // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
            Promise.reject(one.thrown)
          : Promise.resolve({ ...one, Payload: one.Payload?.bytes });
      const clientFor = () => ({ send }) as unknown as LambdaClient;
      const invoker = new LambdaInvoker({ clock: new HandClock(NOON), clientFor });
      expectRightOutcome(
        await invoker.invoke({ functionArn: functionArn('job-report'), event: '{}', timeoutMs: 1_000 }),
      );
    });
    await check(property, runs(1_500));
  },
  LONG_MS,
);

test('what cannot even be shown is an outcome when it is thrown', () => {
  expect(outcomeOfError(Object.create(null))).toMatchObject({ kind: 'held-back', reason: 'service-error' });
});

/** undefined where it nests too deep for JSON.stringify, of the handler as of ours */
function rewritten(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What a handler may do, as the text of a function of JavaScript. */
const ODD_DEEDS = [
  'const a = {}; a.a = a; return a',
  'return 1n',
  'return () => 1',
  'return Symbol("x")',
  'return undefined',
  'return new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } })',
  'return { toJSON() { throw new Error("no") } }',
  'return { toJSON() { return undefined } }',
  'return new Promise((_, no) => no(undefined))',
  'return { then(yes) { yes(1); yes(2); throw 3 } }',
  'return { get then() { throw new Error("then") } }',
  'return "x".repeat(7_000_000)',
  'return "\\ud800"',
  'return NaN',
  'return [,,1]',
  'return Buffer.from("x")',
  'return new Map([[1, 2]])',
  'let deep = []; for (let i = 0; i < 100_000; i++) deep = [deep]; return deep',
  'throw undefined',
  'throw null',
  'throw 7n',
  'throw Symbol("x")',
  'throw () => {}',
  'throw { get message() { throw new Error("m") } }',
  'throw { get name() { throw new Error("n") }, message: "x" }',
  'throw new Proxy({}, { get() { throw 1 } })',
  'throw Object.assign(new Error("x"), { name: Symbol("n") })',
  'throw Object.assign(new Error("x"), { name: 7, stack: 8 })',
  'throw Object.assign(new Error("\\ud800\\uffff\\0"), { name: "\\ud800" })',
  'throw new Error("x".repeat(1_000_000))',
  'throw Object.create(null)',
  'process.stdout.write("garbage {\\n\\0\\ud800"); console.error("\\x1b[2J"); return 1',
  'process.stdout.write(new Uint8Array([255, 254, 0])); return 1',
  'console.log("x".repeat(1_000_000)); return 1',
  'Promise.reject(null); return new Promise(() => {})',
  'setImmediate(() => { throw { get message() { throw 1 } } }); return new Promise(() => {})',
  'process.exit(0)',
  'process.exit({ valueOf() { throw 1 } })',
  'process.reallyExit(3)',
  'process.kill(process.pid, "SIGKILL"); return new Promise(() => {})',
  'process.abort()',
  'process.emit("uncaughtException", undefined); return 1',
  'require("node:fs").writeSync(3, "garbage\\n"); return new Promise(() => {})',
  'require("node:fs").closeSync(3); return 1',
  'Object.prototype.toJSON = () => 1; return {}',
  ...NAMES.flatMap((name) =>
    [...WAITS, ...INSTANTS].map(
      (wait) => `throw Object.assign(new Error(${JSON.stringify(wait)}), { name: ${JSON.stringify(name)} })`,
    ),
  ),
];

describe('the local invoker', () => {
  let folder: string;
  let invoker: LocalInvoker;
  const call = (name: string, event: unknown) =>
    invoker.invoke({ functionArn: functionArn(name), event: JSON.stringify(event), timeoutMs: 20_000 });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'escapement-fuzz-'));
    const text = "module.exports = (event) => new Function('require', 'value', event.does)(require, event.value);";
    writeFileSync(join(folder, 'odd.cjs'), text);
    writeFileSync(join(folder, 'good.cjs'), 'module.exports = (event) => event;');
    invoker = new LocalInvoker({ handlersDirectory: folder, onLog: () => {} });
  });
  afterAll(async () => {
    await invoker.close();
    rmSync(folder, { recursive: true });
  });

  const outlives = async (does: string) => {
    inputs.count('deeds of handlers');
    const outcome = await call('odd', { does });
    expectRightOutcome(outcome);
    expect(outcome).not.toMatchObject({ error: { type: 'Timeout' } });
    expect(await call('good', { n: 1 })).toEqual({ kind: 'returned', result: '{"n":1}' });
  };

  test.each(ODD_DEEDS)('outlives: %s', outlives);
  test.each(kept<{ does: string }>('handler'))('%s, and is outlived', (_, { does }) => outlives(does));

  test(
    'hands over whatever a handler returns or throws',
    async () => {
      const property = fc.asyncProperty(oddValue, fc.boolean(), async (text, isThrown) => {
        inputs.count('deeds of handlers');
        const does = isThrown ? 'throw JSON.parse(value)' : 'return JSON.parse(value)';
        const outcome = await call('odd', { does, value: text });
        expectRightOutcome(outcome);
        const result = isThrown ? undefined : rewritten(text);
        if (result !== undefined) expect(outcome).toEqual({ kind: 'returned', result });
      });
      await check(property, runs(300));
    },
    LONG_MS,
  );

  test(
    'says of a file that is no handler what is wrong with it',
    async () => {
      const valid = 'export default async (event) => ({ a: [1, event] });\n';
      const piece = fc.oneof(oddText, fc.constantFrom('}', '`', '/*', 'import "./absent";', 'throw 1;', 'await 1;'));
      const property = fc.asyncProperty(
        fc.constantFrom('ts', 'mjs', 'cjs'),
        fc.nat(valid.length),
        piece,
        async (extension, at, text) => {
          inputs.count('handler files');
          const file = join(folder, `file.${extension}`);
          writeFileSync(file, valid.slice(0, at) + text + valid.slice(at));
          const outcome = await call('file', 1);
          rmSync(file);
          expect(['returned', 'failed']).toContain(outcome.kind);
          expectRightOutcome(outcome);
        },
      );
      await check(property, runs(12));
    },
    LONG_MS,
  );

  test('takes for handlers only the files that are named as functions are', async () => {
    const names = fc.array(
      oddText.map((text) => text.toWellFormed().replace(/[/\0]/g, '').slice(0, 30)),
      { maxLength: 5 },
    );
    const property = fc.asyncProperty(names, async (odd) => {
      const directory = mkdtempSync(join(tmpdir(), 'escapement-names-'));
      for (const name of odd) {
        inputs.count('handler files');
        writeFileSync(join(directory, `${name}.x.ts`), '');
        writeFileSync(join(directory, `a${name}.cjs`), '');
      }
      const named = new LocalInvoker({ handlersDirectory: directory });
      expect(named.functions().filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
      await named.close();
      rmSync(directory, { recursive: true });
    });
    await check(property, runs(40));
  });
});

test('whatever an error of a run is, its text is kept as text', async () => {
  const property = fc.asyncProperty(oddText, oddText, async (type, message) => {
    inputs.count('errors');
    expectRightOutcome({ kind: 'failed', error: { type, message } });
    await Promise.resolve();
  });
  await check(property, runs(500));
});
