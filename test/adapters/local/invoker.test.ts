import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { LocalInvoker, type LocalInvokerOptions } from '../../../src/adapters/local/invoker';
import type { LogLine } from '../../../src/adapters/local/invoker-log';
import { contractArn, describeInvokerContract } from '../../contracts/invoker.contract';

const ROOT = join(__dirname, '../../..');
const EXAMPLES = join(ROOT, 'examples/handlers');

let folder: string;
let invoker: LocalInvoker;
let log: (LogLine & { line: string })[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-invoker-'));
  log = [];
  invoker = start();
});
afterEach(async () => {
  await invoker.close();
  rmSync(folder, { recursive: true });
});

function start(options: Partial<LocalInvokerOptions> = {}) {
  const onLog = (line: string, from: LogLine) => log.push({ line, ...from });
  return new LocalInvoker({ handlersDirectory: folder, onLog, ...options });
}

async function restart(options: Partial<LocalInvokerOptions>) {
  await invoker.close();
  invoker = start(options);
}

function write(file: string, text: string) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function call(name: string, event: unknown = {}, timeoutMs = 20_000) {
  return invoker.invoke({ functionArn: contractArn(name), event: JSON.stringify(event), timeoutMs });
}

const returned = (value: unknown) => ({ kind: 'returned', result: JSON.stringify(value) });

describeInvokerContract('the local invoker', async (functions) => {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-contract-'));
  for (const [name, text] of Object.entries(functions)) writeFileSync(join(directory, `${name}.js`), text);
  const underTest = new LocalInvoker({ handlersDirectory: directory, onLog: () => {} });
  return {
    invoker: underTest,
    close: async () => {
      await underTest.close();
      rmSync(directory, { recursive: true });
    },
  };
});

describe('files of the folder', () => {
  test.each([
    ['TypeScript', 'f.ts', 'export default async (event: { n: number }): Promise<number> => event.n + 1;'],
    ['TypeScript that exports a handler', 'f.ts', 'export const handler = (event: { n: number }) => event.n + 1;'],
    ['an ECMAScript module', 'f.mjs', 'const one = await Promise.resolve(1); export default (event) => event.n + one;'],
    ['CommonJS', 'f.cjs', 'module.exports = (event) => event.n + 1;'],
    ['CommonJS in .js', 'f.js', 'module.exports = (event) => event.n + 1;'],
    ['CommonJS with exports.default', 'f.js', 'exports.default = (event) => event.n + 1;'],
    ['CommonJS with exports.handler', 'f.js', 'exports.handler = (event) => event.n + 1;'],
    ['CommonJS as TypeScript emits it', 'f.js', 'exports.__esModule = true; exports.default = (event) => event.n + 1;'],
  ])('a handler may be %s', async (_kind, file, text) => {
    write(file, text);
    expect(await call('f', { n: 1 })).toEqual(returned(2));
  });

  test('a handler imports files beside it and packages', async () => {
    write('shared/greeting.ts', "export const greeting: string = 'hello';");
    write('node_modules/of-no-module-system/index.js', "module.exports = { name: 'commonjs' };");
    write('node_modules/of-modules/package.json', '{ "type": "module", "exports": "./index.js" }');
    write('node_modules/of-modules/index.js', "export const name = 'esm';");
    write(
      'f.ts',
      `import { greeting } from './shared/greeting';
       import cjs from 'of-no-module-system';
       import { name } from 'of-modules';
       import { basename } from 'node:path';
       export default () => [greeting, cjs.name, name, basename(__filename), basename(import.meta.url)];`,
    );
    expect(await call('f')).toEqual(returned(['hello', 'commonjs', 'esm', 'f.ts', 'f.ts']));
  });

  test('functions are listed by name, each once', () => {
    for (const file of ['b.ts', 'a.js', 'b.js', 'c.test.ts', 'd.d.ts', '.e.js', 'f.json', 'sub/g.ts']) write(file, '');
    expect(invoker.functions()).toEqual(['a', 'b']);
  });

  test('a missing function is refused with the folder and the file names looked for', async () => {
    const outcome = await call('gone');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'function-not-found' });
    expect(outcome).toMatchObject({ message: expect.stringContaining(folder) as string });
    expect(outcome).toMatchObject({
      message: expect.stringContaining('gone.ts, gone.js, gone.mjs, gone.cjs') as string,
    });
  });

  test('two files of one name are refused, since nobody knows which is meant', async () => {
    write('f.ts', 'export default () => 1;');
    write('f.js', 'module.exports = () => 2;');
    expect(await call('f')).toMatchObject({
      reason: 'function-not-found',
      message: expect.stringMatching(/f\.js, f\.ts/) as string,
    });
  });

  test('a folder that does not exist refuses every function', async () => {
    await restart({ handlersDirectory: join(folder, 'nowhere') });
    expect(await call('f')).toMatchObject({ kind: 'refused', reason: 'function-not-found' });
  });

  test.each(['..', '../f', '..%2Ff', '/etc/f', 'sub/f', 'sub\\f', 'f.ts', 'f\u0000', ''])(
    'no name leads out of the folder (%j)',
    async (name) => {
      write('sub/f.ts', 'export default () => 1;');
      expect(await call(name)).toMatchObject({ kind: 'refused', reason: 'malformed-arn' });
    },
  );
});

describe('code that cannot be loaded is a failed attempt', () => {
  test.each([
    ['a syntax error in TypeScript', 'f.ts', 'export default (', 'Runtime.UserCodeSyntaxError', /f\.ts:1:/],
    ['a syntax error in JavaScript', 'f.js', 'module.exports = (', 'Runtime.UserCodeSyntaxError', /f\.js/],
    [
      'a missing file in TypeScript',
      'f.ts',
      "import './gone'; export default () => 1;",
      'Runtime.ImportModuleError',
      /gone/,
    ],
    [
      'a missing file in a module',
      'f.mjs',
      "import './gone.mjs'; export default () => 1;",
      'Runtime.ImportModuleError',
      /gone/,
    ],
    [
      'a missing package',
      'f.ts',
      "import gone from 'gone'; export default () => gone;",
      'Runtime.ImportModuleError',
      /gone/,
    ],
    ['an error while loading', 'f.ts', "throw new RangeError('not today');", 'RangeError', /not today/],
    ['null thrown while loading', 'f.js', 'throw null;', 'null', /null/],
    ['an exit while loading', 'f.js', 'process.exit(3);', 'Runtime.ExitError', /process\.exit\(3\)/],
    ['no function', 'f.ts', 'export default 5;', 'Runtime.HandlerNotFound', /export default/],
    ['an empty file', 'f.js', '', 'Runtime.HandlerNotFound', /export default/],
  ])('%s', async (_what, file, text, type, message) => {
    write(file, text);
    expect(await call('f')).toEqual({
      kind: 'failed',
      error: { type, message: expect.stringMatching(message) as string },
    });
    write(
      file,
      file.endsWith('js') && !file.endsWith('mjs')
        ? 'module.exports = () => "mended"'
        : 'export default () => "mended"',
    );
    expect(await call('f')).toEqual(returned('mended'));
  });
});

describe('a handler that is edited', () => {
  const age = (file: string, seconds: number) => utimesSync(join(folder, file), seconds, seconds);

  test.each(['f.ts', 'f.mjs'])('%s is seen by the next attempt', async (file) => {
    write(file, 'export default () => 1;');
    age(file, 1_000);
    expect(await call('f')).toEqual(returned(1));
    write(file, 'export default () => 2;');
    age(file, 2_000);
    expect(await call('f')).toEqual(returned(2));
  });

  test.each(['.ts', '.mjs'])('a file that it imports is seen too (%s)', async (extension) => {
    const inner = `inner/x${extension}`;
    write(`f${extension}`, `import { x } from './inner/x${extension}'; export default () => x;`);
    write(inner, 'export const x = 1;');
    age(inner, 1_000);
    expect(await call('f')).toEqual(returned(1));
    write(inner, 'export const x = 2;');
    age(inner, 2_000);
    expect(await call('f')).toEqual(returned(2));
  });

  test('one that is removed is not found any more', async () => {
    write('f.js', 'module.exports = () => 1;');
    expect(await call('f')).toEqual(returned(1));
    rmSync(join(folder, 'f.js'));
    expect(await call('f')).toMatchObject({ reason: 'function-not-found' });
  });
});

describe('harm is done to one attempt only', () => {
  /** `pid` shows whether a process was used again. */
  const PID = 'if (event.pid) return process.pid;';

  test('a warm process is used again', async () => {
    write('f.js', `module.exports = (event) => { ${PID} }`);
    expect(await call('f', { pid: true })).toEqual(await call('f', { pid: true }));
  });

  test.each([
    ['an endless loop', 'for (;;);', 'Timeout', /longer than 0\.3 s/],
    ['an endless loop of microtasks', 'for (;;) await null;', 'Timeout', /longer than 0\.3 s/],
    ['a promise that never settles', 'await new Promise(() => {});', 'Timeout', /longer than 0\.3 s/],
    ['process.exit', 'process.exit(7);', 'Runtime.ExitError', /process\.exit\(7\)/],
    ['process.exit that claims success', 'process.exit();', 'Runtime.ExitError', /process\.exit/],
    ['process.abort', 'process.abort();', 'Runtime.ExitError', /SIGABRT/],
    ['a signal to itself', "process.kill(process.pid, 'SIGKILL'); for (;;);", 'Runtime.ExitError', /SIGKILL/],
    [
      'an error in the background',
      "setImmediate(() => { throw new TypeError('later'); }); await new Promise(() => {});",
      'TypeError',
      /later/,
    ],
    [
      'writing to the descriptor of the system',
      "require('node:fs').writeSync(3, 'garbage\\n'); await new Promise(() => {});",
      'Runtime.ChannelError',
      /file descriptor 3/,
    ],
    [
      'writing to it without an end',
      "require('node:fs').writeSync(3, 'garbage');",
      'Runtime.ChannelError',
      /file descriptor 3/,
    ],
    ['null in the background', 'setImmediate(() => { throw null; }); await new Promise(() => {});', 'null', /null/],
    [
      'a rejection in the background',
      "void Promise.reject(new Error('nobody')); await new Promise(() => {});",
      'Runtime.UnhandledPromiseRejection',
      /Error: nobody/,
    ],
  ])('%s', async (_what, code, type, message) => {
    write('f.js', `module.exports = async (event) => { ${PID} ${code} }`);
    write(
      'other.js',
      `const { existsSync } = require('node:fs');
       module.exports = async (file) => {
         while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 1));
         return 'unharmed';
       };`,
    );
    const before = await call('f', { pid: true });
    const other = call('other', join(folder, 'released'));
    const harmed = await call('f', {}, 300);
    write('released', '');
    expect(harmed).toEqual({ kind: 'failed', error: { type, message: expect.stringMatching(message) as string } });
    expect(await other).toEqual(returned('unharmed'));
    const after = await call('f', { pid: true });
    expect(after).toMatchObject({ kind: 'returned' });
    expect(after).not.toEqual(before);
  });

  test.each([
    ['many small objects', 'const all = []; for (;;) all.push({ x: [Math.random()] });'],
    ['one growing map', 'const all = new Map(); for (let i = 0; ; i += 1) all.set(i, i);'],
    ['one huge array', 'return new Array(5e7).fill(1.5).map((x) => ({ x }));'],
  ])('running out of memory with %s', async (_what, code) => {
    await restart({ memoryMb: 32 });
    write('f.js', `module.exports = async (event) => { ${PID} ${code} }`);
    expect(await call('f')).toMatchObject({ kind: 'failed', error: { type: 'Runtime.OutOfMemory', message: /32 MB/ } });
    expect(await call('f', { pid: true })).toMatchObject({ kind: 'returned' });
  });

  test.each([
    ['an error', "throw new Error('late')"],
    ['a rejection', "void Promise.reject(new Error('late'))"],
    ['an exit', 'process.exit(1)'],
  ])('%s that an attempt leaves behind does not reach the next one', async (_what, late) => {
    write(
      'f.js',
      `let calls = 0, happened = false;
       module.exports = async () => {
         calls += 1;
         if (calls === 1) {
           const timer = setInterval(() => {
             if (calls < 2) return;
             clearInterval(timer);
             happened = true;
             ${late};
           }, 1);
         } else {
           while (!happened) await new Promise(setImmediate);
           for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
         }
         return calls;
       };`,
    );
    expect(await call('f', { runId: 'first' })).toEqual(returned(1));
    expect(await call('f', { runId: 'second' })).toEqual(returned(2));
    // Nobody knows what the error left half done: the process is not used again.
    expect(await call('f')).toEqual(returned(1));
    expect(log.filter(({ line }) => /late|after the attempt/.test(line))).toMatchObject([
      { runId: 'first', stream: 'err' },
    ]);
  });

  test.each([
    ['a BigInt', '10n', /BigInt/],
    ['a circle', '(() => { const a = {}; a.a = a; return a; })()', /circular/],
    ['an object whose toJSON throws', "({ toJSON() { throw new Error('no JSON'); } })", /no JSON/],
  ])('%s is no result', async (_what, value, message) => {
    write('f.js', `module.exports = async () => ${value};`);
    expect(await call('f')).toMatchObject({ kind: 'failed', error: { type: 'Runtime.MarshalError' } });
    expect(await call('f')).toMatchObject({ error: { message: expect.stringMatching(message) as string } });
  });

  test('a result beyond the limit of Lambda is refused as there', async () => {
    write('f.js', "module.exports = async () => 'é'.repeat(3_200_000);");
    expect(await call('f')).toMatchObject({ kind: 'failed', error: { type: 'Function.ResponseSizeTooLarge' } });
  });

  test.each([
    'null',
    '[]',
    '7',
    '{}',
    '{"kind":"over"}',
    '{"kind":"over","call":1,"spoilt":false}',
    '{"kind":"over","call":1,"spoilt":false,"outcome":{"kind":"returned"}}',
    '{"kind":"unloadable","error":{"type":"Error"}}',
    '{"kind":"leftover"}',
    '{"kind":"log","stream":"out"}',
    '{"kind":"log","stream":"in","line":"x"}',
  ])('%s on the descriptor of the system fails the attempt and nothing else', async (text) => {
    write(
      'f.js',
      `module.exports = async (event) => { ${PID} require('node:fs').writeSync(3, ${JSON.stringify(text + '\n')}); };`,
    );
    const before = await call('f', { pid: true });
    expect(await call('f')).toMatchObject({ kind: 'failed', error: { type: 'Runtime.ChannelError' } });
    const after = await call('f', { pid: true });
    expect(after).toMatchObject({ kind: 'returned' });
    expect(after).not.toEqual(before);
  });

  test.each([
    '{"kind":"loaded"}',
    '{"kind":"over","call":1,"spoilt":false,"outcome":{"kind":"returned","result":"1"}}',
  ])('%s on the descriptor of the system does not end an attempt that it is not about', async (text) => {
    write(
      'f.js',
      `let calls = 0;
         module.exports = async () => {
           calls += 1;
           if (calls === 2) require('node:fs').writeSync(3, ${JSON.stringify(text + '\n')});
           return 'call ' + calls;
         };`,
    );
    expect(await call('f')).toEqual(returned('call 1'));
    expect(await call('f')).toEqual(returned('call 2'));
    expect(await call('f')).toEqual(returned('call 3'));
  });

  test('when the system is killed, a handler in an endless loop dies too', async () => {
    write('f.js', 'module.exports = () => { console.log(process.pid); for (;;); };');
    const program = join(folder, 'system.ts');
    const from = JSON.stringify(join(ROOT, 'src/adapters/local/invoker'));
    const functionArn = contractArn('f');
    writeFileSync(
      program,
      `import { LocalInvoker } from ${from};
       const invoker = new LocalInvoker({ handlersDirectory: ${JSON.stringify(folder)} });
       void invoker.invoke(${JSON.stringify({ functionArn, event: '{}', timeoutMs: 600_000 })});`,
    );
    const system = spawn(process.execPath, ['--import', 'tsx', program], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await firstLine(system.stdout);
    system.kill('SIGKILL');
    await ends(Number(line));
  });
});

describe('a program that outlives the handler and holds its output', () => {
  let survivor: number | undefined;
  afterEach(() => {
    if (survivor !== undefined) process.kill(survivor, 'SIGKILL');
    survivor = undefined;
  });

  const LEAVES_ONE = `
    const { spawn } = require('node:child_process');
    const child = spawn('sleep', ['300'], { detached: true, stdio: 'inherit' });
    child.unref();
    console.log(child.pid);`;

  test('does not keep an attempt from ending with its process', async () => {
    write('f.js', `module.exports = async () => { ${LEAVES_ONE} process.kill(process.pid, 'SIGKILL'); for (;;); };`);
    const outcome = await call('f');
    survivor = Number(log[0]?.line);
    expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'Runtime.ExitError', message: /SIGKILL/ } });
  });

  test('does not keep the invoker from closing', async () => {
    write('f.js', `module.exports = async () => { ${LEAVES_ONE} };`);
    await call('f');
    survivor = Number(log[0]?.line);
    await invoker.close();
    expect(isAlive(survivor)).toBe(true);
  });
});

test('a program that awaits the closing of the invoker gets there', async () => {
  write('f.js', 'module.exports = () => 1;');
  const program = join(folder, 'program.ts');
  const from = JSON.stringify(join(ROOT, 'src/adapters/local/invoker'));
  writeFileSync(
    program,
    `import { LocalInvoker } from ${from};
     async function main() {
       const invoker = new LocalInvoker({ handlersDirectory: ${JSON.stringify(folder)} });
       const call = ${JSON.stringify({ functionArn: contractArn('f'), event: '{}', timeoutMs: 20_000 })};
       await Promise.all([invoker.invoke(call), invoker.invoke(call), invoker.invoke(call)]);
       await invoker.close();
       console.log('closed');
     }
     void main();`,
  );
  const system = spawn(process.execPath, ['--import', 'tsx', program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(await firstLine(system.stdout)).toBe('closed');
});

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('nothing was printed');
}

/** Resolves when no process has this number; jest's own limit ends a test that waits for ever. */
async function ends(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise(setImmediate);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** Dead, but the first process of a container does not always collect what it inherits. */
function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('what handlers print', () => {
  test('lines carry function and run, in order, also those before an endless loop', async () => {
    write(
      'f.js',
      `console.log('while loading');
       module.exports = () => {
         console.log('one %d', 1);
         console.error('two\\nthree');
         process.stdout.write('fo');
         process.stdout.write('ur');
         process.stdout.write('\\n');
         for (;;);
       };`,
    );
    await call('f', { runId: 'r1' }, 300);
    expect(log).toEqual([
      { line: 'while loading', functionName: 'f', stream: 'out' },
      { line: 'one 1', functionName: 'f', stream: 'out', runId: 'r1' },
      { line: 'two', functionName: 'f', stream: 'err', runId: 'r1' },
      { line: 'three', functionName: 'f', stream: 'err', runId: 'r1' },
      { line: 'four', functionName: 'f', stream: 'out', runId: 'r1' },
    ]);
  });

  test('a line without its end is printed when the attempt is over', async () => {
    write('f.js', "module.exports = () => { process.stdout.write('half'); };");
    await call('f', { runId: 'r1' });
    expect(log).toEqual([{ line: 'half', functionName: 'f', stream: 'out', runId: 'r1' }]);
  });

  test('the stack of an error points into the TypeScript source', async () => {
    write('f.ts', "interface Unused { a: 1 }\n\nexport default async () => {\n  throw new Error('here');\n};\n");
    await call('f', { runId: 'r1' });
    expect(log.map(({ line }) => line).join('\n')).toMatch(/Error: here\n.*f\.ts:4:9/);
  });

  test('more lines than a pipe holds all arrive', async () => {
    write(
      'f.js',
      "module.exports = () => { for (let i = 0; i < 5_000; i += 1) console.log(i + ' ' + 'x'.repeat(200)); };",
    );
    await call('f');
    expect(log.map(({ line }) => parseInt(line))).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
  });
});

describe('a flood', () => {
  test.each([
    ['written to the descriptor itself', 'while (rest.length > 0) push(1);'],
    [
      'written by a program',
      "execFileSync('sh', ['-c', 'yes x | head -n 200000'], { stdio: ['ignore', 'inherit', 'inherit'] });",
    ],
  ])('%s is shown in part, and says so', async (_, code) => {
    write(
      'f.js',
      `const { writeSync } = require('node:fs');
       const { execFileSync } = require('node:child_process');
       module.exports = async () => {
         let rest = Buffer.from('x\\n'.repeat(200_000));
         const push = (descriptor) => {
           try {
             rest = rest.subarray(writeSync(descriptor, rest));
           } catch (error) {
             if (error.code !== 'EAGAIN') throw error;
           }
         };
         ${code}
       };`,
    );
    expect(await call('f')).toEqual(returned(null));
    await invoker.close();
    const shown = log.filter(({ line }) => line === 'x').length;
    expect(shown).toBeGreaterThanOrEqual(10_000);
    expect(shown).toBeLessThan(200_000);
    expect(log.map(({ line }) => line)).toContainEqual(expect.stringMatching(/^… [\d,]+ characters left out/));
  });
});

describe('places', () => {
  const BLOCKED = 'module.exports = (event) => event.pid ? process.pid : new Promise(() => {});';

  test('a call beyond the last place waits for one', async () => {
    await restart({ maxWorkers: 1 });
    write('f.js', 'module.exports = (event) => event;');
    write('g.js', 'module.exports = (event) => event;');
    const outcomes = await Promise.all([call('f', 1), call('g', 2), call('f', 3), call('nowhere', 4), call('g', 5)]);
    expect(outcomes).toMatchObject([returned(1), returned(2), returned(3), { kind: 'refused' }, returned(5)]);
  });

  test('a call that waits too long is held back', async () => {
    await restart({ maxWorkers: 1, maxWaitMs: 1 });
    write('f.js', BLOCKED);
    const blocked = call('f');
    expect(await call('f')).toMatchObject({ kind: 'held-back', reason: 'throttled' });
    await invoker.close();
    expect(await blocked).toMatchObject({ kind: 'held-back', reason: 'service-error' });
  });

  test('closing holds back what runs, what waits and what comes later', async () => {
    await restart({ maxWorkers: 1 });
    write('f.js', BLOCKED);
    const calls = [call('f'), call('f'), call('f')];
    await invoker.close();
    for (const outcome of await Promise.all([...calls, call('f')])) {
      expect(outcome).toMatchObject({ kind: 'held-back', reason: 'service-error' });
    }
  });

  test('a process without work ends', async () => {
    await restart({ idleMs: 1 });
    write('f.js', BLOCKED);
    const outcome = await call('f', { pid: true });
    await ends(Number(outcome.kind === 'returned' ? outcome.result : NaN));
  });

  test('closing ends idle processes', async () => {
    write('f.js', BLOCKED);
    const outcome = await call('f', { pid: true });
    await invoker.close();
    await ends(Number(outcome.kind === 'returned' ? outcome.result : NaN));
  });

  test('a function that was warmed up answers, and one that cannot be is no error', async () => {
    write('f.js', 'let calls = 0; console.log("loaded"); module.exports = () => (calls += 1);');
    await invoker.prewarm('f');
    await invoker.prewarm('nowhere');
    expect(log).toMatchObject([{ line: 'loaded' }]);
    expect(await call('f')).toEqual(returned(1));
    expect(log).toHaveLength(1);
  });
});

test('a handler sees the variables that it is given, as they are when its process starts', async () => {
  const variables: Record<string, string> = {};
  await restart({ variables: () => variables });
  write('f.js', "module.exports = () => [process.env['ESCAPEMENT_API_URL'], typeof process.env['PATH']]");
  variables['ESCAPEMENT_API_URL'] = 'http://127.0.0.1:4000';
  expect(await call('f')).toEqual(returned(['http://127.0.0.1:4000', 'string']));
});

describe('the examples', () => {
  const event = {
    jobId: 'j',
    runId: 'r',
    attempt: 1,
    nominalAt: '2026-01-01T00:00:00.000Z',
    dueAt: '2026-01-01T00:00:00.000Z',
    payload: { a: 1, b: 'é' },
  };
  beforeEach(() => restart({ handlersDirectory: EXAMPLES }));

  test('the heartbeat answers', async () => {
    expect(await call('job-heartbeat', event)).toMatchObject({ kind: 'returned' });
  });

  test('the flaky job fails twice and then succeeds', async () => {
    expect(await call('job-flaky', event)).toMatchObject({ kind: 'failed', error: { type: 'Error' } });
    expect(await call('job-flaky', { ...event, attempt: 2 })).toMatchObject({ kind: 'failed' });
    expect(await call('job-flaky', { ...event, attempt: 3 })).toEqual(returned({ succeededAtAttempt: 3 }));
  });

  test('the one that works in steps takes none where there are none, and no payload that it cannot read', async () => {
    expect(await call('job-steps', { ...event, payload: { steps: 0 } })).toEqual(returned({ steps: 0 }));
    expect(await call('job-steps', { ...event, payload: { steps: 'many' } })).toMatchObject({
      kind: 'failed',
      error: { type: 'NonRetriableError' },
    });
  });

  test('the report sums its payload up', async () => {
    expect(await call('job-report', event)).toEqual(returned({ jobId: 'j', fields: ['a', 'b'], bytes: 16 }));
    expect(await call('job-report', { ...event, payload: null })).toEqual(
      returned({ jobId: 'j', fields: [], bytes: 4 }),
    );
  });

  test('a notification is printed in one line', async () => {
    await call('notify-print', {
      source: '/jobs/j',
      subject: 'r',
      type: 'escapement.run.done',
      data: { state: 'DONE' },
    });
    expect(log.map(({ line }) => line)).toEqual(['escapement.run.done /jobs/j run r {"state":"DONE"}']);
  });
});
