import { LONGEST_MS, UNIT_MS, rateFor } from './duration';
import type { RateSchedule, RateUnit } from './schedule';
import { ScheduleError } from './types';

const UNITS = 'second(s), minute(s), hour(s) or day(s)';
const EXAMPLE = 'for example rate(5 minutes)';

function refuse(field: string, value: string, message: string): never {
  throw new ScheduleError(field, value, `${field}: ${message}`);
}

/** `text` stands between the brackets of `rate(...)`. A day is 24 hours, whatever the clocks do. */
export function parseRate(text: string, expression: string, timezone: string): RateSchedule {
  const parts = text.split(/[ \t]+/);
  const [valueText = '', unitText = ''] = parts;
  if (parts.length !== 2) {
    const blank = /^\d+[A-Za-z]+$/.test(text) ? ', with a blank between them' : '';
    const remedy = rateFor(text) ?? EXAMPLE;
    refuse('expression', expression, `"${text}" is not one value and one unit${blank}: write ${remedy}.`);
  }
  if (!/^\d+$/.test(valueText))
    refuse('value', valueText, `"${valueText}" is not a whole number from 1 up: write ${rateFor(text) ?? EXAMPLE}.`);
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
  let remedy = rateFor(`${value} ${text}`) ?? EXAMPLE;
  if (unit === 'month' || unit === 'year') {
    const example = unit === 'month' ? 'cron(0 0 1 * ? *)' : 'cron(0 0 1 1 ? *)';
    remedy = `a cron expression, since ${unit}s differ in length, such as ${example}`;
  }
  return refuse('unit', text, `"${text}" is not a unit of rate, which are ${UNITS}: write ${remedy}.`);
}
