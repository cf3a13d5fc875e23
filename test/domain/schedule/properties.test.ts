import * as fc from 'fast-check';
import {
  ScheduleError,
  describeSchedule,
  nextOccurrence,
  occurrencesBetween,
  parseSchedule,
  previewSchedule,
  previousOccurrence,
  skippedBetween,
  toLocalText,
} from '../../../src/domain/schedule';
import { runs } from '../../support/property-runs';
import { bruteForce, windowAround } from './brute-force';
import { expressions, matches } from './expressions';
import { noise } from './noise';

/** Days around changes of the clocks of every kind. */
const WINDOWS = new Map(
  [
    windowAround('America/New_York', '2027-03-14T07:00:00Z', 1),
    windowAround('America/New_York', '2027-11-07T06:00:00Z', 1),
    windowAround('Europe/Dublin', '2027-10-31T01:00:00Z', 1),
    windowAround('Australia/Lord_Howe', '2027-04-03T15:00:00Z', 1),
    windowAround('Australia/Lord_Howe', '2027-10-02T15:30:00Z', 1),
    windowAround('America/Sao_Paulo', '2018-11-04T03:00:00Z', 1),
    windowAround('America/Sao_Paulo', '2019-02-17T02:00:00Z', 1),
    windowAround('America/St_Johns', '2006-10-29T02:31:00Z', 1),
    windowAround('America/Caracas', '2007-12-09T07:00:00Z', 1),
    windowAround('Pacific/Apia', '2011-12-30T10:00:00Z', 2),
    windowAround('Africa/Cairo', '2027-04-29T22:00:00Z', 1),
    windowAround('Africa/Casablanca', '2027-02-07T02:00:00Z', 1),
    windowAround('Antarctica/Troll', '2027-03-28T01:00:00Z', 1),
    windowAround('Antarctica/Troll', '2027-10-31T01:00:00Z', 1),
    windowAround('Asia/Kathmandu', '1985-12-31T18:30:00Z', 1),
    windowAround('America/New_York', '2199-03-10T07:00:00Z', 1),
  ].map((window) => [`${window.timezone} from ${new Date(window.fromAt).toISOString()}`, window] as const),
);
const windowNames = fc.constantFrom(...WINDOWS.keys());

const options = fc.record({
  gap: fc.constantFrom('skip' as const, 'run-after' as const),
  overlap: fc.constantFrom('first' as const, 'second' as const, 'both' as const),
});
const zones = fc.constantFrom(
  'UTC',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Cairo',
  'Asia/Kathmandu',
);
const instants = fc.integer({ min: 0, max: Date.UTC(2199, 11, 31) });

test('every occurrence is found, and nothing else, as a scan over all seconds around changes of the clocks has it', () => {
  fc.assert(
    fc.property(expressions, windowNames, options, (expression, name, dst) => {
      const window = WINDOWS.get(name)!;
      const schedule = parseSchedule(expression.text, { timezone: window.timezone, dst });
      const { occurrences, lost } = bruteForce(expression, window, dst);
      expect(occurrencesBetween(schedule, window.fromAt, window.untilAt - 1, 1e6)).toEqual(occurrences);
      const skipped = skippedBetween(schedule, window.fromAt, window.untilAt - 1, 1e6);
      expect(skipped.map(({ localTime }) => localTime)).toEqual(lost);
    }),
    { numRuns: runs(250) },
  );
});

test('backwards it finds the same as forwards', () => {
  fc.assert(
    fc.property(expressions, windowNames, options, (expression, name, dst) => {
      const window = WINDOWS.get(name)!;
      const schedule = parseSchedule(expression.text, { timezone: window.timezone, dst });
      const forwards = occurrencesBetween(schedule, window.fromAt, window.untilAt - 1, 1000);
      const backwards: number[] = [];
      let at = previousOccurrence(schedule, (forwards.at(-1) ?? window.untilAt - 1) + 1);
      while (at !== undefined && at > window.fromAt) {
        backwards.unshift(at);
        at = previousOccurrence(schedule, at);
      }
      expect(backwards).toEqual(forwards);
    }),
    { numRuns: runs(120) },
  );
});

test('next is strictly after, previous strictly before, and between the two there is nothing', () => {
  fc.assert(
    fc.property(expressions, zones, options, instants, (expression, timezone, dst, at) => {
      const schedule = parseSchedule(expression.text, { timezone, dst });
      const next = nextOccurrence(schedule, at);
      const previous = previousOccurrence(schedule, at);
      if (next !== undefined) {
        expect(next).toBeGreaterThan(at);
        expect(nextOccurrence(schedule, next - 1)).toBe(next);
        expect(previousOccurrence(schedule, next + 1)).toBe(next);
        const isHere = nextOccurrence(schedule, at - 1) === at;
        expect(previousOccurrence(schedule, next)).toBe(isHere ? at : previous);
      }
      if (previous !== undefined) {
        expect(previous).toBeLessThan(at);
        expect(nextOccurrence(schedule, previous - 1)).toBe(previous);
      }
    }),
    { numRuns: runs(250) },
  );
});

test('every occurrence shows the fields of its expression on the clocks of its zone', () => {
  fc.assert(
    fc.property(expressions, zones, instants, (expression, timezone, at) => {
      const schedule = parseSchedule(expression.text, { timezone });
      for (const run of occurrencesBetween(schedule, at, Infinity, 5)) {
        const wall = new Date(`${toLocalText(run, timezone).slice(0, 19)}Z`);
        expect(matches(expression, wall)).toBe(true);
      }
    }),
    { numRuns: runs(120) },
  );
});

test('the occurrences of a rate are a grid that does not depend on when one asks', () => {
  const periods = fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.constantFrom('seconds', 'minutes', 'hours'));
  fc.assert(
    fc.property(periods, instants, instants, fc.boolean(), ([value, unit], anchorAt, at, anchorIncluded) => {
      const schedule = parseSchedule(`rate(${value} ${unit})`);
      const periodMs = value * { seconds: 1000, minutes: 60_000, hours: 3_600_000 }[unit];
      const grid = { anchorAt, anchorIncluded };
      const next = nextOccurrence(schedule, at, grid);
      const previous = previousOccurrence(schedule, at, grid);
      if (next !== undefined) {
        expect(next).toBeGreaterThan(at);
        expect((next - anchorAt) % periodMs).toBe(0);
        expect(next).toBeGreaterThanOrEqual(anchorIncluded ? anchorAt : anchorAt + periodMs);
        if (previous !== undefined) expect(next - previous).toBe((previous + periodMs === at ? 2 : 1) * periodMs);
      }
      if (previous !== undefined) expect(previous).toBeLessThan(at);
    }),
  );
});

test('whatever is written is read or refused with the one error, and what is read can be asked and told', () => {
  let accepted = 0;
  fc.assert(
    fc.property(noise, zones, options, instants, (expression, timezone, dst, at) => {
      try {
        parseSchedule(expression, { timezone, dst });
      } catch (error) {
        if (!(error instanceof ScheduleError)) throw error;
        expect(error.message.length).toBeGreaterThan(20);
        return;
      }
      accepted++;
      const schedule = parseSchedule(expression, { timezone, dst });
      const preview = previewSchedule({ expression, timezone, dst, fromAt: at, count: 3 });
      expect(preview.occurrences).toEqual([...new Set(preview.occurrences)].sort((a, b) => a - b));
      expect(previousOccurrence(schedule, at, { anchorAt: 0 }) ?? -1).toBeLessThan(at);
      expect(describeSchedule(schedule)).toMatch(/^[A-Z].{5,}/);
      expect(preview.description).not.toMatch(/undefined|NaN/);
    }),
    { numRuns: runs(2000) },
  );
  // Or the noise would be too wild to prove anything about what is read.
  expect(accepted).toBeGreaterThan(100);
});

test('any text is a time zone or refused with the one error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (timezone) => {
      expect(() => parseSchedule('0 9 * * *', { timezone })).toThrow(ScheduleError);
    }),
  );
});
