/**
 * The process that one handler lives in, as a Lambda environment does. Plain JavaScript, since bare `node` starts it.
 * Descriptor 3 carries one JSON text a line both ways: in, one `load` and then one `run` at a time; out, what
 * `FromChild` of invoker-channel.ts lists.
 */
const { AsyncLocalStorage } = require('node:async_hooks');
const { Buffer } = require('node:buffer');
const { randomUUID } = require('node:crypto');
const { writeSync } = require('node:fs');
const Module = require('node:module');
const { Socket } = require('node:net');
const { dirname } = require('node:path');
const { performance } = require('node:perf_hooks');
const { pathToFileURL } = require('node:url');

/** As they are before the handler is loaded: with what it puts in their places nothing could be said to the system any more. */
const { parse, stringify } = JSON;

const CHANNEL = 3;
/** Lambda's limit on an answer, in bytes of UTF-8. */
const MAX_RESULT_BYTES = 6_291_556;
/** A longer line is said in pieces, as CloudWatch takes 256 KB as one event; of an error's text so much is enough. */
const LONGEST_TEXT = 262_144;

/** Which attempt does this code, or the timer or promise that it left behind, belong to? */
const attempts = new AsyncLocalStorage();
/** @type {{ call: number, runId?: string, functionName: string } | undefined} the attempt that is not over yet */
let current;
let handler;

function say(message) {
  let bytes = Buffer.from(stringify(message) + '\n');
  // Written at once and not queued: what was said before an endless loop or an exit has been heard.
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(CHANNEL, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') process.reallyExit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function describe(thrown) {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      if (typeof thrown.message !== 'string') return { type: 'object', message: cut(stringify(thrown)) };
      return { type: cut(thrown.name || 'Error'), message: cut(thrown.message), stack: ownFrames(thrown.stack) };
    }
    return { type: thrown === null ? 'null' : typeof thrown, message: cut(thrown) };
  } catch {
    return { type: 'Error', message: 'the thrown value cannot be shown' };
  }
}

function cut(value) {
  return String(value).slice(0, LONGEST_TEXT);
}

function ownFrames(stack) {
  if (typeof stack !== 'string') return undefined;
  return cut(stack)
    .split('\n')
    .filter((line) => !line.includes(module.filename) && !line.includes('(node:') && !line.includes('at node:'))
    .join('\n');
}

/** Ends the current attempt, if `attempt` still is it. `spoilt`: this process is not to be used again. */
function conclude(attempt, outcome, spoilt) {
  if (attempt !== current) return;
  current = undefined;
  flush(attempt);
  say({ kind: 'over', call: attempt.call, outcome, spoilt });
}

function fail(attempt, error, spoilt) {
  conclude(attempt, { kind: 'failed', error }, spoilt);
}

async function run({ call, event, functionName, functionVersion, functionArn, memoryMb, timeoutMs }) {
  const attempt = { call, functionName, partial: { out: '', err: '' } };
  const endsAt = performance.now() + timeoutMs;
  current = attempt;
  await attempts.run(attempt, async () => {
    try {
      const input = parse(event);
      if (typeof input?.runId === 'string') attempt.runId = input.runId;
      const value = await handler(input, {
        functionName,
        functionVersion,
        invokedFunctionArn: functionArn,
        memoryLimitInMB: String(memoryMb),
        awsRequestId: randomUUID(),
        getRemainingTimeInMillis: () => Math.max(0, Math.floor(endsAt - performance.now())),
      });
      conclude(attempt, answer(value), false);
    } catch (error) {
      fail(attempt, describe(error), false);
    }
  });
}

function answer(value) {
  let result;
  try {
    result = stringify(value) ?? 'null';
  } catch (error) {
    const message = `the returned value cannot be written as JSON: ${describe(error).message}`;
    return { kind: 'failed', error: { type: 'Runtime.MarshalError', message } };
  }
  // A character is at most three bytes: short texts need no counting.
  if (result.length * 3 > MAX_RESULT_BYTES && Buffer.byteLength(result) > MAX_RESULT_BYTES) {
    const message = `the returned value is larger than ${MAX_RESULT_BYTES} bytes`;
    return { kind: 'failed', error: { type: 'Function.ResponseSizeTooLarge', message } };
  }
  return { kind: 'returned', result };
}

/** An error that nobody caught. What an earlier attempt left behind must not harm the one that runs now. */
function background(error) {
  const owner = attempts.getStore();
  if (handler === undefined) unloadable(error);
  else if (current !== undefined && (owner === undefined || owner === current)) fail(current, error, true);
  else say({ kind: 'leftover', runId: owner?.runId, error });
}

process.on('uncaughtException', (thrown) => background(describe(thrown)));
process.on('unhandledRejection', (reason) => {
  const error = describe(reason);
  background({ ...error, type: 'Runtime.UnhandledPromiseRejection', message: `${error.type}: ${error.message}` });
});

const exit = process.exit;
process.exit = (code) => {
  const owner = attempts.getStore();
  if (owner !== undefined && owner !== current)
    throw new Error(`process.exit(${code ?? ''}) after the attempt was over`);
  const error = { type: 'Runtime.ExitError', message: `the code called process.exit(${code ?? ''})` };
  if (handler === undefined) unloadable(error);
  else fail(current, error, true);
  exit(code);
};

const outside = { partial: { out: '', err: '' } };

function capture(name, stream) {
  stream.write = (chunk, encoding, done) => {
    const owner = attempts.getStore() ?? current ?? outside;
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const lines = (owner.partial[name] + text).split('\n');
    owner.partial[name] = lines.pop();
    for (const line of lines) log(name, owner, line);
    if (owner.partial[name].length > LONGEST_TEXT) flush(owner);
    const callback = typeof encoding === 'function' ? encoding : done;
    if (callback) process.nextTick(callback);
    return true;
  };
}

function log(stream, { runId }, line) {
  for (let from = 0; from === 0 || from < line.length; from += LONGEST_TEXT) {
    say({ kind: 'log', stream, runId, line: line.slice(from, from + LONGEST_TEXT) });
  }
}

function flush(owner) {
  for (const name of ['out', 'err']) {
    if (owner.partial[name] !== '') log(name, owner, owner.partial[name]);
    owner.partial[name] = '';
  }
}

function unloadable(error) {
  flush(outside);
  say({ kind: 'unloadable', error });
}

async function load({ file, text }) {
  try {
    process.setSourceMapsEnabled(true);
    const exported = text === undefined ? await import(pathToFileURL(file).href) : evaluate(file, text);
    const found = [
      exported,
      exported?.default,
      exported?.default?.default,
      exported?.handler,
      exported?.default?.handler,
    ];
    handler = found.find((candidate) => typeof candidate === 'function');
  } catch (thrown) {
    const error = describe(thrown);
    unloadable({
      ...error,
      type: loadErrorType(thrown),
      message: `${file} cannot be loaded: ${error.type}: ${error.message}`,
    });
    return;
  }
  if (handler === undefined) {
    unloadable({
      type: 'Runtime.HandlerNotFound',
      message: `${file} exports no function: write "export default async function"`,
    });
    return;
  }
  say({ kind: 'loaded' });
}

function evaluate(file, text) {
  const module = new Module(file);
  module.filename = file;
  module.paths = Module._nodeModulePaths(dirname(file));
  module._compile(text, file);
  return module.exports;
}

function loadErrorType(thrown) {
  if (thrown instanceof SyntaxError) return 'Runtime.UserCodeSyntaxError';
  return /^(ERR_)?MODULE_NOT_FOUND$/.test(thrown?.code) ? 'Runtime.ImportModuleError' : describe(thrown).type;
}

capture('out', process.stdout);
capture('err', process.stderr);

const channel = new Socket({ fd: CHANNEL, readable: true, writable: false });
channel.setEncoding('utf8');
let received = '';
channel.on('data', (chunk) => {
  received += chunk;
  if (!chunk.endsWith('\n')) return;
  const message = parse(received);
  received = '';
  void (message.kind === 'load' ? load(message) : run(message));
});
// The system that started us is gone.
channel.on('close', () => exit(0));
