import { toLocalText, type Preview } from '../domain/schedule';
import { isoSecond } from './preview-request';

/** A preview as `next --json` prints it. Instants are ISO 8601 UTC to the second. */
export function previewAnswer({ expression, timezone, description, occurrences, skipped, warnings }: Preview) {
  return {
    expression,
    timezone,
    description,
    occurrences: occurrences.map(isoSecond),
    /** `localTime` never comes, since the clocks go forward at `gapAt` */
    skipped: skipped.map(({ localTime, gapAt }) => ({ localTime, gapAt: isoSecond(gapAt) })),
    warnings,
  };
}

/** The same as the HTTP API answers it: with the occurrences as the clocks of the zone show them, and with what comes twice. */
export function fullPreviewAnswer(preview: Preview) {
  const { expression, timezone, description, occurrences, skipped, warnings } = previewAnswer(preview);
  const local = preview.occurrences.map((at) => toLocalText(at, timezone));
  const repeated = preview.repeated.map(({ localTime, firstAt, secondAt }) => ({
    localTime,
    firstAt: isoSecond(firstAt),
    secondAt: isoSecond(secondAt),
  }));
  return { expression, timezone, description, occurrences, local, skipped, repeated, warnings };
}
