import { describeSchedule } from './describe';
import { repeatedBetween, skippedBetween, type RepeatedOccurrence, type SkippedOccurrence } from './dst-changes';
import { occurrencesBetween } from './occurrence';
import { parseSchedule } from './parse';
import type { Schedule } from './schedule';
import type { DstOptions } from './types';
import { warningsFor } from './warnings';

export interface PreviewRequest {
  expression: string;
  /** IANA name, default UTC */
  timezone?: string;
  /** occurrences strictly after this instant are shown, epoch ms */
  fromAt: number;
  /** where the grid of a rate begins, itself an occurrence; default: `fromAt` cut to the second, the first one a period later */
  anchorAt?: number;
  /** how many occurrences, 1 to 1,000; more are cut */
  count: number;
  dst?: DstOptions;
}

export interface Preview {
  expression: string;
  timezone: string;
  description: string;
  /** epoch ms, ascending; fewer than asked for where the schedule ends */
  occurrences: number[];
  /** the next few local times that are left out, looked for at least a year ahead */
  skipped: SkippedOccurrence[];
  /** the next few local times that exist twice */
  repeated: RepeatedOccurrence[];
  /** whole sentences */
  warnings: string[];
}

export const MOST_PREVIEWED = 1000;
const MOST_SURPRISES = 10;
/** Long enough for both changes of the clocks, wherever in the year the preview begins. */
const SURPRISE_HORIZON_MS = 366 * 86_400_000;

/**
 * What a schedule will do, before it does it.
 * @throws ScheduleError like `parseSchedule`
 */
export function previewSchedule(request: PreviewRequest): Preview {
  const { expression, fromAt, anchorAt } = request;
  const schedule = parseSchedule(expression, {
    ...(request.timezone !== undefined && { timezone: request.timezone }),
    ...(request.dst !== undefined && { dst: request.dst }),
  });
  const grid = { anchorAt: anchorAt ?? Math.floor(fromAt / 1000) * 1000, anchorIncluded: anchorAt !== undefined };
  const count = Math.min(request.count, MOST_PREVIEWED);
  const occurrences = occurrencesBetween(schedule, fromAt, Infinity, count, grid);
  const untilAt = Math.max(occurrences.at(-1) ?? fromAt, fromAt + SURPRISE_HORIZON_MS);
  const skipped = skippedBetween(schedule, fromAt, untilAt, MOST_SURPRISES);
  const repeated = repeatedBetween(schedule, fromAt, untilAt, MOST_SURPRISES);
  return {
    expression: schedule.expression,
    timezone: schedule.timezone,
    description: describeSchedule(schedule),
    occurrences,
    skipped,
    repeated,
    warnings: [...endOf(schedule, occurrences, count), ...warningsFor(schedule, fromAt, untilAt)],
  };
}

function endOf(schedule: Schedule, occurrences: readonly number[], count: number): string[] {
  if (occurrences.length === 0)
    return ['The schedule names nothing after the given instant: a job with it would be refused.'];
  if (schedule.kind === 'at' || occurrences.length >= count) return [];
  return [
    `The schedule ends: it names no more than ${occurrences.length === 1 ? 'this one run' : `these ${occurrences.length} runs`}.`,
  ];
}
