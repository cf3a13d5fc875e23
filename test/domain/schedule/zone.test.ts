import * as fc from 'fast-check';
import { runs } from '../../support/property-runs';
import { ScheduleError, checkTimezone, toLocalText } from '../../../src/domain/schedule';

const ZONES = [
  'UTC',
  'Europe/London',
  'Europe/Dublin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'America/Argentina/Tucuman',
  'America/Recife',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'Africa/Monrovia',
  'Antarctica/Troll',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** What Intl itself says, without our table. */
function intlText(at: number, timezone: string): string {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(timezone, format);
  return format.format(at).replace(' ', 'T');
}

test('a local text is what Intl shows, for any second from 1970 to 2199, asked for in any order', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      fc.integer({ min: 0, max: Date.UTC(2199, 11, 31) / 1000 }),
      (zone, second) => {
        expect(toLocalText(second * 1000, zone).slice(0, 19)).toBe(intlText(second * 1000, zone));
      },
    ),
    { numRuns: runs(800) },
  );
});

test('no change of a zone is overlooked: a local text is right every five days up to 2090, after which the rules are the same every year', () => {
  for (const zone of ['Asia/Gaza', 'Africa/Casablanca']) {
    for (let at = 0; at < Date.UTC(2090, 0, 1); at += 5 * 86_400_000) {
      const shown = intlText(at, zone);
      const ours = toLocalText(at, zone).slice(0, 19);
      if (ours !== shown) throw new Error(`${zone}: ${ours} instead of ${shown}`);
    }
  }
});

test.each([
  ['2027-03-28T00:59:59Z', 'Europe/London', '2027-03-28T00:59:59+00:00'],
  ['2027-03-28T01:00:00Z', 'Europe/London', '2027-03-28T02:00:00+01:00'],
  ['2027-01-01T00:00:00Z', 'Asia/Kathmandu', '2027-01-01T05:45:00+05:45'],
  ['1985-12-31T18:29:59Z', 'Asia/Kathmandu', '1985-12-31T23:59:59+05:30'],
  ['1985-12-31T18:30:00Z', 'Asia/Kathmandu', '1986-01-01T00:15:00+05:45'],
  ['2011-12-30T09:59:59Z', 'Pacific/Apia', '2011-12-29T23:59:59-10:00'],
  ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31T00:00:00+14:00'],
  ['2027-04-03T14:59:59Z', 'Australia/Lord_Howe', '2027-04-04T01:59:59+11:00'],
  ['2027-04-03T15:00:00Z', 'Australia/Lord_Howe', '2027-04-04T01:30:00+10:30'],
  ['2027-03-28T01:00:00Z', 'Antarctica/Troll', '2027-03-28T03:00:00+02:00'],
  ['2027-07-01T00:00:00Z', 'Europe/Dublin', '2027-07-01T01:00:00+01:00'],
  ['2199-07-01T00:00:00Z', 'America/New_York', '2199-06-30T20:00:00-04:00'],
  ['1970-01-01T00:00:00Z', 'Africa/Monrovia', '1969-12-31T23:15:30-00:44:30'],
  ['2027-01-01T00:00:00.999Z', 'UTC', '2027-01-01T00:00:00+00:00'],
])('%s in %s is %s', (instant, zone, text) => {
  expect(toLocalText(Date.parse(instant), zone)).toBe(text);
});

test.each([
  'UTC',
  'GMT',
  'Etc/UTC',
  'Etc/GMT+5',
  'Asia/Kolkata',
  'Asia/Calcutta',
  'Europe/Kyiv',
  'Europe/Kiev',
  'Asia/Kathmandu',
])('%s is a time zone', (zone) => expect(() => checkTimezone(zone)).not.toThrow());

test.each(['America/Argentina/Buenos_Aires', 'America/Port-au-Prince', 'US/Pacific', 'Japan', 'europe/berlin', 'utc'])(
  '%s is a time zone too',
  (zone) => expect(() => checkTimezone(zone)).not.toThrow(),
);

test.each([
  ['PST', 'America/Los_Angeles'],
  ['pdt', 'America/Los_Angeles'],
  ['EST', 'America/New_York'],
  ['EST5EDT', 'America/New_York'],
  ['CET', 'Europe/Berlin'],
  ['IST', 'Asia/Kolkata'],
  ['BST', 'Europe/London'],
  ['', 'empty'],
  [' ', 'empty'],
  [' UTC', 'blanks'],
  ['Europe/Berlin ', 'blanks'],
  ['+02:00', 'offset'],
  ['UTC+2', 'offset'],
  ['GMT-5', 'offset'],
  ['Mars/Phobos', 'IANA'],
  ['Europe/Atlantis', 'IANA'],
  ['Europe', 'IANA'],
  ['Europe/', 'IANA'],
  ['/', 'IANA'],
  ['Etc/Unknown', 'IANA'],
  ['SystemV/PST8PDT', 'IANA'],
  ['AST', 'IANA'],
  ['local', 'IANA'],
  ['constructor', 'IANA'],
  ['Europe/Berlin\u0000', 'IANA'],
])('%j is refused as a time zone', (zone, remedy) => {
  const check = () => checkTimezone(zone);
  expect(check).toThrow(ScheduleError);
  expect(check).toThrow(expect.objectContaining({ field: 'timezone', value: zone }) as Error);
  expect(check).toThrow(remedy);
  expect(() => toLocalText(0, zone)).toThrow(ScheduleError);
});
