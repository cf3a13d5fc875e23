const INSTANT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-](\d\d):(\d\d))$/i;

/**
 * Reads ISO 8601 with Z or an offset; seconds and fractions may be left out. No imports here: the command line starts with it.
 * @returns epoch ms; undefined for anything else, also for a day that no calendar has
 */
export function parseInstant(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (match === null || !isOnTheCalendar(match.slice(1).map((digits: string | undefined) => Number(digits ?? 0)))) {
    return undefined;
  }
  const at = Date.parse(text.toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}

/** Date.parse takes 31 February for 3 March. */
function isOnTheCalendar(numbers: readonly number[]): boolean {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHours = 0, offsetMinutes = 0] = numbers;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDate && hour < 24 && minute < 60 && second < 60 && offsetHours < 24 && offsetMinutes < 60;
}
