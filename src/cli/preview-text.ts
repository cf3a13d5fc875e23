import pc from 'picocolors';
import { toLocalText, type Preview } from '../domain/schedule';
import { isoSecond } from '../messages/preview-request';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
/** From here on hours say nothing any more. */
const MANY_DAYS = 100 * DAY;
/** From here on days say nothing any more. */
const TWO_YEARS = 730 * DAY;

/** A preview for people: what the schedule means, when it runs, and what to look out for. */
export function previewText(preview: Preview, now: number, hasColour: boolean): string {
  const { bold, dim, yellow } = pc.createColors(hasColour);
  const [head, ...rows] = tableOf(preview, now);
  const surprises = surprisesOf(preview);
  const lines = [
    bold(preview.description),
    '',
    dim(head ?? ''),
    ...rows,
    ...(surprises.length > 0 ? ['', 'When the clocks change:', ...surprises] : []),
    ...(preview.warnings.length > 0 ? ['', 'Note:', ...preview.warnings.map((text) => yellow(`  ${text}`))] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function tableOf({ occurrences, timezone }: Preview, now: number): string[] {
  const isUtc = timezone.toUpperCase() === 'UTC';
  const cells = [
    ['UTC', timezone, 'from now'],
    ...occurrences.map((at) => [isoSecond(at), localText(at, timezone), distanceText(at - now)]),
  ].map(([utc, local, distance]) => (isUtc ? [utc!, distance!] : [utc!, local!, distance!]));
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd());
}

/** `Sun 2027-03-07 02:15:00 -05:00` */
function localText(at: number, timezone: string): string {
  const text = toLocalText(at, timezone);
  const weekday = WEEKDAYS[new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDay()];
  return `${weekday} ${text.slice(0, 10)} ${text.slice(11, 19)} ${text.slice(19)}`;
}

function surprisesOf({ skipped, repeated }: Preview): string[] {
  const lines = [
    ...skipped.map(({ localTime, gapAt }) => ({
      localTime,
      fate: `does not exist: skipped, the clocks go forward at ${isoSecond(gapAt)}`,
    })),
    ...repeated.map(({ localTime, firstAt, secondAt }) => ({
      localTime,
      fate: `comes twice, at ${isoSecond(firstAt)} and at ${isoSecond(secondAt)}`,
    })),
  ].sort((a, b) => (a.localTime < b.localTime ? -1 : 1));
  return lines.map(({ localTime, fate }) => `  ${localTime.replace('T', ' ')}  ${fate}`);
}

/** `in 2 h 5 min`, `3 d 4 h ago`: two units at most. */
function distanceText(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds === 0) return 'now';
  const length = lengthText(seconds);
  return ms > 0 ? `in ${length}` : `${length} ago`;
}

function lengthText(seconds: number): string {
  if (seconds >= TWO_YEARS) return `${Math.round(seconds / (365.25 * DAY))} years`;
  if (seconds >= MANY_DAYS) return `${Math.round(seconds / DAY)} d`;
  const [size, unit, smaller, smallerUnit] =
    seconds >= DAY ? [DAY, 'd', HOUR, 'h'] : seconds >= HOUR ? [HOUR, 'h', MINUTE, 'min'] : [MINUTE, 'min', 1, 's'];
  const many = Math.floor(seconds / size);
  const rest = Math.floor((seconds % size) / smaller);
  return [many > 0 ? `${many} ${unit}` : '', rest > 0 ? `${rest} ${smallerUnit}` : ''].filter(Boolean).join(' ');
}
