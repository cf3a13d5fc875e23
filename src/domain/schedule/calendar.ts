/**
 * The proleptic Gregorian calendar in whole numbers. Days and seconds count from 1970-01-01T00:00:00, in whichever clock
 * the caller means (UTC or a local one): nothing here knows of zones.
 */
export const FIRST_YEAR = 1970;
export const LAST_YEAR = 2199;
export const DAY_SECONDS = 86_400;

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** `month` is 1 to 12. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : MONTH_LENGTHS[month - 1]!;
}

/**
 * Days since 1970-01-01 of a civil date. Years are taken to begin in March, so that the leap day is the last day of a
 * year and every month begins at (153 m + 2) / 5 days; 719,468 is the number of days from 0000-03-01 to 1970-01-01.
 */
export function dayNumber(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

/** The civil date of a day number, packed as year * 512 + month * 32 + day, since this is on the hot path. */
export function packedDate(dayNumber: number): number {
  const z = dayNumber + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const m = Math.floor((5 * dayOfYear + 2) / 153);
  const month = m < 10 ? m + 3 : m - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return year * 512 + month * 32 + (dayOfYear - Math.floor((153 * m + 2) / 5) + 1);
}

/** 0 is Sunday. */
export function weekdayOf(dayNumber: number): number {
  return (((dayNumber + 4) % 7) + 7) % 7;
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** `2027-03-28` */
function dateText(dayNumber: number): string {
  const packed = packedDate(dayNumber);
  return `${digits(packed >> 9, 4)}-${digits((packed >> 5) & 15, 2)}-${digits(packed & 31, 2)}`;
}

/** `02:30:00` */
export function timeText(secondOfDay: number): string {
  const minutes = Math.floor(secondOfDay / 60);
  return `${digits(Math.floor(minutes / 60), 2)}:${digits(minutes % 60, 2)}:${digits(secondOfDay % 60, 2)}`;
}

/** `2027-03-28T02:30:00`, of seconds since 1970-01-01T00:00:00 in the same clock */
export function dateTimeText(seconds: number): string {
  const day = Math.floor(seconds / DAY_SECONDS);
  return `${dateText(day)}T${timeText(seconds - day * DAY_SECONDS)}`;
}
