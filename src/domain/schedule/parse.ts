import { parseAt } from './at';
import { parseAwsCron, parseUnixCron } from './cron-parse';
import { rateFor } from './duration';
import { parseRate } from './rate';
import type { Schedule } from './schedule';
import { checkTimezone } from './timezone-name';
import { ScheduleError, type DstOptions } from './types';

export interface ScheduleOptions {
  /** IANA name, default UTC */
  timezone?: string;
  /** for cron only: a rate knows no clocks, and a one-off time that does not exist is always refused */
  dst?: DstOptions;
}

/** As in EventBridge Scheduler, and enough for a list of all sixty minutes. */
export const LONGEST_EXPRESSION = 256;

/** What each alias stands for in Unix cron. */
const ALIASES: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/**
 * Reads `rate(...)`, `at(...)`, `cron(...)` with AWS's six fields or seven (seconds first), Unix cron with five or six
 * (seconds first), and `@daily`-style aliases. Blanks and tabs around and between are allowed; keywords and names may be
 * in any case. Whether the schedule still names anything after now is not asked.
 * Source: EventBridge Scheduler's user guide, and our own decisions where it is silent (docs, "Schedules").
 * @throws ScheduleError for whatever is not well-formed, an impossible date, a one-off local time that does not exist,
 *   or a time zone that is not an IANA name
 */
export function parseSchedule(expression: string, options: ScheduleOptions = {}): Schedule {
  const timezone = options.timezone ?? 'UTC';
  checkTimezone(timezone);
  if (expression.length > LONGEST_EXPRESSION) {
    const message = `has ${expression.length} characters, allowed are 1 to ${LONGEST_EXPRESSION}: write a shorter one.`;
    throw new ScheduleError(
      'expression',
      `${expression.slice(0, 40)}…`,
      `expression: "${expression.slice(0, 40)}…" ${message}`,
    );
  }
  const text = expression.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  if (/[^ -~\t]/.test(text))
    refuse(expression, 'has characters other than plain letters, digits, signs, blanks and tabs: type it anew.');
  if (text === '')
    refuse(expression, 'is empty: write for example cron(0 9 * * ? *), rate(5 minutes) or at(2027-06-01T09:00:00).');

  const basis = { expression, timezone, dst: options.dst };
  if (text.startsWith('@')) return parseUnixCron(aliasOf(text, expression), basis);
  const call = /^([a-z_]+)[ \t]*\((.*)$/i.exec(text);
  if (call === null) {
    if (/^(rate|cron|at)\b/i.test(text))
      refuse(expression, 'lacks its brackets: write cron(...), rate(...) or at(...).');
    return parseUnixCron(text, basis);
  }
  const [, keyword = '', rest = ''] = call;
  if (!rest.endsWith(')')) refuse(expression, 'lacks its closing bracket: write ")" at the end, and nothing after it.');
  const inside = rest.slice(0, -1).replace(/^[ \t]+|[ \t]+$/g, '');
  switch (keyword.toLowerCase()) {
    case 'at':
      return parseAt(inside, expression, timezone);
    case 'rate':
      return parseRate(inside, expression, timezone);
    case 'cron':
      return parseAwsCron(inside, basis);
    default:
      return refuse(
        expression,
        `begins with "${keyword}", which is none of the forms: write cron(...), rate(...) or at(...).`,
      );
  }
}

function refuse(expression: string, message: string): never {
  throw new ScheduleError('expression', expression, `expression: "${expression}" ${message}`);
}

function aliasOf(text: string, expression: string): string {
  const alias = text.toLowerCase();
  const found = Object.hasOwn(ALIASES, alias) ? ALIASES[alias] : undefined;
  if (found !== undefined) return found;
  const every = /^@every\b(.*)$/.exec(alias)?.[1];
  if (every !== undefined)
    refuse(expression, `is not known here: write ${rateFor(every.trim()) ?? 'for example rate(5 minutes)'}.`);
  return refuse(
    expression,
    `is none of the aliases: write one of ${Object.keys(ALIASES).join(', ')}, or a rate(...) or cron(...).`,
  );
}
