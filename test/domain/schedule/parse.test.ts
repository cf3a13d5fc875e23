import { ScheduleError, nextOccurrence, parseSchedule } from '../../../src/domain/schedule';

function refusalOf(expression: string, timezone = 'UTC'): ScheduleError {
  try {
    parseSchedule(expression, { timezone });
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(expression)} was accepted`);
}

/** [expression, field, value, what the message must say] */
const REFUSED: [string, string, string, string][] = [
  // how many fields
  ['cron(0 9 * * *)', 'expression', 'cron(0 9 * * *)', 'cron(0 9 * * ? *)'],
  ['cron(0 9 * * MON)', 'expression', 'cron(0 9 * * MON)', 'cron(0 9 ? * MON *)'],
  ['cron(0 9 1 *)', 'expression', 'cron(0 9 1 *)', 'six'],
  ['cron(0 0 9 * * ? * *)', 'expression', 'cron(0 0 9 * * ? * *)', 'seven'],
  ['cron()', 'expression', 'cron()', '0 fields'],
  ['* * * *', 'expression', '* * * *', 'five'],
  ['0 0 9 * * ? 2027', 'expression', '0 0 9 * * ? 2027', 'cron(0 0 9 * * ? 2027)'],
  ['0 9 * * ? *', 'expression', '0 9 * * ? *', 'cron(0 9 * * ? *)'],
  ['0 9 ? * MON-FRI *', 'expression', '0 9 ? * MON-FRI *', 'cron(0 9 ? * MON-FRI *)'],
  ['0 9 1 1 MON 2027', 'expression', '0 9 1 1 MON 2027', 'cron('],
  ['0 9 * * 1, 2', 'expression', '0 9 * * 1, 2', '1,2'],
  // exactly one question mark
  ['cron(0 9 * * * *)', 'day-of-week', '*', 'cron(0 9 * * ? *)'],
  ['cron(0 9 ? * ? *)', 'day-of-month', '?', 'cron(0 9 * * ? *)'],
  ['cron(0 9 1 * MON *)', 'day-of-week', 'MON', 'cron(0 9 ? * MON *)'],
  ['cron(0 9 * * MON *)', 'day-of-week', 'MON', 'cron(0 9 ? * MON *)'],
  ['cron(0 9 1 * * *)', 'day-of-week', '*', 'cron(0 9 1 * ? *)'],
  ['cron(? 9 1 * ? *)', 'minutes', '?', '*'],
  ['cron(0 9 ?,1 * ? *)', 'day-of-month', '?', 'alone'],
  ['0 9 ?/2 * *', 'day-of-month', '?', 'alone'],
  // ranges of values
  ['60 * * * *', 'minutes', '60', '0 to 59'],
  ['60 * * * * *', 'seconds', '60', '0 to 59'],
  ['0 24 * * *', 'hours', '24', '0 to 23'],
  ['0 0 0 * *', 'day-of-month', '0', '1 to 31'],
  ['0 0 32 * *', 'day-of-month', '32', '1 to 31'],
  ['0 0 * 0 *', 'month', '0', '1 to 12'],
  ['0 0 * 13 *', 'month', '13', 'JAN to DEC'],
  ['0 0 * * 8', 'day-of-week', '8', '0 to 7'],
  ['cron(0 0 ? * 8 *)', 'day-of-week', '8', '1 to 7'],
  ['cron(0 0 ? * 0-3 *)', 'day-of-week', '0', 'Sunday is 1'],
  ['cron(0 0 ? * 0L *)', 'day-of-week', '0', 'Sunday is 1'],
  ['cron(0 0 * * ? 1969)', 'year', '1969', '1970 to 2199'],
  ['cron(0 0 * * ? 2027-2200)', 'year', '2200', '1970 to 2199'],
  ['99999999999999999999999 * * * *', 'minutes', '99999999999999999999999', '0 to 59'],
  // what is no value
  ['-5 * * * *', 'minutes', '-5', '0 to 59'],
  ['5- * * * *', 'minutes', '5-', '0 to 59'],
  ['1-2-3 * * * *', 'minutes', '1-2-3', '0 to 59'],
  ['1.5 * * * *', 'minutes', '1.5', 'whole number'],
  ['+5 * * * *', 'minutes', '+5', '0 to 59'],
  ['0x5 * * * *', 'minutes', '0x5', '0 to 59'],
  ['H * * * *', 'minutes', 'H', '0 to 59'],
  ['*,5 * * * *', 'minutes', '*', 'alone'],
  ['** * * * *', 'minutes', '**', '0 to 59'],
  ['1,,2 * * * *', 'minutes', '1,,2', 'empty'],
  [',1 * * * *', 'expression', ',1 * * * *', 'comma'],
  ['1, * * * *', 'expression', '1, * * * *', 'comma'],
  // steps
  ['*/0 * * * *', 'minutes', '*/0', '1 to 60'],
  ['5/0 * * * *', 'minutes', '5/0', '1 to 60'],
  ['*/61 * * * *', 'minutes', '*/61', 'rate(61 minutes)'],
  ['0 */36 * * *', 'hours', '*/36', 'rate(36 hours)'],
  ['*/-5 * * * *', 'minutes', '*/-5', '1 to 60'],
  ['*/ * * * *', 'minutes', '*/', '1 to 60'],
  ['/5 * * * *', 'minutes', '/5', '*/5'],
  ['1/2/3 * * * *', 'minutes', '1/2/3', '"/"'],
  ['*/1.5 * * * *', 'minutes', '*/1.5', 'whole number'],
  // ranges that run backwards
  ['0 22-2 * * *', 'hours', '22-2', '22-23,0-2'],
  ['0 23-0 * * *', 'hours', '23-0', '23,0'],
  ['0 20-4/3 * * *', 'hours', '20-4/3', '20,23,2'],
  ['0 0 28-3 * *', 'day-of-month', '28-3', '28-31,1-3'],
  ['0 0 * NOV-FEB *', 'month', 'NOV-FEB', 'NOV,DEC,JAN,FEB'],
  ['0 0 * * FRI-SUN', 'day-of-week', 'FRI-SUN', 'FRI,SAT,SUN'],
  ['0 0 * * 5-1', 'day-of-week', '5-1', '5-6,0-1'],
  ['cron(0 0 ? * 6-2 *)', 'day-of-week', '6-2', '6-7,1-2'],
  ['cron(0 0 * * ? 2031-2027)', 'year', '2031-2027', 'write 2027-2031'],
  // names
  ['0 0 * JANUARY *', 'month', 'JANUARY', 'write JAN'],
  ['0 0 * * Friday', 'day-of-week', 'Friday', 'write FRI'],
  ['0 0 MON * *', 'day-of-month', 'MON', 'day-of-week field'],
  ['0 0 JAN * *', 'day-of-month', 'JAN', 'month field'],
  ['0 0 * MON *', 'month', 'MON', 'day-of-week field'],
  ['0 0 * * JAN', 'day-of-week', 'JAN', 'month field'],
  ['0 0 * * XYZ', 'day-of-week', 'XYZ', '0 to 7 or SUN to SAT'],
  // L, W and #
  ['cron(0 9 ? * MON#0 *)', 'day-of-week', 'MON#0', 'MON#1 to MON#5'],
  ['cron(0 9 ? * MON# *)', 'day-of-week', 'MON#', 'MON#1 to MON#5'],
  ['cron(0 9 ? * #1 *)', 'day-of-week', '#1', 'MON#1 to MON#5'],
  ['cron(0 9 ? * 8#1 *)', 'day-of-week', '8', '1 to 7'],
  ['cron(0 9 ? * 3#1,6#3 *)', 'day-of-week', '3#1,6#3', 'only one expression'],
  ['cron(0 9 ? * 15W *)', 'day-of-week', '15W', 'day-of-month field'],
  ['cron(0 9 ? * L-3 *)', 'day-of-week', 'L', 'day-of-month field'],
  ['cron(0 9 6L * ? *)', 'day-of-month', '6L', 'L-3'],
  ['cron(0 9 2#1 * ? *)', 'day-of-month', '2#1', 'day-of-week field'],
  ['cron(0 9 W * ? *)', 'day-of-month', 'W', '15W'],
  ['cron(0 9 WL * ? *)', 'day-of-month', 'WL', 'LW'],
  ['cron(0 9 0W * ? *)', 'day-of-month', '0', '1 to 31'],
  ['cron(0 9 32W * ? *)', 'day-of-month', '32', '1 to 31'],
  ['cron(0 9 1-15W * ? *)', 'day-of-month', '1-15W', '15W'],
  ['cron(0 9 L-31 * ? *)', 'day-of-month', 'L-31', 'L-1 to L-30'],
  ['cron(0 9 L-0 * ? *)', 'day-of-month', 'L-0', 'L-1 to L-30'],
  ['cron(0 L * * ? *)', 'hours', 'L', 'day-of-month field'],
  ['0 9 * * L', 'day-of-week', 'L', 'SAT'],
  // dates that never come
  ['0 0 30 2 *', 'day-of-month', '30', 'never comes'],
  ['cron(0 0 31 2,4,6,9,11 ? *)', 'day-of-month', '31', 'never comes'],
  ['cron(0 0 29 2 ? 2027)', 'day-of-month', '29', 'never comes'],
  ['cron(0 0 29 2 ? 2100)', 'day-of-month', '29', 'never comes'],
  ['cron(0 0 31W 4 ? *)', 'day-of-month', '31W', 'never comes'],
  ['cron(0 0 L-30 4 ? *)', 'day-of-month', 'L-30', 'never comes'],
  ['cron(0 0 ? 2 MON#5 2027)', 'day-of-week', 'MON#5', 'never comes'],
  // aliases and forms that others have
  ['@every 5m', 'expression', '@every 5m', 'rate(5 minutes)'],
  ['@fortnightly', 'expression', '@fortnightly', '@weekly'],
  ['@toString', 'expression', '@toString', '@weekly'],
  ['every 5 minutes', 'expression', 'every 5 minutes', 'rate(5 minutes)'],
  ['', 'expression', '', 'empty'],
  [' \t ', 'expression', ' \t ', 'empty'],
  ['cron 0 9 * * ? *', 'expression', 'cron 0 9 * * ? *', 'brackets'],
  ['cron(0 9 * * ? *', 'expression', 'cron(0 9 * * ? *', 'closing bracket'],
  ['cron(0 9 * * ? *) x', 'expression', 'cron(0 9 * * ? *) x', 'closing bracket'],
  ['quartz(0 9 * * ? *)', 'expression', 'quartz(0 9 * * ? *)', 'cron(...)'],
  ['constructor(1)', 'expression', 'constructor(1)', 'cron(...)'],
  ['٥ * * * *', 'expression', '٥ * * * *', 'plain'],
  ['0 9 * *\u00a0* ', 'expression', '0 9 * *\u00a0* ', 'plain'],
  ['0 9 * * *\n0 10 * * *', 'expression', '0 9 * * *\n0 10 * * *', 'plain'],
  // rate
  ['rate()', 'expression', 'rate()', 'rate(5 minutes)'],
  ['rate(5)', 'expression', 'rate(5)', 'rate(5 minutes)'],
  ['rate(minutes)', 'expression', 'rate(minutes)', 'rate(5 minutes)'],
  ['rate(5minutes)', 'expression', 'rate(5minutes)', 'rate(5 minutes)'],
  ['rate(1 hour 30 minutes)', 'expression', 'rate(1 hour 30 minutes)', 'rate(5 minutes)'],
  ['rate(-1 minutes)', 'value', '-1', 'whole number'],
  ['rate(1.5 hours)', 'value', '1.5', 'rate(90 minutes)'],
  ['rate(1e3 minutes)', 'value', '1e3', 'whole number'],
  ['rate(１ minutes)', 'expression', 'rate(１ minutes)', 'plain'],
  ['rate(00 minutes)', 'value', '00', 'from 1 up'],
  ['rate(1 week)', 'unit', 'week', 'rate(7 days)'],
  ['rate(2 months)', 'unit', 'months', 'cron'],
  ['rate(5 ms)', 'unit', 'ms', 'second(s), minute(s), hour(s) or day(s)'],
  ['rate(99999999999999999999 minutes)', 'value', '99999999999999999999', 'hundred years'],
  ['rate(36526 days)', 'value', '36526', 'between 1 and 36525'],
  // at
  ['at()', 'expression', 'at()', 'at(2027-06-01T09:00:00)'],
  ['at(2027-06-01T09:00:00Z)', 'expression', 'at(2027-06-01T09:00:00Z)', 'offset'],
  ['at(2027-06-01T09:00:00+02:00)', 'expression', 'at(2027-06-01T09:00:00+02:00)', 'offset'],
  ['at(2027-06-01T09:00)', 'expression', 'at(2027-06-01T09:00)', 'lacks the seconds'],
  ['at(2027-06-01T09:00:00.500)', 'expression', 'at(2027-06-01T09:00:00.500)', 'fractions'],
  ['at(2027-6-1T09:00:00)', 'expression', 'at(2027-6-1T09:00:00)', 'yyyy-mm-dd'],
  ['at(2027-06-01t09:00:00)', 'expression', 'at(2027-06-01t09:00:00)', 'yyyy-mm-dd'],
  ['at(2027-06-01)', 'expression', 'at(2027-06-01)', 'yyyy-mm-dd'],
  ['at(12027-06-01T09:00:00)', 'expression', 'at(12027-06-01T09:00:00)', 'yyyy-mm-dd'],
  ['at(2027-06-01T24:00:00)', 'hour', '24', 'next day'],
  ['at(2027-06-01T09:60:00)', 'minute', '60', '0 and 59'],
  ['at(2027-06-01T09:00:60)', 'second', '60', '0 and 59'],
  ['at(2027-13-01T09:00:00)', 'month', '13', '1 and 12'],
  ['at(2027-00-01T09:00:00)', 'month', '0', '1 and 12'],
  ['at(2027-06-31T09:00:00)', 'day', '31', '30 days'],
  ['at(2100-02-29T09:00:00)', 'day', '29', '28 days'],
  ['at(1969-12-31T23:59:59)', 'year', '1969', '1970 and 2199'],
  ['at(2200-01-01T00:00:00)', 'year', '2200', '1970 and 2199'],
];

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
