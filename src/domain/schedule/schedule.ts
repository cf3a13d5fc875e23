import type { DstOptions } from './types';

/** A parsed schedule: plain data, to be made by `parseSchedule` only. */
export type Schedule = AtSchedule | RateSchedule | CronSchedule;

interface Named {
  /** as it was written */
  readonly expression: string;
  /** IANA name */
  readonly timezone: string;
}

export interface AtSchedule extends Named {
  readonly kind: 'at';
  /** epoch ms */
  readonly at: number;
  /** the local time exists twice, and `at` is the first of the two */
  readonly ambiguous: boolean;
}

export interface RateSchedule extends Named {
  readonly kind: 'rate';
  readonly value: number;
  readonly unit: RateUnit;
  readonly periodMs: number;
}

export type RateUnit = 'second' | 'minute' | 'hour' | 'day';

export interface CronSchedule extends Named {
  readonly kind: 'cron';
  readonly dst: Required<DstOptions>;
  /** what the fields say, for a description */
  readonly fields: CronFields;
  readonly seconds: Bits;
  readonly minutes: Bits;
  readonly hours: Bits;
  readonly months: Bits;
  /** counted from 1970 */
  readonly years: Bits;
  /** the days of a month (bit 1 to 31) by its length and the weekday of its first day, see `dayMaskIndex` */
  readonly dayMasks: readonly number[];
  /** all 24 hours are named: it keeps its real rhythm, so that both passes of a repeated hour count; for gaps see `nextLost` */
  readonly everyHour: boolean;
}

/** A set of small whole numbers, 32 to a word. */
export type Bits = readonly number[];

export interface CronFields {
  readonly seconds: readonly Item[];
  readonly minutes: readonly Item[];
  readonly hours: readonly Item[];
  readonly daysOfMonth: readonly DayItem[];
  readonly months: readonly Item[];
  readonly daysOfWeek: readonly WeekdayItem[];
  readonly years: readonly Item[];
}

/** `*` and `?` are `every`; a single value is a range of one. Weekdays are 0 (Sunday) to 6, in Unix ranges also 7. */
export type Item =
  | { readonly kind: 'every' }
  | { readonly kind: 'range'; readonly from: number; readonly to: number; readonly step: number };

export type DayItem =
  | Item
  /** `L`, `L-3`: so many days before the last of the month */
  | { readonly kind: 'last'; readonly before: number }
  /** `LW`: the last Monday to Friday of the month */
  | { readonly kind: 'last-workday' }
  /** `15W`: the Monday to Friday of the same month nearest to that day */
  | { readonly kind: 'nearest-workday'; readonly day: number };

export type WeekdayItem =
  | Item
  /** `6L`: the last such weekday of the month */
  | { readonly kind: 'last-weekday'; readonly weekday: number }
  /** `2#1`: the nth such weekday of the month */
  | { readonly kind: 'nth-weekday'; readonly weekday: number; readonly nth: number };
