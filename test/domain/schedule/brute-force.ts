import type { DstOptions } from '../../../src/domain/schedule';
import { matches, type Expression } from './expressions';

const MINUTE_MS = 60_000;

/** A few days of one zone, each minute with what its clocks show, as Intl has it. */
export interface Window {
  timezone: string;
  fromAt: number;
  untilAt: number;
  /** `wallAt[i]` is the wall-clock time, as if it were UTC, at `fromAt + i` minutes */
  wallAt: number[];
}

export function windowAround(timezone: string, instant: string, days: number): Window {
  const fromAt = Date.parse(instant) - days * 86_400_000;
  const untilAt = Date.parse(instant) + days * 86_400_000;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
  const wallAt: number[] = [];
  for (let at = fromAt; at < untilAt; at += MINUTE_MS)
    wallAt.push(Date.parse(`${format.format(at).replace(' ', 'T')}Z`));
  return { timezone, fromAt, untilAt, wallAt };
}

/** The occurrences of a window by looking at each of its seconds, and the local times that no second shows. */
export function bruteForce(
  expression: Expression,
  window: Window,
  dst: Required<DstOptions>,
): { occurrences: number[]; lost: string[] } {
  const isRhythm = expression.hours.values.size === 24;
  const seconds = [...expression.seconds.values].sort((a, b) => a - b);
  const found: { at: number; wall: number }[] = [];
  const lost: string[] = [];

  window.wallAt.forEach((minute, i) => {
    const at = window.fromAt + i * MINUTE_MS;
    const before = window.wallAt[i - 1];
    if (before !== undefined) {
      const gapMs = minute - before - MINUTE_MS;
      let runsAt: number | undefined;
      for (let missing = before + MINUTE_MS; missing < minute; missing += MINUTE_MS) {
        for (const second of seconds) {
          const wall = new Date(missing + second * 1000);
          if (!matches(expression, wall)) continue;
          // A rhythm goes on if it runs when the old clock would have shown this.
          if (isRhythm && matches(expression, new Date(wall.getTime() + gapMs))) continue;
          if (dst.gap === 'run-after') runsAt = at;
          else lost.push(wall.toISOString().slice(0, 19));
        }
      }
      if (runsAt !== undefined) found.push({ at, wall: NaN });
    }
    for (const second of seconds) {
      const wall = minute + second * 1000;
      if (matches(expression, new Date(wall))) found.push({ at: at + second * 1000, wall });
    }
  });

  const firstOf = new Map<number, number>();
  const lastOf = new Map<number, number>();
  found.forEach(({ wall }, i) => {
    if (!firstOf.has(wall)) firstOf.set(wall, i);
    lastOf.set(wall, i);
  });
  const kept = found.filter(({ wall }, i) => {
    if (isRhythm || dst.overlap === 'both' || Number.isNaN(wall)) return true;
    return (dst.overlap === 'first' ? firstOf : lastOf).get(wall) === i;
  });
  const inside = kept.map(({ at }) => at).filter((at) => at > window.fromAt && at < window.untilAt);
  return { occurrences: [...new Set(inside)].sort((a, b) => a - b), lost };
}
