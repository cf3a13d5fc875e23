import { ScheduleError, previewSchedule } from '../../../src/domain/schedule';

const fromAt = Date.parse('2027-03-05T12:00:00Z');

test('a preview tells, lists, and warns of the run that a change of the clocks will skip', () => {
  const preview = previewSchedule({
    expression: 'cron(15 2 ? * SUN *)',
    timezone: 'America/New_York',
    fromAt,
    count: 3,
  });
  expect(preview).toEqual({
    expression: 'cron(15 2 ? * SUN *)',
    timezone: 'America/New_York',
    description: 'At 02:15 on Sundays (America/New_York)',
    occurrences: ['2027-03-07T07:15:00Z', '2027-03-21T06:15:00Z', '2027-03-28T06:15:00Z'].map(Date.parse),
    skipped: [{ localTime: '2027-03-14T02:15:00', gapAt: Date.parse('2027-03-14T07:00:00Z') }],
    repeated: [],
    warnings: [
      '2027-03-14 at 02:15:00 does not exist in America/New_York, where the clocks go forward: that occurrence is ' +
        'skipped; with dst.gap "run-after" it would run at 2027-03-14T03:00:00-04:00.',
    ],
  });
});

test.each([
  ['first', 'it runs at the first, 2027-11-07T01:30:00-04:00'],
  ['second', 'it runs at the second, 2027-11-07T01:30:00-05:00'],
  ['both', 'it runs at both, 2027-11-07T01:30:00-04:00 and 2027-11-07T01:30:00-05:00'],
] as const)('a local time that comes twice is shown, and how often it runs (%s)', (overlap, fate) => {
  const request = { expression: '30 1 * * *', timezone: 'America/New_York', fromAt, count: 1, dst: { overlap } };
  const preview = previewSchedule(request);
  expect(preview.repeated).toEqual([
    {
      localTime: '2027-11-07T01:30:00',
      firstAt: Date.parse('2027-11-07T05:30:00Z'),
      secondAt: Date.parse('2027-11-07T06:30:00Z'),
    },
  ]);
  expect(preview.warnings.join()).toContain(fate);
});

test('with run-after nothing is skipped, and the warning says when it runs instead', () => {
  const dst = { gap: 'run-after' } as const;
  const preview = previewSchedule({ expression: '30 2 * * *', timezone: 'America/New_York', fromAt, count: 1, dst });
  expect(preview.skipped).toEqual([]);
  expect(preview.warnings.join()).toContain('runs at the end of the gap, 2027-03-14T03:00:00-04:00');
});

test('an hourly schedule has no surprises', () => {
  const preview = previewSchedule({ expression: '@hourly', timezone: 'America/New_York', fromAt, count: 1 });
  expect(preview).toMatchObject({ skipped: [], repeated: [], warnings: [] });
});

test('an hourly schedule loses a run where the clocks go forward by half an hour, and is told so', () => {
  const request = { expression: '15 * * * *', timezone: 'Australia/Lord_Howe', fromAt, count: 1 };
  const gapAt = Date.parse('2027-10-02T15:30:00Z');
  const preview = previewSchedule(request);
  expect(preview.skipped).toEqual([{ localTime: '2027-10-03T02:15:00', gapAt }]);
  expect(preview.warnings.join()).toContain('would run at 2027-10-03T02:30:00+11:00');
  const runAfter = previewSchedule({ ...request, dst: { gap: 'run-after' } });
  expect(runAfter.skipped).toEqual([]);
  expect(runAfter.warnings.join()).toContain('runs at the end of the gap, 2027-10-03T02:30:00+11:00');
});

test('the surprises of a schedule for every minute of a lost hour are told up to ten', () => {
  const preview = previewSchedule({ expression: '* 2 * * *', timezone: 'America/New_York', fromAt, count: 1 });
  expect(preview.skipped).toHaveLength(10);
});

test.each([
  ['*/7 * * * *', 'rate(7 minutes)'],
  ['0 */5 * * *', 'rate(5 hours)'],
  ['0 0 13 * 5', 'either'],
  ['0 0 31 * *', 'L for the last day'],
  ['cron(0 0 30W * ? *)', 'L for the last day'],
  ['rate(1 day)', '24 hours'],
  ['at(2027-11-07T01:30:00)', 'twice'],
  ['cron(0 0 1 1 ? 2028)', 'this one run'],
  ['cron(0 0 1 1 ? 2028,2030)', 'these 2 runs'],
  ['cron(0 0 1 1 ? 2026)', 'would be refused'],
  ['at(2026-01-01T00:00:00)', 'would be refused'],
])('%s comes with a warning that says "%s"', (expression, words) => {
  const preview = previewSchedule({ expression, timezone: 'America/New_York', fromAt, count: 5 });
  expect(preview.warnings).toEqual([expect.stringContaining(words)]);
});

test.each(['*/15 * * * *', '0 9 1 * *', '0 9 31 1 *', 'rate(2 hours)', 'at(2027-06-01T09:00:00)', '0 9 * * MON'])(
  '%s comes without a warning',
  (expression) => {
    expect(previewSchedule({ expression, timezone: 'America/New_York', fromAt, count: 1 }).warnings).toEqual([]);
  },
);

test('a rate begins at its anchor, or at the given instant cut to the second', () => {
  const previewOf = (anchorAt?: number) =>
    previewSchedule({
      expression: 'rate(1 hour)',
      fromAt: fromAt + 7123,
      count: 2,
      ...(anchorAt !== undefined && { anchorAt }),
    });
  const hour = 3_600_000;
  expect(previewOf().occurrences).toEqual([fromAt + 7000 + hour, fromAt + 7000 + 2 * hour]);
  expect(previewOf(fromAt - hour / 2).occurrences).toEqual([fromAt + hour / 2, fromAt + (3 * hour) / 2]);
  expect(previewOf(fromAt + 9 * hour).occurrences).toEqual([fromAt + 9 * hour, fromAt + 10 * hour]);
});

test('a preview holds at most a thousand occurrences', () => {
  expect(previewSchedule({ expression: '* * * * * *', fromAt, count: 1e9 }).occurrences).toHaveLength(1000);
});

test('what the parser refuses has no preview', () => {
  expect(() => previewSchedule({ expression: 'rate(0 minutes)', fromAt, count: 1 })).toThrow(ScheduleError);
});
