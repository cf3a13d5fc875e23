import { Cron } from 'croner';
import * as fc from 'fast-check';
import { runs } from '../../support/property-runs';
import { nextOccurrence, parseSchedule } from '../../../src/domain/schedule';
import { expressions } from './expressions';

const ZONES = [
  'UTC',
  'America/New_York',
  'America/Sao_Paulo',
  'Europe/London',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];
const DAY_MS = 86_400_000;
const WANTED = 10_000;

const formats = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
);

function offsetMinutes(timezone: string, at: number): number {
  const format = formats.get(timezone)!;
  return (Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000) / 60_000;
}

/** The rules differ only near a change of the clocks. */
function clocksStay(timezone: string, fromAt: number, untilAt: number): boolean {
  return offsetMinutes(timezone, fromAt - DAY_MS) === offsetMinutes(timezone, untilAt + DAY_MS);
}

test('we agree with croner wherever the rules are the same: 10,000 times over nine zones', () => {
  let compared = 0;
  const zonesCompared = new Set<string>();
  const instants = fc.integer({ min: Date.UTC(2000, 0, 1) / 1000, max: Date.UTC(2060, 0, 1) / 1000 });
  fc.assert(
    fc.property(expressions, fc.constantFrom(...ZONES), instants, (expression, timezone, fromSecond) => {
      if (compared >= WANTED) return;
      const schedule = parseSchedule(expression.text, { timezone });
      const cron = new Cron(expression.text, { timezone, paused: true });
      let at = fromSecond * 1000;
      for (let i = 0; i < 25; i++) {
        const ours = nextOccurrence(schedule, at);
        if (ours === undefined || ours - at > 300 * DAY_MS || !clocksStay(timezone, at, ours)) break;
        expect(cron.nextRun(new Date(at))?.getTime()).toBe(ours);
        compared++;
        zonesCompared.add(timezone);
        at = ours;
      }
    }),
    { numRuns: runs(4000) },
  );
  expect(compared).toBeGreaterThanOrEqual(WANTED);
  expect(zonesCompared.size).toBe(ZONES.length);
});

test.each([
  '0 9 L * *',
  '0 9 LW * *',
  '0 9 15W * *',
  '0 9 * * 5L',
  '0 9 * * MON#2',
  '0 9 * * 1#5',
  '0 0 29 2 *',
  '0 9 * 2 1#5',
])('we agree with croner on %s wherever it follows', (expression) => {
  const schedule = parseSchedule(expression, { timezone: 'Asia/Kathmandu' });
  const cron = new Cron(expression, { timezone: 'Asia/Kathmandu', paused: true });
  let at = Date.UTC(2027, 0, 1);
  // What comes only in leap years croner follows for some decades.
  const count = / 2 /.test(expression) ? 4 : 50;
  for (let i = 0; i < count; i++) {
    const ours = nextOccurrence(schedule, at)!;
    expect(cron.nextRun(new Date(at))?.getTime()).toBe(ours);
    at = ours;
  }
});
