import type { RateSchedule, RateUnit } from './schedule';
import { ScheduleError } from './types';

const UNIT_MS: Record<RateUnit, number> = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** A hundred years, so that no instant leaves the range of exact arithmetic. */
const LONGEST_MS = 36_525 * UNIT_MS.day;

const FORM = 'rate(value unit), for example rate(5 minutes)';

function refuse(field: string, value: string, message: string): never {
  throw new ScheduleError(field, value, `${field}: ${message}`);
}

/** `text` stands between the brackets of `rate(...)`. A day is 24 hours, whatever the clocks do. */
export function parseRate(text: string, expression: string, timezone: string): RateSchedule {
  const parts = text.split(/[ \t]+/);
  const [valueText = '', unitText = ''] = parts;
  if (parts.length !== 2) {
    const glued = /^(\d+)([A-Za-z]+)$/.exec(text);
    const remedy = glued ? `rate(${glued[1]} ${glued[2]}), with a blank between value and unit` : FORM;
    refuse('expression', expression, `"${text}" is not one value and one unit: write ${remedy}.`);
  }
  if (!/^\d+$/.test(valueText))
    refuse(
      'value',
      valueText,
      `"${valueText}" is not a whole number from 1 up: ${inSmallerUnit(valueText, unitText)}.`,
    );
  const value = Number(valueText);
  if (value === 0) refuse('value', valueText, '0 would never come round: write a whole number from 1 up.');
  const unit = unitOf(unitText, value);
  const periodMs = value * UNIT_MS[unit];
  if (periodMs > LONGEST_MS) {
    refuse(
      'value',
      valueText,
      `${valueText} ${unit}s is not between 1 and ${LONGEST_MS / UNIT_MS[unit]} (a hundred years): write at(...) for one run far off.`,
    );
  }
  return { kind: 'rate', expression, timezone, value, unit, periodMs };
}

function unitOf(text: string, value: number): RateUnit {
  const unit = text.toLowerCase().replace(/s$/, '');
  if (Object.hasOwn(UNIT_MS, unit)) return unit as RateUnit;
  let remedy = 'second(s), minute(s), hour(s) or day(s)';
  if (unit === 'week') remedy = `rate(${value * 7} days)`;
  if (unit === 'month' || unit === 'year')
    remedy = 'a cron expression, since months and years differ in length, such as cron(0 0 1 * ? *)';
  return refuse('unit', text, `"${text}" is not a unit of rate: write ${remedy}.`);
}

function inSmallerUnit(valueText: string, unitText: string): string {
  const smaller: Record<string, [number, string]> = {
    minute: [60, 'seconds'],
    hour: [60, 'minutes'],
    day: [24, 'hours'],
  };
  const [times, unit] = smaller[unitText.toLowerCase().replace(/s$/, '')] ?? [];
  const inSmaller = /^\d+\.\d+$/.test(valueText) && times !== undefined ? Number(valueText) * times : NaN;
  return Number.isSafeInteger(inSmaller) && inSmaller > 0 ? `write rate(${inSmaller} ${unit})` : `write ${FORM}`;
}
