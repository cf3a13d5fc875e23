import { gapsBetween } from '../../../src/domain/schedule/dst-changes';
import {
  nextOccurrence,
  occurrencesBetween,
  parseSchedule,
  previousOccurrence,
  skippedBetween,
  type DstOptions,
} from '../../../src/domain/schedule';

const iso = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z');

function runs(expression: string, timezone: string, from: string, until: string, dst: DstOptions = {}): string[] {
  return occurrencesBetween(
    parseSchedule(expression, { timezone, dst }),
    Date.parse(from),
    Date.parse(until),
    1000,
  ).map(iso);
}

describe('a local time that does not exist', () => {
  const spring = ['America/New_York', '2027-03-13T00:00:00Z', '2027-03-16T00:00:00Z'] as const;

  test('is skipped', () => {
    expect(runs('30 2 * * *', ...spring)).toEqual(['2027-03-13T07:30:00Z', '2027-03-15T06:30:00Z']);
  });

  test('runs at the end of the gap where that is asked for', () => {
    expect(runs('30 2 * * *', ...spring, { gap: 'run-after' })).toEqual([
      '2027-03-13T07:30:00Z',
      '2027-03-14T07:00:00Z',
      '2027-03-15T06:30:00Z',
    ]);
  });

  test('runs once at the end of the gap, however many were lost and even where one is due there anyway', () => {
    expect(runs('*/20 2,3 14 3 *', ...spring, { gap: 'run-after' })).toEqual([
      '2027-03-14T07:00:00Z',
      '2027-03-14T07:20:00Z',
      '2027-03-14T07:40:00Z',
    ]);
  });

  test('costs an hourly schedule nothing, so that it gets nothing extra', () => {
    const expected = ['2027-03-14T06:30:00Z', '2027-03-14T07:30:00Z', '2027-03-14T08:30:00Z'];
    const window = ['America/New_York', '2027-03-14T06:00:00Z', '2027-03-14T09:00:00Z'] as const;
    expect(runs('30 * * * *', ...window)).toEqual(expected);
    expect(runs('30 * * * *', ...window, { gap: 'run-after' })).toEqual(expected);
  });

  test('is lost to an hourly schedule where the gap is half an hour and puts it out of its rhythm', () => {
    const window = ['Australia/Lord_Howe', '2027-10-02T14:00:00Z', '2027-10-02T17:00:00Z'] as const;
    const [before, after] = ['2027-10-02T14:45:00Z', '2027-10-02T16:15:00Z'] as const;
    expect(runs('15 * * * *', ...window)).toEqual([before, after]);
    expect(runs('15 * * * *', ...window, { gap: 'run-after' })).toEqual([before, '2027-10-02T15:30:00Z', after]);
    const runAfter = parseSchedule('15 * * * *', { timezone: 'Australia/Lord_Howe', dst: { gap: 'run-after' } });
    const gapAt = Date.parse('2027-10-02T15:30:00Z');
    expect(previousOccurrence(runAfter, Date.parse(after))).toBe(gapAt);
    expect(nextOccurrence(runAfter, gapAt - 1)).toBe(gapAt);
    expect(nextOccurrence(runAfter, gapAt)).toBe(Date.parse(after));
  });

  /** [expression, time zone, a day with a gap, what is lost there] */
  test.each([
    ['15 * * * *', 'Australia/Lord_Howe', '2027-10-02', ['2027-10-03T02:15:00']],
    ['0 * * * *', 'Australia/Lord_Howe', '2027-10-02', ['2027-10-03T02:00:00']],
    ['45 * * * *', 'Australia/Lord_Howe', '2027-10-02', []],
    ['*/30 * * * *', 'Australia/Lord_Howe', '2027-10-02', []],
    ['* * * * * *', 'Australia/Lord_Howe', '2027-10-02', []],
    ['0,20,50 * * * *', 'Australia/Lord_Howe', '2027-10-02', ['2027-10-03T02:00:00']],
    ['10 * * * *', 'Asia/Kathmandu', '1985-12-31', ['1986-01-01T00:10:00']],
    ['*/5 * * * *', 'Asia/Kathmandu', '1985-12-31', []],
    ['15 * * * *', 'Antarctica/Troll', '2027-03-28', []],
    ['15 * * * *', 'Pacific/Apia', '2011-12-30', []],
    ['15 * * * SUN', 'America/Sao_Paulo', '2018-11-04', []],
  ])('of %s in %s on %s: an hourly schedule loses %j', (expression, timezone, day, lost) => {
    const from = Date.parse(`${day}T00:00:00Z`);
    for (const gap of ['skip', 'run-after'] as const) {
      const schedule = parseSchedule(expression, { timezone, dst: { gap } });
      const found = gapsBetween(schedule, from, from + 86_400_000, 100);
      expect(found.map(({ localTime }) => localTime)).toEqual(lost);
      expect(skippedBetween(schedule, from, from + 86_400_000, 100)).toEqual(gap === 'skip' ? found : []);
    }
  });

  test('is lost with its whole day: an hourly schedule for 30 December has none in Samoa in 2011', () => {
    const schedule = parseSchedule('0 * 30 12 *', { timezone: 'Pacific/Apia' });
    const changeAt = Date.parse('2011-12-30T10:00:00Z');
    expect(skippedBetween(schedule, changeAt - 1, changeAt, 100)).toHaveLength(24);
  });

  test.each([
    ['midnight in Sao Paulo', '0 0 * * *', 'America/Sao_Paulo', '2018-11-04T03:00:00Z'],
    ['a quarter of an hour in Kathmandu', '10 0 1 1 *', 'Asia/Kathmandu', '1985-12-31T18:30:00Z'],
    ['half an hour on Lord Howe', '15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T15:30:00Z'],
    ['two hours at Troll', '59 1 * * *', 'Antarctica/Troll', '2027-03-28T01:00:00Z'],
    ['a minute past midnight in St John’s', '30 0 * * *', 'America/St_Johns', '2006-04-02T03:31:00Z'],
    ['a whole day in Samoa', '0 9 30 * *', 'Pacific/Apia', '2011-12-30T10:00:00Z'],
    ['the end of Ramadan in Casablanca', '30 2 * * *', 'Africa/Casablanca', '2027-03-14T02:00:00Z'],
  ])('%s', (_, expression, timezone, gap) => {
    const gapAt = Date.parse(gap);
    const day = 86_400_000;
    const [skipping, after] = (['skip', 'run-after'] as const).map((kind) =>
      parseSchedule(expression, { timezone, dst: { gap: kind } }),
    );
    expect(occurrencesBetween(skipping!, gapAt - 1, gapAt, 9)).toEqual([]);
    expect(occurrencesBetween(after!, gapAt - 1, gapAt, 9)).toEqual([gapAt]);
    expect(previousOccurrence(after!, gapAt + 1)).toBe(gapAt);
    expect(skippedBetween(skipping!, gapAt - day, gapAt + day, 9)).toMatchObject([{ gapAt }]);
    expect(skippedBetween(after!, gapAt - day, gapAt + day, 9)).toEqual([]);
  });

  test('is told with its local text and the instant of the gap, after one end and up to the other', () => {
    const schedule = parseSchedule('*/30 2 * * *', { timezone: 'America/New_York' });
    const gapAt = Date.parse('2027-03-14T07:00:00Z');
    const both = [
      { localTime: '2027-03-14T02:00:00', gapAt },
      { localTime: '2027-03-14T02:30:00', gapAt },
    ];
    expect(skippedBetween(schedule, gapAt - 1, gapAt, 10)).toEqual(both);
    expect(skippedBetween(schedule, gapAt - 1, gapAt, 1)).toEqual(both.slice(0, 1));
    expect(skippedBetween(schedule, gapAt - 1, gapAt, 0)).toEqual([]);
    expect(skippedBetween(schedule, gapAt, gapAt + 1e9, 10)).toEqual([]);
    expect(skippedBetween(schedule, gapAt - 1e9, gapAt - 1, 10)).toEqual([]);
    expect(skippedBetween(schedule, gapAt - 1, Infinity, 5).map((s) => s.localTime.slice(0, 4))).toEqual([
      '2027',
      '2027',
      '2028',
      '2028',
      '2029',
    ]);
    expect(skippedBetween(parseSchedule('0 * * * *', { timezone: 'America/New_York' }), 0, Infinity, 1)).toEqual([]);
    expect(skippedBetween(parseSchedule('rate(1 hour)'), 0, Infinity, 1)).toEqual([]);
  });

  test('and never will: a schedule that lies in the gap every year names nothing, and says so at once', () => {
    const schedule = parseSchedule('cron(30 2 ? 3 SUN#2 *)', { timezone: 'America/New_York' });
    expect(nextOccurrence(schedule, Date.UTC(2027, 0, 1))).toBeUndefined();
    expect(nextOccurrence(schedule, Date.UTC(2028, 0, 1))).toBeUndefined();
    // Until 2006 the clocks went forward in April.
    expect(iso(nextOccurrence(schedule, Date.UTC(2006, 0, 1))!)).toBe('2006-03-12T07:30:00Z');
    expect(iso(previousOccurrence(schedule, Date.UTC(2150, 0, 1))!)).toBe('2006-03-12T07:30:00Z');
  });
});

describe('a local time that exists twice', () => {
  const autumn = ['America/New_York', '2027-11-07T04:30:00Z', '2027-11-07T08:30:00Z'] as const;
  const first = ['2027-11-07T05:15:00Z', '2027-11-07T05:45:00Z'];
  const second = ['2027-11-07T06:15:00Z', '2027-11-07T06:45:00Z'];

  test('runs at the first, at the second, or at both', () => {
    expect(runs('15/30 1 * * *', ...autumn)).toEqual(first);
    expect(runs('15/30 1 * * *', ...autumn, { overlap: 'first' })).toEqual(first);
    expect(runs('15/30 1 * * *', ...autumn, { overlap: 'second' })).toEqual(second);
    expect(runs('15/30 1 * * *', ...autumn, { overlap: 'both' })).toEqual([...first, ...second]);
  });

  test('runs once even where all minutes of its hour are named: the second pass is silent', () => {
    const all = runs('* 1-2 * * *', ...autumn);
    expect(all).toHaveLength(120);
    expect(all[59]).toBe('2027-11-07T05:59:00Z');
    expect(all[60]).toBe('2027-11-07T07:00:00Z');
  });

  test.each(['*', '0-23', '*/1', '0/1', '0-11,12-23'])(
    'runs in both passes where all hours are named (%s), whatever the option',
    (hours) => {
      const expected = ['04:45', '05:45', '06:45', '07:45'].map((time) => `2027-11-07T${time}:00Z`);
      expect(runs(`45 ${hours} * * *`, ...autumn)).toEqual(expected);
      expect(runs(`45 ${hours} * * *`, ...autumn, { overlap: 'second' })).toEqual(expected);
    },
  );

  test('runs in both passes of a repeated half hour where all hours are named', () => {
    const window = ['Australia/Lord_Howe', '2027-04-03T13:30:00Z', '2027-04-03T17:00:00Z'] as const;
    const instants = (...times: string[]) => times.map((time) => `2027-04-03T${time}:00Z`);
    expect(runs('45 * * * *', ...window)).toEqual(instants('13:45', '14:45', '15:15', '16:15'));
    expect(runs('15 * * * *', ...window)).toEqual(instants('14:15', '15:45', '16:45'));
  });

  test('runs once where 23 of 24 hours are named', () => {
    const expected = ['04:45', '05:45', '07:45'].map((time) => `2027-11-07T${time}:00Z`);
    expect(runs('45 0-21,23 * * *', ...autumn)).toEqual(expected);
  });

  test('an every-second schedule does not pause', () => {
    const schedule = parseSchedule('* * * * * *', { timezone: 'Europe/London' });
    const changeAt = Date.parse('2027-10-31T01:00:00Z');
    const seconds = occurrencesBetween(schedule, changeAt - 2000, changeAt + 1000, 10);
    expect(seconds).toEqual([changeAt - 1000, changeAt, changeAt + 1000]);
  });

  test('half an hour on Lord Howe: what lies outside the overlap is not touched', () => {
    const window = ['Australia/Lord_Howe', '2027-04-03T13:50:00Z', '2027-04-03T16:00:00Z'] as const;
    const at = (...times: string[]) => times.map((time) => `2027-04-03T${time}:00Z`);
    expect(runs('*/15 1 * * *', ...window)).toEqual(at('14:00', '14:15', '14:30', '14:45'));
    expect(runs('*/15 1 * * *', ...window, { overlap: 'second' })).toEqual(at('14:00', '14:15', '15:00', '15:15'));
  });

  test('over midnight in Sao Paulo the first pass of the day before counts', () => {
    const window = ['America/Sao_Paulo', '2019-02-16T12:00:00Z', '2019-02-17T12:00:00Z'] as const;
    expect(runs('30 23 * * 6', ...window)).toEqual(['2019-02-17T01:30:00Z']);
    expect(runs('30 23 * * 6', ...window, { overlap: 'second' })).toEqual(['2019-02-17T02:30:00Z']);
  });

  test('the last date of all still has its second pass', () => {
    const schedule = parseSchedule('cron(30 1 7 11 ? 2027)', {
      timezone: 'America/New_York',
      dst: { overlap: 'both' },
    });
    const all = occurrencesBetween(schedule, 0, Infinity, 10);
    expect(all.map(iso)).toEqual(['2027-11-07T05:30:00Z', '2027-11-07T06:30:00Z']);
    expect(previousOccurrence(schedule, Infinity)).toBe(all[1]);
    expect(previousOccurrence(schedule, all[1]!)).toBe(all[0]);
    expect(previousOccurrence(schedule, all[0]!)).toBeUndefined();
  });
});

describe('a rate', () => {
  const rate = parseSchedule('rate(90 minutes)');
  const anchorAt = Date.parse('2027-01-01T10:00:00Z');
  const period = 90 * 60_000;

  test('is a grid from its anchor, which is itself an occurrence only where that is said', () => {
    expect(nextOccurrence(rate, 0, { anchorAt })).toBe(anchorAt + period);
    expect(nextOccurrence(rate, 0, { anchorAt, anchorIncluded: true })).toBe(anchorAt);
    expect(nextOccurrence(rate, anchorAt, { anchorAt, anchorIncluded: true })).toBe(anchorAt + period);
    expect(nextOccurrence(rate, anchorAt + period - 1, { anchorAt })).toBe(anchorAt + period);
    expect(nextOccurrence(rate, anchorAt + period, { anchorAt })).toBe(anchorAt + 2 * period);
  });

  test('is found backwards on the same grid, down to its first occurrence', () => {
    expect(previousOccurrence(rate, anchorAt + 2 * period, { anchorAt })).toBe(anchorAt + period);
    expect(previousOccurrence(rate, anchorAt + 2 * period + 1, { anchorAt })).toBe(anchorAt + 2 * period);
    expect(previousOccurrence(rate, anchorAt + period, { anchorAt })).toBeUndefined();
    expect(previousOccurrence(rate, anchorAt + period, { anchorAt, anchorIncluded: true })).toBe(anchorAt);
    expect(previousOccurrence(rate, anchorAt, { anchorAt, anchorIncluded: true })).toBeUndefined();
  });

  test('ends with the year 2199', () => {
    const last = previousOccurrence(rate, Infinity, { anchorAt })!;
    expect(last).toBeLessThan(Date.UTC(2200, 0, 1));
    expect(last + period).toBeGreaterThanOrEqual(Date.UTC(2200, 0, 1));
    expect(nextOccurrence(rate, last, { anchorAt })).toBeUndefined();
  });

  test('cannot be asked without its grid', () => {
    expect(() => nextOccurrence(rate, 0)).toThrow('grid');
  });
});

test('a one-off names its instant, strictly after and strictly before', () => {
  const schedule = parseSchedule('at(2027-07-15T09:30:15)', { timezone: 'America/New_York' });
  const at = Date.parse('2027-07-15T13:30:15Z');
  expect(nextOccurrence(schedule, at - 1)).toBe(at);
  expect(nextOccurrence(schedule, at)).toBeUndefined();
  expect(previousOccurrence(schedule, at + 1)).toBe(at);
  expect(previousOccurrence(schedule, at)).toBeUndefined();
});

test('milliseconds of the question do not show in the answer', () => {
  const schedule = parseSchedule('* * * * * *');
  expect(nextOccurrence(schedule, 1500)).toBe(2000);
  expect(nextOccurrence(schedule, 2000)).toBe(3000);
  expect(nextOccurrence(schedule, 1999.5)).toBe(2000);
  expect(previousOccurrence(schedule, 1500)).toBe(1000);
  expect(previousOccurrence(schedule, 2000)).toBe(1000);
});

test('a range holds its end and not its beginning, and no more than the limit', () => {
  const schedule = parseSchedule('* * * * *');
  expect(occurrencesBetween(schedule, 0, 180_000, 10)).toEqual([60_000, 120_000, 180_000]);
  expect(occurrencesBetween(schedule, 0, 180_000, 2)).toEqual([60_000, 120_000]);
  expect(occurrencesBetween(schedule, 0, 180_000, 0)).toEqual([]);
  expect(occurrencesBetween(schedule, 180_000, 0, 10)).toEqual([]);
});

test.each(['Pacific/Kiritimati', 'Etc/GMT+12', 'UTC', 'America/New_York'])(
  'in %s the first local second is that of 1970 and the last that of 2199',
  (timezone) => {
    const schedule = parseSchedule('* * * * * *', { timezone });
    const secondsOf = (text: string) => {
      const { at } = parseSchedule(`at(${text})`, { timezone }) as { at: number };
      return at;
    };
    const firstAt = secondsOf('1970-01-01T00:00:00');
    const lastAt = secondsOf('2199-12-31T23:59:59');
    expect(nextOccurrence(schedule, -Infinity)).toBe(firstAt);
    expect(nextOccurrence(schedule, firstAt - 1)).toBe(firstAt);
    expect(previousOccurrence(schedule, firstAt)).toBeUndefined();
    expect(nextOccurrence(schedule, lastAt - 1)).toBe(lastAt);
    expect(nextOccurrence(schedule, lastAt)).toBeUndefined();
    expect(nextOccurrence(schedule, Infinity)).toBeUndefined();
    expect(previousOccurrence(schedule, Infinity)).toBe(lastAt);
    expect(previousOccurrence(schedule, -Infinity)).toBeUndefined();
    expect(nextOccurrence(schedule, NaN)).toBeUndefined();
    expect(previousOccurrence(schedule, NaN)).toBeUndefined();
  },
);

/** [expression, local dates of 2027 on which it runs, from the beginning of the year] */
const DATES: [string, string[]][] = [
  ['cron(0 0 L-3 * ? *)', ['01-28', '02-25', '03-28', '04-27']],
  ['cron(0 0 L-30 * ? *)', ['01-01', '03-01', '05-01', '07-01']],
  ['cron(0 0 15W * ? *)', ['01-15', '02-15', '03-15', '04-15', '05-14', '06-15', '07-15', '08-16']],
  ['cron(0 0 29W 2,5 ? *)', ['05-28']],
  ['cron(0 0 30W 10,5 ? *)', ['05-31', '10-29']],
  ['cron(0 0 31W 10 ? *)', ['10-29']],
  ['cron(0 0 1W 8 ? *)', ['08-02']],
  ['cron(0 0 1,L * ? *)', ['01-01', '01-31', '02-01', '02-28']],
  ['cron(0 0 ? * 6#5 *)', ['01-29', '04-30', '07-30', '10-29']],
  ['cron(0 0 ? * SUN#1 *)', ['01-03', '02-07', '03-07']],
  ['cron(0 0 ? * 7L *)', ['01-30', '02-27', '03-27']],
  ['cron(0 0 ? * MON,6L *)', ['01-04', '01-11', '01-18', '01-25', '01-29', '02-01']],
  ['0 0 L * 1#1', ['01-04', '01-31', '02-01', '02-28', '03-01']],
  ['0 0 * * 1#1,5#3', ['01-04', '01-15', '02-01', '02-19']],
  ['0 0 31 * ?', ['01-31', '03-31', '05-31']],
  ['0 0 */10 * *', ['01-01', '01-11', '01-21', '01-31', '02-01', '02-11']],
  ['0 0 1-31 * 1', ['01-01', '01-02', '01-03']],
];

test.each(DATES)('%s runs on %j', (expression, dates) => {
  const found = occurrencesBetween(
    parseSchedule(expression),
    Date.UTC(2026, 11, 31),
    Date.UTC(2028, 0, 0),
    dates.length,
  );
  expect(found.map((at) => iso(at).slice(5, 10))).toEqual(dates);
});

test('the fifth Monday of February is found over decades, forwards and backwards', () => {
  const schedule = parseSchedule('cron(0 9 ? 2 MON#5 *)');
  const years = occurrencesBetween(schedule, Date.UTC(2027, 0, 1), Infinity, 100).map((at) =>
    new Date(at).getUTCFullYear(),
  );
  expect(years).toEqual([2044, 2072, 2112, 2140, 2168, 2196]);
  expect(iso(previousOccurrence(schedule, Date.UTC(2044, 0, 1))!)).toBe('2016-02-29T09:00:00Z');
});
