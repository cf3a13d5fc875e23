import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJobRequest } from '../../src/messages/job-request';
import { commandLine, nextOf } from '../bin/command-line';
import { Client } from '../http/client';
import { functionArn } from '../support/builders';

const page = readFileSync(join(__dirname, '../../docs/schedules.md'), 'utf8');

/** The rows of all tables that have these columns, cell by cell. */
function rowsOf(...columns: string[]): string[][] {
  const cellsOf = (line: string) => line.split('|').slice(1, -1);
  const rows: string[][] = [];
  let isWanted = false;
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) isWanted = false;
    else if (isWanted) rows.push(cellsOf(line));
    else isWanted = cellsOf(line).every((cell, i) => cell.trim() === columns[i]);
  }
  return rows.filter(([first]) => !/^ -+ $/.test(first!)).map((row) => row.map((cell) => cell.trim()));
}

/** The texts in backticks. */
const codeIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

/** A fenced block, and the one after it. */
function blockWith(word: string): { command: string; answer: string } {
  const blocks = [...page.matchAll(/```\w*\n(.*?)```/gs)].map(([, text]) => text!);
  const at = blocks.findIndex((text) => text.includes(word));
  return { command: blocks[at]!, answer: blocks[at + 1]! };
}

/** The words of a command line, without the quotes around them. */
const wordsOf = (command: string) =>
  [...command.replace(/\\\n/g, ' ').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

const rules = rowsOf('what it does', 'expression', 'time zone', 'after', 'runs at', 'from');
const refusals = rowsOf('expression', 'time zone', 'why', 'the message says');
const policies = rowsOf('what it does', 'in the job', 'example', 'from');

test('the page has its tables', () => {
  expect(rules.length).toBeGreaterThan(40);
  expect(refusals.length).toBeGreaterThan(20);
  expect(policies.length).toBeGreaterThan(15);
});

test.each(rules)('%s: %s', async (_, expressionCell, timezone, after, runs, source) => {
  const [expression, ...options] = codeIn(expressionCell);
  const expected = runs.split(', ');
  const args = [expression!, '--timezone', timezone, '--from', after, '--count', String(expected.length)];
  const { occurrences } = await nextOf([...args, ...options.flatMap((option) => option.split(' '))]);
  expect(occurrences).toEqual(expected.filter((run) => run !== 'none'));
  expect(source).not.toBe('');
});

test.each(refusals)('%s in %s is refused, since %s', async (expressionCell, timezone, _, says) => {
  const { status, err } = await commandLine(['next', codeIn(expressionCell)[0]!, '--timezone', timezone]);
  expect(status).toBe(2);
  expect(err).toContain(codeIn(says)[0]);
});

test.each(policies)('%s: a job may say so', (_, inTheJob, example, source) => {
  const basis = { target: { functionArn: functionArn('job-report') }, schedule: 'cron(30 1 * * ? *)' };
  const said = JSON.parse(`{${codeIn(inTheJob)[0]}}`) as Record<string, unknown>;
  const job = { ...basis, timezone: 'Europe/London', ...said };
  const { payload, ...request } = readJobRequest(JSON.stringify(job), job);
  expect(payload).toBe('null');
  const expected = Object.entries(said).filter(([field]) =>
    ['misfire', 'overlap', 'jitterSeconds', 'maxRuns'].includes(field),
  );
  expect(request).toMatchObject(Object.fromEntries(expected));
  expect([example, source]).not.toContain('');
});

test('the command of the page prints what the page shows', async () => {
  const { command, answer } = blockWith('escapement -- next');
  const [, next] = command.split('escapement -- ');
  expect((await commandLine(wordsOf(next!))).out).toBe(answer);
});

test('the request of the page is answered as the page shows', async () => {
  const { command, answer } = blockWith('curl -sG');
  const parameters = wordsOf(command).filter((word) => /^\w+=/.test(word));
  const query = new URLSearchParams(parameters.map((word) => word.split(/=(.*)/s).slice(0, 2) as [string, string]));
  const client = await Client.open();
  try {
    const { status, json } = await client.send(`/schedules/preview?${query.toString()}`);
    expect(status).toBe(200);
    expect(json).toEqual(JSON.parse(answer));
  } finally {
    await client.close();
  }
});
