import { ScheduleError, nextOccurrence, parseSchedule } from '../../../src/domain/schedule';
import { REFUSED } from './refusals';

function refusalOf(expression: string, timezone = 'UTC'): ScheduleError {
  try {
    parseSchedule(expression, { timezone });
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(expression)} was accepted`);
}

test.each(REFUSED)('%j is refused, naming the field and what to write instead', (expression, field, value, remedy) => {
  const refusal = refusalOf(expression);
  expect({ field: refusal.field, value: refusal.value }).toEqual({ field, value });
  expect(refusal.message).toContain(remedy);
  expect(refusal.message).toMatch(/\.$/);
});

test.each([
  ['at(2027-03-28T01:00:00)', 'Europe/London', 'at(2027-03-28T02:00:00)'],
  ['at(2027-04-30T00:00:00)', 'Africa/Cairo', 'at(2027-04-30T01:00:00)'],
  ['at(2027-10-03T02:15:00)', 'Australia/Lord_Howe', 'at(2027-10-03T02:30:00)'],
  ['at(2027-03-28T01:59:59)', 'Antarctica/Troll', 'at(2027-03-28T03:00:00)'],
  ['at(2011-12-30T12:00:00)', 'Pacific/Apia', 'at(2011-12-31T00:00:00)'],
])('%s does not exist in %s and is refused with the first time after the gap', (expression, timezone, remedy) => {
  const refusal = refusalOf(expression, timezone);
  expect(refusal.field).toBe('expression');
  expect(refusal.message).toContain(`Write ${remedy}`);
  expect(() => parseSchedule(remedy, { timezone })).not.toThrow();
});

test('a one-off local time that exists twice takes the first and says so', () => {
  const schedule = parseSchedule('at(2027-10-31T01:30:00)', { timezone: 'Europe/London' });
  expect(schedule).toMatchObject({ kind: 'at', at: Date.parse('2027-10-31T00:30:00Z'), ambiguous: true });
  const ends = [
    'at(2027-10-31T00:59:59)',
    'at(2027-10-31T01:00:00)',
    'at(2027-10-31T01:59:59)',
    'at(2027-10-31T02:00:00)',
  ];
  const ambiguous = ends.map((text) => parseSchedule(text, { timezone: 'Europe/London' }));
  expect(ambiguous.map((s) => s.kind === 'at' && s.ambiguous)).toEqual([false, true, true, false]);
});

/** [as it is written, the same in its plainest form] */
const SAME: [string, string][] = [
  ['  0 9 * * *\t', '0 9 * * *'],
  ['0\t9   *  * *', '0 9 * * *'],
  ['0 9 * * *\r\n', '0 9 * * *'],
  ['cron( 0 9 * * ? * )', '0 9 * * *'],
  ['CRON(0 9 * * ? *)', '0 9 * * *'],
  ['cron(0 9 ? * * *)', '0 9 * * *'],
  ['cron(0 0 9 * * ? *)', '0 9 * * *'],
  ['0 0 9 * * *', '0 9 * * *'],
  ['00 09 * * *', '0 9 * * *'],
  ['0 9 ? * ?', '0 9 * * *'],
  ['0 9 * jan,Feb mon-Fri', '0 9 * 1,2 1-5'],
  ['cron(0 9 ? JAN-FEB 2-6 *)', '0 9 * 1,2 1-5'],
  ['cron(0 9 ? 1/11 mon-FRI *)', '0 9 * 1,12 1-5'],
  ['5/15 * * * *', '5,20,35,50 * * * *'],
  ['*/25 * * * *', '0,25,50 * * * *'],
  ['*/60 * * * *', '0 * * * *'],
  ['0 11-23/4 * * *', '0 11,15,19,23 * * *'],
  ['1-5,10 0 * * *', '1,2,3,4,5,10 0 * * *'],
  ['3,3,1 0 * * *', '1,3 0 * * *'],
  ['0 0 * * 7', '0 0 * * 0'],
  ['0 0 * * 5-7', '0 0 * * 0,5,6'],
  ['0 0 * * 0-7', '0 0 * * 0-6'],
  ['0 0 * * */2', '0 0 * * 0,2,4,6'],
  ['0 0 * * 5/2', '0 0 * * 5'],
  ['0 0 * * 7/2', '0 0 * * 0'],
  ['cron(0 0 ? * */2 *)', '0 0 * * 0,2,4,6'],
  ['cron(0 0 ? * L *)', '0 0 * * 6'],
  ['cron(0 0 ? * 6l *)', '0 0 * * FRIL'],
  ['cron(0 0 ? * 2#1 *)', '0 0 * * mon#1'],
  ['0 0 * * 7#2', '0 0 * * 0#2'],
  ['0 0 l * *', 'cron(0 0 L * ? *)'],
  ['@annually', '0 0 1 1 *'],
  ['@Yearly', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@midnight', '@daily'],
  [' @hourly ', '0 * * * *'],
];

test.each(SAME)('%j means the same as %j', (written, plain) => {
  const tenOf = (expression: string) => {
    const schedule = parseSchedule(expression);
    const runs: (number | undefined)[] = [Date.UTC(2027, 0, 1)];
    for (let i = 0; i < 10; i++) runs.push(nextOccurrence(schedule, runs[i]!));
    return runs;
  };
  expect(tenOf(written)).toEqual(tenOf(plain));
});

test.each([
  ['rate(1 minute)', 60_000],
  ['rate(1 minutes)', 60_000],
  ['rate(2 minute)', 120_000],
  [' RATE( 30\tSeconds ) ', 30_000],
  ['rate(36525 days)', 36_525 * 86_400_000],
])('%j is a period of %d ms', (expression, periodMs) => {
  expect(parseSchedule(expression)).toMatchObject({ kind: 'rate', periodMs });
});

test('a parsed schedule is plain data that keeps what was written', () => {
  for (const expression of [' cron(0 9 ? * 6L *)', '0 9 L * *', 'rate(5 minutes)', 'at(2027-06-01T09:00:00)']) {
    const schedule = parseSchedule(expression, { timezone: 'Europe/Kyiv' });
    expect(schedule).toMatchObject({ expression, timezone: 'Europe/Kyiv' });
    expect(JSON.parse(JSON.stringify(schedule))).toEqual(schedule);
  }
});

test('an expression of 257 characters is refused without being read', () => {
  const refusal = refusalOf(`${'0,'.repeat(124)}1 * * * *`);
  expect(refusal.message).toContain('1 to 256');
  expect(parseSchedule(`${'0,'.repeat(123)}1 * * * *`).kind).toBe('cron');
});
