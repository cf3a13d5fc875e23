import { InputError, type FieldError } from '../domain/errors';
import {
  checkTimezone,
  MOST_PREVIEWED,
  parseSchedule,
  previewSchedule,
  ScheduleError,
  type DstOptions,
  type Preview,
} from '../domain/schedule';
import { parseInstant } from './instant';
import { messageOf } from './schedule-fields';

/** What a preview is asked with: parameters of a query, or words on a command line. Whatever is left out has its default. */
export interface PreviewTexts {
  expression: string;
  /** default UTC */
  timezone?: string;
  /** default now */
  from?: string;
  /** of a rate; default `from` */
  anchor?: string;
  /** default 5 */
  count?: string;
  dstGap?: string;
  dstOverlap?: string;
}

const DEFAULT_COUNT = 5;
const GAP_OPTIONS = ['skip', 'run-after'] as const satisfies DstOptions['gap'][];
const OVERLAP_OPTIONS = ['first', 'second', 'both'] as const satisfies DstOptions['overlap'][];

/**
 * The preview that was asked for, as both the HTTP API and the command line give it. Light on imports: the command line
 * starts with it.
 * @throws InputError with an entry per wrong field; also for a schedule that names nothing after `from`
 */
export function previewOf(texts: PreviewTexts, now: number): Preview {
  const errors: FieldError[] = [];
  const read = <Value>(field: keyof PreviewTexts, reader: (text: string) => Value): Value | undefined => {
    const text = texts[field];
    if (text === undefined) return undefined;
    try {
      return reader(text);
    } catch (error) {
      if (error instanceof ScheduleError) errors.push({ field, message: messageOf(error) });
      else if (error instanceof RangeError) errors.push({ field, message: error.message });
      else throw error;
      return undefined;
    }
  };
  const timezone = read('timezone', readTimezone) ?? 'UTC';
  const fromAt = read('from', readInstant) ?? now;
  const anchorAt = read('anchor', (text) => toSecond(readInstant(text)));
  const count = read('count', readCount) ?? DEFAULT_COUNT;
  const gap = read('dstGap', (text) => readOption(text, GAP_OPTIONS)) ?? 'skip';
  const overlap = read('dstOverlap', (text) => readOption(text, OVERLAP_OPTIONS)) ?? 'first';
  read('expression', (expression) => parseSchedule(expression, { timezone }));
  if (errors.length > 0) throw new InputError(errors);

  const { expression } = texts;
  const asked = { expression, timezone, fromAt, count, dst: { gap, overlap } };
  const preview = previewSchedule(anchorAt === undefined ? asked : { ...asked, anchorAt });
  if (preview.occurrences.length === 0) {
    const message = `${shown(expression)} names nothing after ${isoSecond(fromAt)}: write a time or a year that lies ahead of that`;
    throw new InputError([{ field: 'expression', message }]);
  }
  return preview;
}

/** An instant to the second, as previews write it: `2027-03-27T01:30:00Z`. */
export function isoSecond(at: number): string {
  return new Date(toSecond(at)).toISOString().replace('.000Z', 'Z');
}

function toSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

function readTimezone(text: string): string {
  checkTimezone(text);
  return text;
}

/** @returns epoch ms @throws RangeError */
function readInstant(text: string): number {
  const at = parseInstant(text);
  if (at !== undefined) return at;
  const plus = /\d \d\d:?\d\d$/.test(text) ? '; in a URL, + is written as %2B' : '';
  throw new RangeError(
    `must be an instant with Z or an offset, such as 2027-03-27T01:30:00Z or 2027-03-27T02:30:00+01:00${plus}; got ${shown(text)}`,
  );
}

/** @throws RangeError */
function readCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (count >= 1 && count <= MOST_PREVIEWED) return count;
  throw new RangeError(`must be a whole number from 1 to ${MOST_PREVIEWED}; got ${shown(text)}`);
}

/** @throws RangeError */
function readOption<Option extends string>(text: string, options: readonly Option[]): Option {
  const option = options.find((one) => one === text);
  if (option !== undefined) return option;
  throw new RangeError(`must be one of ${options.join(', ')}; got ${shown(text)}`);
}

function shown(text: string): string {
  const most = 300;
  return JSON.stringify((text.length > most ? `${text.slice(0, most)}…` : text).toWellFormed());
}
