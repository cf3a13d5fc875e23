import { ScheduleError, nextOccurrence, parseSchedule } from '../../../src/domain/schedule';
import cases from './time-cases.json';

interface TimeCase {
  id: string;
  expression: string;
  timezone: string;
  from: string;
  /** of a rate */
  anchor?: string;
  expected?: string[];
  /** the schedule names nothing after the last expected instant */
  complete?: boolean;
  error?: boolean;
  note: string;
}

/** Well-formed, but judged from the instant of the case it names nothing more: refused at create, not by the parser. */
const EXHAUSTED = new Set(['T79']);

const all: readonly TimeCase[] = cases;
const refused = all.filter((c) => c.error === true && !EXHAUSTED.has(c.id));
const exhausted = all.filter((c) => EXHAUSTED.has(c.id));
const accepted = all.filter((c) => c.error !== true);

function runsOf({ expression, timezone, from, anchor }: TimeCase, count: number): string[] {
  const schedule = parseSchedule(expression, { timezone });
  const grid = { anchorAt: Date.parse(anchor ?? from) };
  const runs: string[] = [];
  let at = Date.parse(from);
  for (let i = 0; i < count; i++) {
    const next = nextOccurrence(schedule, at, grid);
    if (next === undefined) break;
    runs.push(new Date(next).toISOString().replace('.000Z', 'Z'));
    at = next;
  }
  return runs;
}

test('there are 43 cases, each of one kind', () => {
  expect(all).toHaveLength(43);
  expect(refused.length + exhausted.length + accepted.length).toBe(43);
});

test.each(accepted)('$id: $expression in $timezone runs when its owner expects it. $note', (c) => {
  const expected = c.expected ?? [];
  expect(expected.length).toBeGreaterThan(0);
  expect(runsOf(c, expected.length + (c.complete === true ? 1 : 0))).toEqual(expected);
});

test.each(refused)('$id: $expression in $timezone is refused. $note', ({ expression, timezone }) => {
  expect(() => parseSchedule(expression, { timezone })).toThrow(ScheduleError);
});

test.each(exhausted)('$id: $expression is well-formed and names nothing more. $note', (c) => {
  expect(runsOf(c, 1)).toEqual([]);
});
