import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { runs } from '../support/property-runs';
import { commandLine, nextOf, type NextAnswer, type Outcome } from './command-line';

const ROOT = join(__dirname, '../..');
const MEMBERS = ['expression', 'timezone', 'description', 'occurrences', 'skipped', 'warnings'];

/** Runs a command from the root of the project, as a process of its own. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      // The colour library paints wherever it finds CI set: what is no terminal must stay plain all the same.
      env: { ...process.env, CI: 'true', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('close', (code) => resolve({ status: code ?? -1, out, err }));
  });
}

const escapement = (args: readonly string[], env?: NodeJS.ProcessEnv) =>
  run(process.execPath, ['--import', 'tsx', 'bin/escapement.ts', ...args], env);

describe('as a process', () => {
  test('npm run --silent escapement -- next prints the JSON and nothing else', async () => {
    const args = ['next', 'cron(30 1 * * ? *)', '--timezone', 'Europe/London', '--from', '2027-03-26T12:00:00Z'];
    const { status, out, err } = await run('npm', [
      ...['run', '--silent', 'escapement', '--'],
      ...args,
      ...['--count', '2', '--json'],
    ]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const answer = JSON.parse(out) as NextAnswer;
    expect(Object.keys(answer)).toEqual(MEMBERS);
    expect(answer.occurrences).toEqual(['2027-03-27T01:30:00Z', '2027-03-29T00:30:00Z']);
  });

  test('a refused expression is one line on standard error and status 2, without colours', async () => {
    expect(await escapement(['next', 'cron(15 12 ? * 0 *)'], { FORCE_COLOR: '1' })).toEqual({
      status: 2,
      out: '',
      err:
        'error: expression: day-of-week: "0" is out of range, allowed are 1 to 7 or SUN to SAT: ' +
        'in cron(...) Sunday is 1, so write 1 or SUN.\n',
    });
  });

  test('without --from it begins now', async () => {
    const { status, out } = await escapement(['next', '* * * * * *', '--count', '1', '--json']);
    expect(status).toBe(0);
    expect((JSON.parse(out) as NextAnswer).occurrences).toEqual([expect.stringMatching(/^2\d{3}-.+:\d\dZ$/)]);
  });

  test('a reader that has heard enough is no fault', async () => {
    const command = `"${process.execPath}" --import tsx bin/escapement.ts next '* * * * * *' --count 1000 | head -n 1`;
    const { status, out, err } = await run('sh', ['-c', command]);
    expect({ status, out, err }).toEqual({ status: 0, out: 'Every second (UTC)\n', err: '' });
  });

  test('the zone of the machine does not show', async () => {
    const args = ['next', '@daily', '--from', '2027-03-26T12:00:00+05:45', '--count', '2'];
    const texts = await Promise.all(
      ['UTC', 'Pacific/Apia'].map(async (TZ) => (await escapement([...args, '--json'], { TZ })).out),
    );
    expect(texts[0]).toContain('"2027-03-27T00:00:00Z"');
    expect(texts[1]).toBe(texts[0]);
  });
});

describe('for people', () => {
  test('next shows what the schedule means, when it runs, and what the clocks will do to it', async () => {
    const args = ['cron(15 2 ? * SUN *)', '--timezone', 'America/New_York', '--from', '2027-03-05T12:00:00Z'];
    const { status, out, err } = await commandLine(['next', ...args, '--count', '3']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toBe(`At 02:15 on Sundays (America/New_York)

  UTC                   America/New_York                from now
  2027-03-07T07:15:00Z  Sun 2027-03-07 02:15:00 -05:00  in 97 d 7 h
  2027-03-21T06:15:00Z  Sun 2027-03-21 02:15:00 -04:00  in 111 d
  2027-03-28T06:15:00Z  Sun 2027-03-28 02:15:00 -04:00  in 118 d

When the clocks change:
  2027-03-14 02:15:00  does not exist: skipped, the clocks go forward at 2027-03-14T07:00:00Z

Note:
  2027-03-14 at 02:15:00 does not exist in America/New_York, where the clocks go forward: that occurrence is skipped; with dst.gap "run-after" it would run at 2027-03-14T03:00:00-04:00.
`);
  });

  test('what comes twice is told with both instants, in the order of the dates', async () => {
    const args = ['30 1 * * *', '--timezone', 'Europe/London', '--from', '2027-06-01T00:00:00Z', '--count', '1'];
    const { out } = await commandLine(['next', ...args]);
    const lines = out.split('\n');
    expect(lines.slice(lines.indexOf('When the clocks change:') + 1).slice(0, 2)).toEqual([
      '  2027-10-31 01:30:00  comes twice, at 2027-10-31T00:30:00Z and at 2027-10-31T01:30:00Z',
      '  2028-03-26 01:30:00  does not exist: skipped, the clocks go forward at 2028-03-26T01:00:00Z',
    ]);
  });

  test('in UTC there is no second column, and without surprises no more than the table', async () => {
    const { out } = await commandLine(['next', '*/10 * * * * *', '--from', '2026-11-29T23:59:35Z', '--count', '4']);
    expect(out).toBe(`Every 10 seconds (UTC)

  UTC                   from now
  2026-11-29T23:59:40Z  20 s ago
  2026-11-29T23:59:50Z  10 s ago
  2026-11-30T00:00:00Z  now
  2026-11-30T00:00:10Z  in 10 s
`);
  });

  test.each([
    ['2026-11-30T00:01:05Z', 'in 1 min 5 s'],
    ['2026-11-30T00:02:00Z', 'in 2 min'],
    ['2026-11-30T03:20:59Z', 'in 3 h 20 min'],
    ['2026-12-04T00:59:00Z', 'in 4 d'],
    ['2026-11-27T22:00:00Z', '2 d 2 h ago'],
    ['2027-11-30T00:00:00Z', 'in 365 d'],
    ['2199-11-30T00:00:00Z', 'in 173 years'],
    ['1970-01-01T00:00:00Z', '57 years ago'],
  ])('%s is %s', async (instant, words) => {
    const args = [`at(${instant.slice(0, -1)})`, '--from', '1969-01-01T00:00:00Z'];
    expect((await commandLine(['next', ...args])).out).toContain(`  ${instant}  ${words}\n`);
  });

  test('there are colours where they are wanted, and the same words', async () => {
    const args = ['next', '*/7 * * * *', '--count', '2'];
    const [plain, coloured] = [await commandLine(args), await commandLine(args, true)];
    expect(plain.out).not.toContain('\u001b');
    expect(coloured.out).toContain('\u001b[');
    expect(stripVTControlCharacters(coloured.out)).toBe(plain.out);
    expect((await commandLine([...args, '--json'], true)).out).not.toContain('\u001b');
  });

  test.each([[['--help']], [['help']], [[]]])('%j tells which commands there are', async (args) => {
    const { status, out, err } = await commandLine(args);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toContain('next [options] <EXPRESSION>');
  });

  test.each([[['next', '--help']], [['help', 'next']]])('%j has examples, and every one works', async (args) => {
    const { status, out } = await commandLine(args);
    expect(status).toBe(0);
    const examples = out.split('\n').filter((line) => line.startsWith('  escapement next'));
    expect(examples.length).toBeGreaterThan(3);
    for (const example of examples) {
      const words = [...example.trim().matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      expect(await commandLine(words.slice(1))).toMatchObject({ status: 0, err: '' });
    }
  });
});

describe('as JSON', () => {
  test('there are six members, and what is skipped has its date', async () => {
    const from = ['--from', '2027-03-05T12:00:00Z'];
    const answer = await nextOf(['30 2 * * SUN', '--timezone', 'America/New_York', ...from, '--count', '1']);
    expect(Object.keys(answer)).toEqual(MEMBERS);
    expect(answer).toEqual({
      expression: '30 2 * * SUN',
      timezone: 'America/New_York',
      description: 'At 02:30 on Sundays (America/New_York)',
      occurrences: ['2027-03-07T07:30:00Z'],
      skipped: [{ localTime: '2027-03-14T02:30:00', gapAt: '2027-03-14T07:00:00Z' }],
      warnings: [expect.stringContaining('does not exist')],
    });
  });

  test('five occurrences from now are the default, in UTC', async () => {
    const { occurrences, timezone } = await nextOf(['0 * * * *']);
    expect(occurrences).toEqual([1, 2, 3, 4, 5].map((hour) => `2026-11-30T0${hour}:00:00Z`));
    expect(timezone).toBe('UTC');
  });

  test.each([
    ['2027-01-01T00:00:00Z', '2027-01-02T00:00:00Z'],
    ['2027-01-01T00:00:00.000Z', '2027-01-02T00:00:00Z'],
    ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z'],
    ['2027-01-01T00:00Z', '2027-01-02T00:00:00Z'],
    ['2027-01-01t00:00:00z', '2027-01-02T00:00:00Z'],
    ['2027-01-01T01:00:00+02:00', '2027-01-01T00:00:00Z'],
    ['2026-12-31T23:00:00.123456789-05:30', '2027-01-02T00:00:00Z'],
    ['2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['1969-12-30T12:00:00Z', '1970-01-01T00:00:00Z'],
    ['2199-12-30T00:00:00Z', '2199-12-31T00:00:00Z'],
  ])('from %s the first midnight is %s', async (from, first) => {
    expect((await nextOf(['@daily', '--from', from, '--count', '1'])).occurrences).toEqual([first]);
  });

  test('a rate goes on before 1970 and ends with 2199', async () => {
    const early = await nextOf(['rate(1 day)', '--from', '1901-05-05T00:00:00Z', '--count', '1']);
    expect(early.occurrences).toEqual(['1901-05-06T00:00:00Z']);
    const late = await nextOf(['rate(1 day)', '--from', '2199-12-30T12:00:00Z']);
    expect(late.occurrences).toEqual(['2199-12-31T12:00:00Z']);
    expect(late.warnings).toEqual([expect.stringContaining('this one run')]);
  });

  test('a thousand occurrences are the most', async () => {
    expect((await nextOf(['* * * * * *', '--count', '1000'])).occurrences).toHaveLength(1000);
  });
});

describe('what is typed wrong is named, with status 2 and nothing on standard output:', () => {
  const instant = 'must be an instant with Z or an offset, such as 2027-03-27T01:30:00Z';
  test.each([
    [['@daily', '--count', '0'], '--count: must be a whole number from 1 to 1000; got "0"'],
    [['@daily', '--count', '1001'], '--count: must be'],
    [['@daily', '--count', '-1'], '--count: must be'],
    [['@daily', '--count', '1.5'], '--count: must be'],
    [['@daily', '--count', '1e2'], '--count: must be'],
    [['@daily', '--count', ''], '--count: must be'],
    [['@daily', '--count'], "option '--count <number>' argument missing"],
    [['@daily', '--from', 'yesterday'], `--from: ${instant}`],
    [['@daily', '--from', '2027-01-01'], `--from: ${instant}`],
    [['@daily', '--from', '2027-01-01T00:00:00'], `--from: ${instant}`],
    [['@daily', '--from', '2027-02-29T00:00:00Z'], `--from: ${instant}`],
    [['@daily', '--from', '2027-13-01T00:00:00Z'], `--from: ${instant}`],
    [['@daily', '--from', '2027-01-01T24:00:00Z'], `--from: ${instant}`],
    [['@daily', '--from', '2027-01-01T00:00:60Z'], `--from: ${instant}`],
    [['@daily', '--from', '2027-01-01T00:00:00+24:00'], `--from: ${instant}`],
    [['@daily', '--from', '-000001-01-01T00:00:00Z'], `--from: ${instant}`],
    [['@daily', '--from', '1798761600'], `--from: ${instant}`],
    [['@daily', '--from', ''], `--from: ${instant}`],
    [['rate(1 day)', '--anchor', 'today'], `--anchor: ${instant}`],
    [['@daily', '--timezone', 'Mars/Phobos'], '--timezone: "Mars/Phobos" is not a time zone of the IANA data: write'],
    [['@daily', '--dst-gap', 'run'], '--dst-gap: must be one of skip, run-after; got "run"'],
    [['@daily', '--dst-overlap', 'third'], '--dst-overlap: must be one of first, second, both; got "third"'],
    [['@daily', '--frm', 'x'], "unknown option '--frm' (Did you mean --from?); see escapement next --help"],
    [['-5 * * * *'], 'expression: "-5 * * * *" begins with "-", as none does: write for example'],
    [['0', '9', '*', '*', '*'], "Put the expression in quotes: escapement next '0 9 * * MON-FRI'"],
    [[], "missing required argument 'EXPRESSION': write for example escapement next"],
    [['@daily', '--from', '9999-12-31T23:59:59Z'], 'names nothing after 9999-12-31T23:59:59Z'],
    [['x'.repeat(257)], 'has 257 characters, allowed are 1 to 256'],
  ])('%j', async (args, says) => {
    const { status, out, err } = await commandLine(['next', ...args]);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(/^error: .+\n$/);
    expect(err).toContain(says);
  });

  test('everything at once, a line each', async () => {
    const { err } = await commandLine(['next', 'rate(0 minutes)', '--timezone', 'PST', '--count', '0', '--from', 'x']);
    const words = err.split('\n').map((line) => line.replace('error:', '').trim().split(':')[0]);
    expect(words).toEqual(['--timezone', '--from', '--count', 'expression', '']);
  });

  test('an unknown command, with a guess', async () => {
    expect((await commandLine(['nxt', '@daily'])).err).toBe("error: unknown command 'nxt' (Did you mean next?)\n");
  });

  test('and control characters do not reach the terminal', async () => {
    const { err } = await commandLine(['next', '\u001b[2J\n* * * *', '--timezone', 'Europe/\u0007']);
    expect(err.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(err).toContain('\\x1b[2J\\x0a* * * *');
  });

  test('whatever it is', async () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom(
        '--from',
        '--count',
        '--timezone',
        '--anchor',
        '--json',
        '--',
        '-',
        '@daily',
        '2027-01-01T00:00:00Z',
        '7',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (words) => {
        const { status, out, err } = await commandLine(['next', ...words]);
        expect([0, 2]).toContain(status);
        expect(status === 0 ? err : out).toBe('');
        if (status === 2) expect(err).toMatch(/^error: /);
      }),
      { numRuns: runs(500) },
    );
  });
});
