import type { RateUnit } from './schedule';

export const UNIT_MS: Record<RateUnit, number> = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** A hundred years, so that no instant leaves the range of exact arithmetic. */
export const LONGEST_MS = 36_525 * UNIT_MS.day;

/** Units as people write them elsewhere, in ms. */
const WRITTEN_MS: Record<string, number> = {
  ...{ ns: 1e-6, us: 1e-3, ms: 1, millisecond: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 },
  ...{ hr: 3_600_000, d: 86_400_000, w: 604_800_000, week: 604_800_000 },
  ...UNIT_MS,
};

function unitMs(text: string): number {
  const unit = [text, text.replace(/s$/, '')].find((name) => Object.hasOwn(WRITTEN_MS, name));
  return unit === undefined ? NaN : WRITTEN_MS[unit]!;
}

/**
 * The rate that somebody means who writes `1h30m`, `5 min`, `1.5 hours` or `2 weeks`, in the largest unit that fits:
 * `rate(90 minutes)`. What is finer than a second is rounded up, and the answer says so. Undefined for what is no length
 * of time, is none at all, or is longer than a rate may be.
 */
export function rateFor(duration: string): string | undefined {
  const text = duration.toLowerCase();
  if (!/^(\d+(\.\d+)?[ \t]*[a-z]+[ \t]*)+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, value, unit] of text.matchAll(/([\d.]+)[ \t]*([a-z]+)/g)) ms += Number(value) * unitMs(unit!);
  if (!(ms > 0 && ms <= LONGEST_MS)) return undefined;
  // 1.1 hours are not quite 3,960,000 ms in floating point.
  const whole = Math.round(ms);
  const seconds = Math.max(1, Math.ceil(whole / 1000));
  const unit = (['day', 'hour', 'minute'] as const).find((name) => (seconds * 1000) % UNIT_MS[name] === 0) ?? 'second';
  const value = (seconds * 1000) / UNIT_MS[unit];
  const rate = `rate(${value} ${unit}${value === 1 ? '' : 's'})`;
  return seconds * 1000 === whole ? rate : `${rate}, since a rate counts whole seconds`;
}
