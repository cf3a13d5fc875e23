import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { commandLine } from '../bin/command-line';
import { runs } from '../support/property-runs';
import { check } from './check';
import { Inputs } from './inputs';
import { oddText } from './odd-json';

const inputs = new Inputs();
const ROOT = join(__dirname, '../..');
const LONG_MS = 1_800_000;

const VALID = [
  ['next', 'cron(0 9 ? * MON-FRI *)', '--timezone', 'Europe/London'],
  ['next', '*/15 * * * *', '--count', '3', '--from', '2027-06-01T09:00:00Z'],
  ['next', 'rate(90 minutes)', '--anchor', '2027-01-01T10:00:00Z', '--json'],
  ['next', '30 2 * * *', '--timezone', 'America/New_York', '--dst-gap', 'run-after', '--dst-overlap', 'both'],
  ['next', 'at(2027-07-15T09:30:15)', '--json'],
  ['help', 'next'],
  ['--help'],
];
const word = fc.oneof(
  oddText,
  fc.constantFrom(
    '-',
    '--',
    '---',
    '--count=',
    '--from=x',
    '-h',
    '--no-json',
    '--__proto__',
    'next',
    '-5',
    '--count=1e3',
  ),
);
const change = fc.tuple(fc.nat(9), fc.constantFrom(0, 1), fc.option(word, { nil: undefined }));
const line = fc.tuple(fc.constantFrom(...VALID), fc.array(change, { maxLength: 3 })).map(([words, changes]) =>
  changes.reduce<string[]>((all, [at, taken, put]) => {
    const from = at % (all.length + 1);
    return [...all.slice(0, from), ...(put === undefined ? [] : [put]), ...all.slice(from + taken)];
  }, words),
);

/** One message and no stack, and nothing of what was typed that moves the cursor. */
function expectRightEnd({ status, out, err }: { status: number | null; out: string; err: string }): void {
  expect([0, 1, 2]).toContain(status);
  if (status === 0) return expect(err).toBe('');
  expect(out).toBe('');
  expect(err).toMatch(/^\S/);
  expect(err).not.toMatch(/\n\s+at /);
  expect(err.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
}

test(
  'whatever words a command line has, it ends with what was asked for or with one message',
  async () => {
    const property = fc.asyncProperty(line, async (words) => {
      inputs.count('command lines');
      const end = await commandLine(words);
      expectRightEnd(end);
      expect(end.status).not.toBe(1);
    });
    await check(property, runs(1_500));
  },
  LONG_MS,
);

describe('as a process of its own', () => {
  let folder: string;
  let file: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'escapement-fuzz-'));
    file = join(folder, 'file');
    writeFileSync(file, 'no folder');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (script: string, args: readonly string[]) =>
    new Promise<{ status: number | null; out: string; err: string }>((resolve) => {
      const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, script), ...args], { cwd: ROOT });
      let out = '';
      let err = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
      child.on('close', (status) => resolve({ status, out, err }));
    });

  test.each([
    ['bin/local.ts', '--port', 'x'],
    ['bin/local.ts', '--port', '65536'],
    ['bin/local.ts', '--data', ''],
    ['bin/local.ts', '--data', 'FILE'],
    ['bin/local.ts', '--port', '0', '--data', 'FOLDER', '--handlers', 'FILE'],
    ['bin/local.ts', '--port', '0', '--data', 'FOLDER', '--handlers', 'FOLDER/absent'],
    ['bin/local.ts', '--concurrency', '-1'],
    ['bin/local.ts', '--retention-days', '1e2'],
    ['bin/local.ts', '--prot', '1'],
    ['bin/escapement.ts', 'next', '\u001b[2J', '--count', '٣'],
    ['bin/escapement.ts', 'nxt'],
  ])(
    '%s %s %s is refused with one message',
    async (script, ...args) => {
      inputs.count('command lines');
      const filled = args.map((arg) => arg.replace('FILE', file).replace('FOLDER', folder));
      const end = await run(script, filled);
      expectRightEnd(end);
      expect(end.status).not.toBe(0);
    },
    LONG_MS,
  );
});
