/** Further cases of the kinds in time-cases.json, worked out by hand from the rules and the calendar, never from our code. */

export interface RunCase {
  expression: string;
  timezone: string;
  from: string;
  /** the next occurrences after `from`, ISO 8601 UTC to the second */
  expected: readonly string[];
  gap?: string;
  overlap?: string;
  /** of a rate */
  anchor?: string;
  /** the schedule names nothing after the last of them */
  isComplete?: true;
}

const complete = { isComplete: true } as const;

/** Expression, time zone, `from`, what is expected (without its Z), and what else is asked for. */
type Row = readonly [
  string,
  string,
  string,
  readonly string[],
  Pick<RunCase, 'gap' | 'overlap' | 'anchor' | 'isComplete'>?,
];

const ROWS: readonly Row[] = [
  // the clocks go forward
  [
    'cron(30 1 * * ? *)',
    'Europe/London',
    '2027-03-26T12:00:00Z',
    ['2027-03-27T01:30:00', '2027-03-29T00:30:00', '2027-03-30T00:30:00'],
  ],
  [
    'cron(30 1 * * ? *)',
    'Europe/London',
    '2027-03-26T12:00:00Z',
    ['2027-03-27T01:30:00', '2027-03-28T01:00:00', '2027-03-29T00:30:00'],
    { gap: 'run-after' },
  ],
  [
    '*/20 1 * * *',
    'Europe/London',
    '2027-03-27T12:00:00Z',
    ['2027-03-28T01:00:00', '2027-03-29T00:00:00', '2027-03-29T00:20:00'],
    { gap: 'run-after' },
  ],
  [
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2027-10-01T00:00:00Z',
    ['2027-10-01T15:45:00', '2027-10-03T15:15:00', '2027-10-04T15:15:00'],
  ],
  [
    '30 2 * * *',
    'Australia/Lord_Howe',
    '2027-10-01T00:00:00Z',
    ['2027-10-01T16:00:00', '2027-10-02T15:30:00', '2027-10-03T15:30:00'],
  ],
  [
    '30 2 * * *',
    'Antarctica/Troll',
    '2027-03-26T12:00:00Z',
    ['2027-03-27T02:30:00', '2027-03-29T00:30:00', '2027-03-30T00:30:00'],
  ],
  ['30 2 * * *', 'Africa/Casablanca', '2027-03-12T12:00:00Z', ['2027-03-13T02:30:00', '2027-03-15T01:30:00']],
  [
    'cron(0 12 ? * FRI *)',
    'Pacific/Apia',
    '2011-12-20T00:00:00Z',
    ['2011-12-23T22:00:00', '2012-01-05T22:00:00', '2012-01-12T22:00:00'],
  ],
  [
    'cron(0 12 ? * FRI *)',
    'Pacific/Apia',
    '2011-12-20T00:00:00Z',
    ['2011-12-23T22:00:00', '2011-12-30T10:00:00', '2012-01-05T22:00:00'],
    { gap: 'run-after' },
  ],
  [
    '0 0 * * *',
    'America/Sao_Paulo',
    '2018-11-02T12:00:00Z',
    ['2018-11-03T03:00:00', '2018-11-05T02:00:00', '2018-11-06T02:00:00'],
  ],
  [
    '@daily',
    'Africa/Cairo',
    '2027-04-28T12:00:00Z',
    ['2027-04-28T22:00:00', '2027-04-30T21:00:00', '2027-05-01T21:00:00'],
  ],
  [
    '0 */2 * * *',
    'America/New_York',
    '2027-03-14T04:30:00Z',
    ['2027-03-14T05:00:00', '2027-03-14T08:00:00', '2027-03-14T10:00:00'],
  ],
  ['30 */1 * * *', 'America/New_York', '2027-03-14T06:00:00Z', ['2027-03-14T06:30:00', '2027-03-14T07:30:00']],
  [
    '0 * * * *',
    'America/New_York',
    '2027-03-14T06:30:00Z',
    ['2027-03-14T07:00:00', '2027-03-14T08:00:00'],
    { gap: 'run-after' },
  ],
  // the clocks go back
  [
    '30 1 * * *',
    'America/New_York',
    '2027-11-06T00:00:00Z',
    ['2027-11-06T05:30:00', '2027-11-07T05:30:00', '2027-11-08T06:30:00'],
  ],
  [
    '30 1 * * *',
    'America/New_York',
    '2027-11-06T00:00:00Z',
    ['2027-11-06T05:30:00', '2027-11-07T06:30:00', '2027-11-08T06:30:00'],
    { overlap: 'second' },
  ],
  [
    '30 1 * * *',
    'America/New_York',
    '2027-11-07T00:00:00Z',
    ['2027-11-07T05:30:00', '2027-11-07T06:30:00', '2027-11-08T06:30:00'],
    { overlap: 'both' },
  ],
  ['30 1 * * *', 'America/New_York', '2027-11-07T05:30:00Z', ['2027-11-08T06:30:00']],
  [
    'cron(45 1 * * ? *)',
    'Australia/Lord_Howe',
    '2027-04-02T00:00:00Z',
    ['2027-04-02T14:45:00', '2027-04-03T15:15:00', '2027-04-04T15:15:00'],
    { overlap: 'second' },
  ],
  ['30 2 * * *', 'Antarctica/Troll', '2027-10-30T12:00:00Z', ['2027-10-31T00:30:00', '2027-11-01T02:30:00']],
  [
    '30 2 * * *',
    'Africa/Casablanca',
    '2027-02-06T00:00:00Z',
    ['2027-02-06T01:30:00', '2027-02-07T01:30:00', '2027-02-08T02:30:00'],
  ],
  [
    '30 23 * * *',
    'Africa/Cairo',
    '2027-10-27T00:00:00Z',
    ['2027-10-27T20:30:00', '2027-10-28T20:30:00', '2027-10-29T21:30:00'],
  ],
  [
    '*/15 1 * * *',
    'Europe/London',
    '2027-10-31T00:10:00Z',
    ['2027-10-31T00:15:00', '2027-10-31T00:30:00', '2027-10-31T00:45:00', '2027-11-01T01:00:00'],
  ],
  [
    '0 0-22 * * *',
    'America/New_York',
    '2027-11-07T04:30:00Z',
    ['2027-11-07T05:00:00', '2027-11-07T07:00:00', '2027-11-07T08:00:00'],
  ],
  // all 24 hours keep their rhythm
  [
    'cron(0 * * * ? *)',
    'America/New_York',
    '2027-11-07T04:30:00Z',
    ['2027-11-07T05:00:00', '2027-11-07T06:00:00', '2027-11-07T07:00:00'],
  ],
  [
    'cron(0 0-23 * * ? *)',
    'Europe/London',
    '2027-10-30T23:30:00Z',
    ['2027-10-31T00:00:00', '2027-10-31T01:00:00', '2027-10-31T02:00:00'],
  ],
  [
    'cron(0/30 * * * ? *)',
    'Australia/Lord_Howe',
    '2027-04-03T14:20:00Z',
    ['2027-04-03T14:30:00', '2027-04-03T15:00:00', '2027-04-03T15:30:00', '2027-04-03T16:00:00'],
  ],
  [
    '* * * * * *',
    'America/New_York',
    '2027-11-07T05:59:58Z',
    ['2027-11-07T05:59:59', '2027-11-07T06:00:00', '2027-11-07T06:00:01'],
  ],
  // either day of Unix
  [
    '0 12 1 * MON',
    'UTC',
    '2027-05-25T00:00:00Z',
    ['2027-05-31T12:00:00', '2027-06-01T12:00:00', '2027-06-07T12:00:00'],
  ],
  ['0 0 1-7 * *', 'UTC', '2027-01-06T12:00:00Z', ['2027-01-07T00:00:00', '2027-02-01T00:00:00']],
  ['0 9 ? * MON', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-04T09:00:00', '2027-01-11T09:00:00']],
  ['0 0 * * 7', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-03T00:00:00', '2027-01-10T00:00:00']],
  ['0 0 * * 0', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-03T00:00:00', '2027-01-10T00:00:00']],
  ['0 0 * * 5-7', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-02T00:00:00', '2027-01-03T00:00:00', '2027-01-08T00:00:00']],
  // steps and lists
  [
    'cron(5/15 * * * ? *)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-01-01T00:05:00', '2027-01-01T00:20:00', '2027-01-01T00:35:00', '2027-01-01T00:50:00', '2027-01-01T01:05:00'],
  ],
  [
    'cron(0 11-23/4 * * ? *)',
    'UTC',
    '2027-01-01T12:00:00Z',
    ['2027-01-01T15:00:00', '2027-01-01T19:00:00', '2027-01-01T23:00:00', '2027-01-02T11:00:00'],
  ],
  [
    'cron(0 0 1/10 * ? *)',
    'UTC',
    '2027-01-25T00:00:00Z',
    ['2027-01-31T00:00:00', '2027-02-01T00:00:00', '2027-02-11T00:00:00'],
  ],
  [
    'cron(0 0 1 1/5 ? *)',
    'UTC',
    '2027-02-01T00:00:00Z',
    ['2027-06-01T00:00:00', '2027-11-01T00:00:00', '2028-01-01T00:00:00'],
  ],
  [
    'cron(0 0 ? * 2/2 *)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-01-04T00:00:00', '2027-01-06T00:00:00', '2027-01-08T00:00:00'],
  ],
  ['0 0 */2 * *', 'UTC', '2027-01-30T12:00:00Z', ['2027-01-31T00:00:00', '2027-02-01T00:00:00', '2027-02-03T00:00:00']],
  ['*/20 * * * * *', 'UTC', '2027-01-01T00:00:50Z', ['2027-01-01T00:01:00', '2027-01-01T00:01:20']],
  [
    '10,5-6,50/5 8 * * *',
    'UTC',
    '2027-01-01T08:05:00Z',
    ['2027-01-01T08:06:00', '2027-01-01T08:10:00', '2027-01-01T08:50:00', '2027-01-01T08:55:00'],
  ],
  // years
  [
    'cron(0 0 1 1 ? 2030,2027-2028)',
    'UTC',
    '2026-11-30T00:00:00Z',
    ['2027-01-01T00:00:00', '2028-01-01T00:00:00', '2030-01-01T00:00:00'],
    complete,
  ],
  ['cron(0 0 1 1 ? 2190/4)', 'UTC', '2191-01-01T00:00:00Z', ['2194-01-01T00:00:00', '2198-01-01T00:00:00'], complete],
  ['cron(0 0 31 12 ? 2199)', 'America/New_York', '2199-12-31T00:00:00Z', ['2199-12-31T05:00:00'], complete],
  // last days, workdays, nth weekdays
  [
    'cron(0 0 L-3 * ? *)',
    'UTC',
    '2027-02-01T00:00:00Z',
    ['2027-02-25T00:00:00', '2027-03-28T00:00:00', '2027-04-27T00:00:00'],
  ],
  ['cron(0 14 LW 10 ? *)', 'UTC', '2027-01-01T00:00:00Z', ['2027-10-29T14:00:00', '2028-10-31T14:00:00']],
  [
    'cron(0 8 15W * ? *)',
    'UTC',
    '2027-05-01T00:00:00Z',
    ['2027-05-14T08:00:00', '2027-06-15T08:00:00', '2027-07-15T08:00:00', '2027-08-16T08:00:00'],
  ],
  ['cron(0 8 30W 2,5 ? *)', 'UTC', '2027-01-01T00:00:00Z', ['2027-05-31T08:00:00', '2028-05-30T08:00:00']],
  [
    'cron(0 12 ? * 6#3 *)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-01-15T12:00:00', '2027-02-19T12:00:00', '2027-03-19T12:00:00'],
  ],
  [
    'cron(0 12 ? * FRI#5 *)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-01-29T12:00:00', '2027-04-30T12:00:00', '2027-07-30T12:00:00', '2027-10-29T12:00:00', '2027-12-31T12:00:00'],
  ],
  ['cron(0 12 ? * L *)', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-02T12:00:00', '2027-01-09T12:00:00']],
  [
    'cron(0 12 ? * 2L *)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-01-25T12:00:00', '2027-02-22T12:00:00', '2027-03-29T12:00:00'],
  ],
  ['0 0 * * FRIL', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-29T00:00:00', '2027-02-26T00:00:00']],
  [
    '0 0 * * MON#1,FRI#1',
    'UTC',
    '2026-12-31T12:00:00Z',
    ['2027-01-01T00:00:00', '2027-01-04T00:00:00', '2027-02-01T00:00:00', '2027-02-05T00:00:00'],
  ],
  ['cron(0 9 ? jan mon#1 *)', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-04T09:00:00', '2028-01-03T09:00:00']],
  // leap days
  ['0 0 29 2 *', 'UTC', '2027-01-01T00:00:00Z', ['2028-02-29T00:00:00', '2032-02-29T00:00:00']],
  ['cron(0 0 ? 2 MON#5 *)', 'UTC', '2027-01-01T00:00:00Z', ['2044-02-29T00:00:00', '2072-02-29T00:00:00']],
  [
    'cron(0 0 L 2 ? *)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-02-28T00:00:00', '2028-02-29T00:00:00', '2029-02-28T00:00:00'],
  ],
  // seven fields
  [
    'cron(0,30 0 12 1 JAN ? 2027)',
    'UTC',
    '2026-11-30T00:00:00Z',
    ['2027-01-01T12:00:00', '2027-01-01T12:00:30'],
    complete,
  ],
  [
    'cron(*/20 59 23 31 12 ? *)',
    'Asia/Kathmandu',
    '2027-12-31T18:14:00Z',
    ['2027-12-31T18:14:20', '2027-12-31T18:14:40', '2028-12-31T18:14:00'],
  ],
  // aliases, blanks, upper and lower case
  ['@weekly', 'America/New_York', '2027-03-10T00:00:00Z', ['2027-03-14T05:00:00', '2027-03-21T04:00:00']],
  [' @Monthly ', 'UTC', '2027-01-01T00:00:00Z', ['2027-02-01T00:00:00', '2027-03-01T00:00:00']],
  ['@yearly', 'Asia/Tokyo', '2027-06-01T00:00:00Z', ['2027-12-31T15:00:00', '2028-12-31T15:00:00']],
  ['@ANNUALLY', 'UTC', '2027-06-01T00:00:00Z', ['2028-01-01T00:00:00']],
  ['@midnight', 'UTC', '2027-01-01T00:00:00.001Z', ['2027-01-02T00:00:00']],
  ['0\t9\t*\t*\tmon-Fri', 'UTC', '2027-01-01T10:00:00Z', ['2027-01-04T09:00:00', '2027-01-05T09:00:00']],
  ['  CRON ( 0  9 * * ?\t* )  ', 'UTC', '2027-01-01T10:00:00Z', ['2027-01-02T09:00:00']],
  ['Rate(  5\tMINUTES )', 'UTC', '2027-01-01T00:00:00Z', ['2027-01-01T00:05:00', '2027-01-01T00:10:00']],
  // rates
  [
    'rate(7 days)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-02-01T09:00:00', '2027-02-08T09:00:00'],
    { anchor: '2027-02-01T09:00:00Z' },
  ],
  [
    'rate(1 hour)',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2027-01-01T01:00:00', '2027-01-01T02:00:00'],
    { anchor: '2027-01-01T00:00:00.900Z' },
  ],
  ['rate(45 seconds)', 'UTC', '2027-01-01T00:00:10.750Z', ['2027-01-01T00:00:55', '2027-01-01T00:01:40']],
  [
    'rate(1 day)',
    'Europe/London',
    '2027-10-30T08:00:00Z',
    ['2027-10-31T08:00:00', '2027-11-01T08:00:00'],
    { anchor: '2027-10-30T09:00:00+01:00' },
  ],
  [
    'rate(7 hours)',
    'UTC',
    '2027-06-01T00:00:00Z',
    ['2027-06-01T02:00:00', '2027-06-01T09:00:00'],
    { anchor: '1999-12-31T21:00:00Z' },
  ],
  // one-off times
  ['at(2027-11-07T01:30:00)', 'America/New_York', '2026-11-30T00:00:00Z', ['2027-11-07T05:30:00'], complete],
  ['at( 2027-06-01T09:00:00 )', 'Asia/Kolkata', '2026-11-30T00:00:00Z', ['2027-06-01T03:30:00'], complete],
  ['at(2199-12-31T23:59:59)', 'UTC', '2199-12-31T23:59:58Z', ['2199-12-31T23:59:59'], complete],
  // names of zones
  ['0 9 * * *', 'europe/london', '2027-07-01T00:00:00Z', ['2027-07-01T08:00:00']],
  ['0 9 * * *', 'Etc/GMT-2', '2027-07-01T00:00:00Z', ['2027-07-01T07:00:00']],
  ['0 9 * * *', 'Asia/Calcutta', '2027-07-01T00:00:00Z', ['2027-07-01T03:30:00']],
  ['0 9 * * *', 'Zulu', '2027-07-01T00:00:00Z', ['2027-07-01T09:00:00']],
];

export const RUN_CASES: readonly RunCase[] = ROWS.map(([expression, timezone, from, expected, options]) => ({
  expression,
  timezone,
  from,
  expected: expected.map((instant) => `${instant}Z`),
  ...options,
}));

/** `[expression, time zone, words of the message: the field and what to write instead]`; judged from the end of November 2026. */
export type RefusalCase = readonly [expression: string, timezone: string, ...words: string[]];

export const REFUSAL_CASES: readonly RefusalCase[] = [
  // number of fields, question marks
  ['0 9 * *', 'UTC', 'expression', '4 fields', 'five', '0 9 * * MON-FRI'],
  ['0 9 * * * * *', 'UTC', 'expression', '7 fields', 'cron(0 9 * * * ? *)'],
  ['0 10 * * ? *', 'UTC', 'expression', 'write cron(0 10 * * ? *)'],
  ['0 0 1 1 ? 2027', 'UTC', 'expression', 'write cron(0 0 1 1 ? 2027)'],
  ['cron(0 9 * * * *)', 'UTC', 'day-of-week', 'write cron(0 9 * * ? *)'],
  ['cron(0 9 ? * ? *)', 'UTC', 'day-of-month', 'write cron(0 9 * * ? *)'],
  ['cron(0 9 1 * MON *)', 'UTC', 'day-of-week', 'cron(0 9 ? * MON *)', 'cron(0 9 1 * ? *)'],
  ['cron(0 9 * * MON)', 'UTC', 'the year is missing', 'cron(0 9 ? * MON *)'],
  // values, steps, ranges, names
  ['60 * * * *', 'UTC', 'minutes', '"60"', '0 to 59'],
  ['0 24 * * *', 'UTC', 'hours', '"24"', '0 to 23'],
  ['0 0 0 * *', 'UTC', 'day-of-month', '"0"', '1 to 31'],
  ['0 0 * 13 *', 'UTC', 'month', '"13"', '1 to 12 or JAN to DEC'],
  ['0 0 * * 8', 'UTC', 'day-of-week', '"8"', '0 to 7'],
  ['cron(0 0 ? * 8 *)', 'UTC', 'day-of-week', '"8"', '1 to 7 or SUN to SAT'],
  ['cron(0 0 1 1 ? 1969)', 'UTC', 'year', '"1969"', '1970 to 2199'],
  ['cron(60 0 0 * * ? *)', 'UTC', 'seconds', '"60"', '0 to 59'],
  ['*/0 * * * *', 'UTC', 'minutes', '"0"', '1 to 60'],
  ['*/61 * * * *', 'UTC', 'minutes', '"61"', 'rate(61 minutes)'],
  ['1.5 * * * *', 'UTC', 'minutes', '1.5', 'whole number'],
  ['0 9 * * FRI-MON', 'UTC', 'day-of-week', 'FRI,SAT,SUN,MON'],
  ['50-10 * * * *', 'UTC', 'minutes', '50-59,0-10'],
  ['cron(0 0 1 NOV-FEB ? *)', 'UTC', 'month', 'NOV,DEC,JAN,FEB'],
  ['cron(0 0 1 1 ? 2031-2027)', 'UTC', 'year', '2027-2031'],
  ['cron(0 0 1 JANUARY ? *)', 'UTC', 'month', 'write JAN'],
  ['cron(0 9 ? MON * *)', 'UTC', 'month', 'MON', 'day-of-week'],
  ['0 9 * * MON,', 'UTC', 'comma', '0 9 * * MON'],
  ['1, 2 * * * *', 'UTC', 'blanks', '1,2 * * * *'],
  ['cron(1, * * * ? *)', 'UTC', 'comma', 'cron(1 * * * ? *)'],
  ['cron(0, 30 * * * ? *)', 'UTC', 'comma', 'cron(0,30 * * * ? *)'],
  ['0 0 1 1 * 2027', 'UTC', 'expression', 'write cron(0 0 1 1 ? 2027)'],
  ['0 0 9 * * MON 2027', 'UTC', 'expression', 'cron(0 0 9 ? * MON 2027)'],
  ['0 9 1 1 MON 2027', 'UTC', 'expression', 'cron(0 9 ? 1 MON 2027) or cron(0 9 1 1 ? 2027)'],
  ['0 0 * * 7-3', 'UTC', 'day-of-week', 'write 0-3'],
  ['cron(0 0 1 1 ? x)', 'UTC', 'year', '2027-2030'],
  // special days
  ['cron(0 9 ? * 3#1,6#3 *)', 'UTC', 'day-of-week', '0 9 * * TUE#1,FRI#3'],
  ['cron(30 0 9 L * 3#1,6L *)', 'UTC', 'day-of-week', 'write cron(30 0 9 L * ? *);'],
  ['cron(30 0 9 ? * 3#1,6L *)', 'UTC', 'day-of-week', '30 0 9 * * TUE#1,FRIL'],
  ['cron(0 9 ? * 2-6#1 *)', 'UTC', 'day-of-week', 'MON#1,TUE#1,WED#1,THU#1,FRI#1', 'a job for each'],
  ['0 9 * * FRI-MON#2', 'UTC', 'day-of-week', 'write FRI#2,SAT#2,SUN#2,MON#2'],
  ['cron(0 9 ? * MON#0 *)', 'UTC', 'day-of-week', 'MON#1 to MON#5'],
  ['cron(0 9 ? * 15W *)', 'UTC', 'day-of-week', 'day-of-month'],
  ['cron(0 9 MON#1 * ? *)', 'UTC', 'day-of-month', 'day-of-week'],
  ['cron(0 9 L-31 * ? *)', 'UTC', 'day-of-month', 'L-1 to L-30'],
  ['cron(0 9 32W * ? *)', 'UTC', 'day-of-month', '1 to 31'],
  // dates that never come
  ['0 0 31 2 *', 'UTC', 'day-of-month', 'never comes', 'L'],
  ['cron(0 0 31 2,4,6,9,11 ? *)', 'UTC', 'day-of-month', 'never comes'],
  ['cron(0 0 29 2 ? 2027)', 'UTC', 'day-of-month', 'never comes'],
  ['cron(0 0 29 2 ? 2097-2103)', 'UTC', 'day-of-month', 'never comes'],
  ['cron(0 0 ? 2 MON#5 2027)', 'UTC', 'day-of-week', 'never comes', 'L'],
  ['cron(0 0 30W 2 ? *)', 'UTC', 'day-of-month', 'never comes'],
  // nothing ahead
  ['cron(0 0 1 1 ? 2020)', 'UTC', 'expression', 'names nothing after 2026-11-30T00:00:00Z', 'ahead'],
  ['cron(0 0 1 1 ? 1970-2026)', 'UTC', 'expression', 'names nothing after', 'ahead'],
  ['at(2026-11-30T00:00:00)', 'UTC', 'expression', 'names nothing after', 'ahead'],
  ['cron(30 2 ? 3 SUN#2 *)', 'America/New_York', 'expression', 'names nothing after'],
  // aliases, words
  ['@every 5m', 'UTC', 'expression', 'rate(5 minutes)'],
  ['@every 1h30m', 'UTC', 'expression', 'rate(90 minutes)'],
  ['@every 100ms', 'UTC', 'expression', 'rate(1 second), since a rate counts whole seconds'],
  ['@every 24h', 'UTC', 'expression', 'rate(1 day)'],
  ['@every 1x', 'UTC', 'expression', 'rate(5 minutes)'],
  ['@fortnightly', 'UTC', 'expression', '@weekly'],
  ['', 'UTC', 'expression', 'empty', 'cron('],
  ['every 5 minutes', 'UTC', 'expression', 'rate(5 minutes)'],
  ['cron 0 9 * * ? *', 'UTC', 'expression', 'brackets'],
  ['cron(0 9 * * ? *', 'UTC', 'expression', 'closing bracket'],
  ['cron(0 9 * * ? *) UTC', 'UTC', 'expression', 'closing bracket'],
  ['corn(0 9 * * ? *)', 'UTC', 'expression', '"corn"', 'cron(...)'],
  ['0 9 * * MON–FRI', 'UTC', 'expression', 'characters'],
  // rates
  ['rate(5)', 'UTC', 'expression', 'rate(5 minutes)'],
  ['rate(5minutes)', 'UTC', 'rate(5 minutes)', 'blank'],
  ['rate()', 'UTC', 'expression', 'rate(5 minutes)'],
  ['rate(5m)', 'UTC', 'expression', 'blank', 'rate(5 minutes)'],
  ['rate(5 m)', 'UTC', 'unit', 'rate(5 minutes)'],
  ['rate(2 hrs)', 'UTC', 'unit', 'rate(2 hours)'],
  ['rate(1500 ms)', 'UTC', 'unit', 'rate(2 seconds), since'],
  ['rate(1 hour 30 minutes)', 'UTC', 'expression', 'rate(90 minutes)'],
  ['rate(1 year)', 'UTC', 'unit', 'cron(0 0 1 1 ? *)'],
  ['rate(1.1 hours)', 'UTC', 'value', 'rate(66 minutes)'],
  ['*/99999999999999999999999 * * * *', 'UTC', 'minutes', 'from 1 to 60'],
  ['rate(-5 minutes)', 'UTC', 'value', 'whole number from 1 up'],
  ['rate(1.5 hours)', 'UTC', 'value', 'rate(90 minutes)'],
  ['rate(1 week)', 'UTC', 'unit', 'rate(7 days)'],
  ['rate(1 month)', 'UTC', 'unit', 'cron(0 0 1 * ? *)'],
  ['rate(99999999999999999999 days)', 'UTC', 'value', 'at(...)'],
  // one-off times
  ['at(2027-06-01T09:00)', 'UTC', 'expression', 'lacks the seconds'],
  ['at(2027-06-01T09:00:00Z)', 'UTC', 'expression', 'offset', 'at(2027-06-01T09:00:00)'],
  ['at(2027-06-01T09:00:00+02:00)', 'UTC', 'expression', 'offset'],
  ['at(2027-06-01T24:00:00)', 'UTC', 'hour', '00:00:00 of the next day', 'at(2027-06-02T00:00:00)'],
  ['at(2027-13-01T00:00:00)', 'UTC', 'month', 'between 1 and 12', 'at(2027-12-01T00:00:00)'],
  ['at(2200-01-01T00:00:00)', 'UTC', 'year', 'at(2199-01-01T00:00:00)'],
  ['at(2199-12-31T24:00:00)', 'UTC', 'hour', 'at(2199-12-31T23:59:59)'],
  ['at(1969-12-31T23:59:59)', 'UTC', 'year', 'at(2027-06-01T09:00:00)'],
  ['at(2027-06-01T09:60:00)', 'UTC', 'minute', 'at(2027-06-01T09:59:00)'],
  ['at(2027-03-28T01:60:00)', 'Europe/London', 'minute', 'at(2027-03-28T02:00:00)'],
  ['at(2027-10-03T02:15:00)', 'Australia/Lord_Howe', 'does not exist', 'at(2027-10-03T02:30:00)'],
  ['at(2011-12-30T12:00:00)', 'Pacific/Apia', 'does not exist', 'at(2011-12-31T00:00:00)'],
  // time zones
  ['@daily', 'PST', 'timezone', 'abbreviation', 'America/Los_Angeles'],
  ['@daily', 'EST', 'timezone', 'abbreviation', 'America/New_York'],
  ['@daily', '+02:00', 'timezone', 'offset', 'Asia/Kolkata'],
  ['@daily', 'UTC+2', 'timezone', 'offset', 'Etc/GMT-2'],
  ['@daily', 'Europe/Atlantis', 'timezone', 'Europe/Berlin'],
  ['@daily', ' Europe/London', 'timezone', 'blanks'],
  ['@daily', '', 'timezone', 'empty', 'UTC'],
];
