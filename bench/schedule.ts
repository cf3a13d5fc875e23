/** How many next-runs a second the schedule engine finds, beside croner and cron-parser in the same run: `npx tsx bench/schedule.ts`. */
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { nextOccurrence, parseSchedule } from '../src/domain/schedule';

const FROM_AT = Date.UTC(2027, 0, 1);
const MEASURED_MS = 400;

/** [what it shows, ours, the same for croner if it can say it, time zone] */
const EXPRESSIONS: readonly (readonly [string, string, string | undefined, string])[] = [
  ['every minute', '* * * * *', '* * * * *', 'UTC'],
  ['every 5 minutes', '*/5 * * * *', '*/5 * * * *', 'Europe/Berlin'],
  ['weekdays at nine', '0 9 * * 1-5', '0 9 * * 1-5', 'America/New_York'],
  ['every second', '* * * * * *', '* * * * * *', 'America/New_York'],
  ['last day of the month', 'cron(59 23 L * ? *)', '59 23 L * *', 'Europe/Helsinki'],
  ['rate', 'rate(90 minutes)', undefined, 'UTC'],
  ['29 February', '0 9 29 2 *', '0 9 29 2 *', 'Australia/Lord_Howe'],
  ['5th Monday of February', 'cron(0 9 ? 2 MON#5 *)', '0 9 * 2 MON#5', 'America/New_York'],
  ['workday nearest to 31 in the repeated hour', 'cron(30 1 31W 10 ? *)', undefined, 'Europe/London'],
  ['always in a gap: names nothing up to 2199', 'cron(30 2 ? 3 SUN#2 *)', undefined, 'America/New_York'],
];

/** Walks along the occurrences, and begins anew where they end, until the time is up. */
function perSecond(next: (at: number) => number | undefined): number {
  let at = FROM_AT;
  const walk = (times: number) => {
    for (let i = 0; i < times; i++) at = next(at) ?? FROM_AT;
  };
  walk(50);
  let found = 0;
  const begin = performance.now();
  let elapsed: number;
  do {
    walk(20);
    found += 20;
    elapsed = performance.now() - begin;
  } while (elapsed < MEASURED_MS);
  return Math.round((found / elapsed) * 1000);
}

/** It keeps its place itself; undefined for what it cannot say. */
function cronParser(expression: string, timezone: string): number | undefined {
  try {
    const interval = CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(FROM_AT) });
    return perSecond(() => interval.next().getTime());
  } catch {
    return undefined;
  }
}

const rows = EXPRESSIONS.map(([title, expression, croners, timezone]) => {
  const schedule = parseSchedule(expression, { timezone });
  const ours = perSecond((at) => nextOccurrence(schedule, at, { anchorAt: FROM_AT }));
  const cron = croners === undefined ? undefined : new Cron(croners, { timezone, paused: true });
  const theirs = cron === undefined ? undefined : perSecond((at) => cron.nextRun(new Date(at))?.getTime());
  const parsers = croners === undefined ? undefined : cronParser(croners, timezone);
  return { title, expression, timezone, 'ours/s': ours, 'croner/s': theirs ?? '-', 'cron-parser/s': parsers ?? '-' };
});
console.table(rows);
