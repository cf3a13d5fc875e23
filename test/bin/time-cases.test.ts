import { REFUSAL_CASES, RUN_CASES } from '../domain/schedule/further-cases';
import cases from '../domain/schedule/time-cases.json';
import { commandLine, nextOf } from './command-line';

interface TimeCase {
  id: string;
  expression: string;
  timezone: string;
  from: string;
  anchor?: string;
  expected?: string[];
  complete?: boolean;
  error?: boolean;
}

/** What the message of a refused case says: the field, and what to write instead. */
const REMEDIES: Record<string, string[]> = {
  T28: ['the year is missing', 'write cron(0/5 * * * ? *)'],
  T29: ['day-of-week', 'write 1 or SUN'],
  T41: ['day-of-week', 'MON#1 to MON#5'],
  T47: ['hours', '22-23,0-2'],
  T48: ['day-of-week', 'FRI,SAT,SUN,MON'],
  T50: ['day-of-week', 'write MON'],
  T54: ['expression', '@hourly'],
  T58: ['day-of-month', 'L for the last day'],
  T64: ['year', '1970 to 2199'],
  T74: ['value', 'from 1 up'],
  T78: ['expression', 'Write at(2027-03-28T02:00:00)'],
  T79: ['expression', 'lies ahead'],
  T80: ['expression', 'at(2027-06-01T09:00:00)'],
  T81: ['day', '28 days'],
  T82: ['--timezone', 'Europe/Berlin'],
};

const all: readonly TimeCase[] = cases;
const accepted = all.filter(({ error }) => error !== true);
const refused = all.filter(({ error }) => error === true);

test('there are 43 cases, and every refused one has its remedy', () => {
  expect(all).toHaveLength(43);
  expect(refused.map(({ id }) => id)).toEqual(Object.keys(REMEDIES));
});

test.each(accepted)('next tells of $id: $expression in $timezone', async (c) => {
  const expected = c.expected ?? [];
  const count = expected.length + (c.complete === true ? 1 : 0);
  const anchor = c.anchor === undefined ? [] : ['--anchor', c.anchor];
  const args = [c.expression, '--timezone', c.timezone, '--from', c.from, '--count', String(count), ...anchor];
  expect((await nextOf(args)).occurrences).toEqual(expected);
  if (c.expression.startsWith('rate') && c.anchor === c.from) {
    expect((await nextOf(args.slice(0, -2))).occurrences).toEqual(expected);
  }
});

async function refusalOf(args: readonly string[]): Promise<string> {
  const { status, out, err } = await commandLine(['next', '--json', ...args]);
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toMatch(/^error: .+\n$/);
  return err;
}

test.each(refused)('next refuses $id: $expression in $timezone', async ({ id, expression, timezone, from }) => {
  const message = await refusalOf([expression, '--timezone', timezone, '--from', from]);
  for (const words of REMEDIES[id]!) expect(message).toContain(words);
});

test.each(RUN_CASES)('next tells of $expression in $timezone after $from', async (c) => {
  const count = c.expected.length + (c.isComplete === true ? 1 : 0);
  const answer = await nextOf([
    c.expression,
    ...['--timezone', c.timezone, '--from', c.from, '--count', String(count)],
    ...(c.gap === undefined ? [] : ['--dst-gap', c.gap]),
    ...(c.overlap === undefined ? [] : ['--dst-overlap', c.overlap]),
    ...(c.anchor === undefined ? [] : ['--anchor', c.anchor]),
  ]);
  expect(answer.occurrences).toEqual(c.expected);
  expect(answer).toMatchObject({ expression: c.expression, timezone: c.timezone });
});

test.each(REFUSAL_CASES)('%j in %j is refused', async (expression, timezone, ...words) => {
  const from = timezone === 'Pacific/Apia' ? '2011-12-01T00:00:00Z' : '2026-11-30T00:00:00Z';
  const message = await refusalOf([expression, '--timezone', timezone, '--from', from]);
  for (const word of words) expect(message).toContain(word);
});
