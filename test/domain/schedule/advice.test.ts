import * as fc from 'fast-check';
import { ScheduleError, parseSchedule } from '../../../src/domain/schedule';
import { runs } from '../../support/property-runs';
import { REFUSAL_CASES } from './further-cases';
import { noise } from './noise';
import { REFUSED } from './refusals';
import cases from './time-cases.json';

/** How a message writes a form that is no expression yet. */
const FORMS = new Set(['cron(...)', 'rate(...)', 'at(...)', 'at(yyyy-mm-ddThh:mm:ss)']);

function refusalOf(expression: string, timezone: string): ScheduleError | undefined {
  try {
    parseSchedule(expression, { timezone });
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
  return undefined;
}

/** What follows the word "write", without the forms and the ranges of numbers. */
function adviceOf(message: string): string {
  const at = message.search(/\bwrite /i);
  const advice = at < 0 ? '' : message.slice(at + 'write '.length);
  return advice.replace(/from \d+ to \d+/g, '');
}

/** Whole expressions: calls, aliases, and five or six fields of Unix cron. */
function expressionsIn(advice: string): string[] {
  const calls = [...advice.matchAll(/\b(?:cron|rate|at)\([^()]*\)/g)].map(([call]) => call);
  const rest = advice.replace(/\b(?:cron|rate|at)\([^()]*\)/g, ';');
  const aliases = [...rest.matchAll(/@[a-z]+/g)].map(([alias]) => alias);
  const unix = [...rest.matchAll(/(?<![^ ])[\dA-Z*?][\w*?/#,-]*(?: [\dA-Z*?][\w*?/#,-]*){4,5}(?![^ .,;])/g)];
  return [...calls.filter((call) => !FORMS.has(call)), ...aliases, ...unix.map(([text]) => text.replace(/,$/, ''))];
}

const PLACES = ['seconds', 'minutes', 'hours', 'day-of-month', 'month', 'day-of-week', 'year'];

/** Values for one field, each put into a plain expression of the dialect that was meant. */
function fieldsIn(advice: string, field: string, isAws: boolean): string[] {
  const named = /(?:in|into) the ([a-z-]+) field/.exec(advice)?.[1] ?? field;
  const place = PLACES.indexOf(named);
  if (place < 0 || expressionsIn(advice).length > 0) return [];
  const values = [...advice.matchAll(/(?<![^ ])(?:\*|\d|L\b|LW\b|(?:[A-Z]{3})(?=[ ,.#L-]))[\w*/#,-]*/g)]
    .map(([text]) => text.replace(/,$/, ''))
    .filter((text) => text !== 'AWS');
  return values.map((value) => {
    const unix = ['0', '0', '0', '*', '*', '*'].with(Math.min(place, 5), value).join(' ');
    if (!isAws || advice.includes('Unix cron')) return unix;
    const days = named === 'day-of-week' ? ['?', '*', '*'] : ['*', '*', '?'];
    return `cron(${['0', '0', '0', ...days, '*'].with(place, value).join(' ')})`;
  });
}

/** Everything that the refusal of this expression advises to write. */
function advisedFor(expression: string, timezone: string): { advised: string[]; message: string } {
  const refusal = refusalOf(expression, timezone);
  if (refusal === undefined || refusal.field === 'timezone') return { advised: [], message: '' };
  const advice = adviceOf(refusal.message);
  const isAws = /^\s*cron\s*\(/i.test(expression);
  return {
    advised: [...expressionsIn(advice), ...fieldsIn(advice, refusal.field, isAws)],
    message: refusal.message,
  };
}

const TABLE = [
  ...REFUSED.map(([expression]) => [expression, 'UTC'] as const),
  ...REFUSAL_CASES.map(([expression, timezone]) => [expression, timezone] as const),
  ...cases.filter((c) => c.error === true).map((c) => [c.expression, c.timezone] as const),
].filter(([expression, timezone]) => refusalOf(expression, timezone) !== undefined);

const ADVISED = TABLE.map(([expression, timezone]) => ({ timezone, ...advisedFor(expression, timezone) })).flatMap(
  ({ timezone, advised, message }) => advised.map((text) => [text, timezone, message] as const),
);

test.each(ADVISED)('%j in %s is accepted, as it is advised by: %s', (advised, timezone) => {
  expect(refusalOf(advised, timezone)?.message).toBeUndefined();
});

test('advice is found in most of the refusals, of every form', () => {
  expect(TABLE.length).toBeGreaterThan(200);
  expect(ADVISED.length).toBeGreaterThan(TABLE.length);
  const advised = ADVISED.map(([text]) => text);
  for (const text of [
    'cron(0 9 ? * MON *)',
    'rate(90 minutes)',
    'at(2027-12-01T00:00:00)',
    '@weekly',
    '1,2 * * * *',
    '0 9 * * TUE#1,FRI#3',
    '0 0 22-23,0-2 * * *',
    'cron(0 0 0 ? * MON#5 *)',
    '0 0 0 * * FRI,SAT,SUN',
    '0 0 0 * JAN *',
  ])
    expect(advised).toContain(text);
});

test.each(TABLE)('the refusal of %j in %s says what to write', (expression, timezone) => {
  expect(refusalOf(expression, timezone)!.message).toMatch(/\b(write|type it anew|leave them out|belong)/i);
});

test.each(TABLE.filter(([expression, timezone]) => refusalOf(expression, timezone)!.field === 'timezone'))(
  'every zone is accepted that the refusal of %j in %j advises',
  (expression, timezone) => {
    const advice = adviceOf(refusalOf(expression, timezone)!.message);
    for (const [zone] of advice.matchAll(/\b[A-Z]\w+\/[\w+-]+\w|\bUTC(?=[.,]|$)/g))
      expect(refusalOf(expression, zone)).toBeUndefined();
  },
);

/** Forms with one or two fields spoilt, since noise alone seldom comes near to what somebody would write. */
const nearly = fc
  .tuple(
    fc.constantFrom('0', '60', '*/7', '*/90', '1,', ',1', '50-10', '1,,2', '1/2/3', '/5', '5-'),
    fc.constantFrom('9', '24', '*', '22-2/3', 'L', '*/36'),
    fc.constantFrom('*', '?', '30', 'LW', 'L-40', '1', 'MON', '28-3'),
    fc.constantFrom('*', '2', 'NOV-FEB', 'JANUARY', '13'),
    fc.constantFrom(
      '*',
      '?',
      'MON',
      '7-3',
      'SAT-0',
      '2-6#1',
      '3#1,6L',
      'FRI-MON#2',
      'MON#6',
      '8',
      '0',
      '*#1',
      '5L,2#2',
    ),
    fc.constantFrom('', ' *', ' 2027', ' 2031-2027', ' x', ' 2200', ' 1 *'),
  )
  .chain(([minutes, hours, day, month, weekday, year]) => {
    const fields = `${minutes} ${hours} ${day} ${month} ${weekday}${year}`;
    return fc.constantFrom(fields, `cron(${fields})`, `30 ${fields}`, `cron(30 ${fields})`);
  });

const spans = fc
  .array(fc.tuple(fc.nat(100_000), fc.constantFrom('ns', 'ms', 's', 'm', ' min', 'h', ' hours', 'd', 'weeks', 'x')), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.map(([value, unit]) => `${value}${unit}`).join(''))
  .chain((span) => fc.constantFrom(`@every ${span}`, `rate(${span})`, `rate(1.${span})`));

const instants = fc
  .tuple(...[2300, 14, 33, 26, 62, 62].map((max) => fc.nat(max)))
  .map((parts) => parts.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')))
  .map(([y, mo, d, h, mi, s]) => `at(${y!}-${mo!}-${d!}T${h!}:${mi!}:${s!})`);

test('whatever is refused, what is advised instead is accepted', () => {
  let advices = 0;
  const zones = fc.constantFrom('UTC', 'America/New_York', 'Pacific/Apia');
  fc.assert(
    fc.property(fc.oneof(noise, nearly, nearly, spans, instants), zones, (expression, timezone) => {
      for (const text of advisedFor(expression, timezone).advised) {
        advices++;
        expect({ text, refused: refusalOf(text, timezone)?.message }).toEqual({ text, refused: undefined });
      }
    }),
    { numRuns: runs(1500) },
  );
  expect(advices).toBeGreaterThan(500);
});
