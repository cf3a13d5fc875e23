/** One look at something that is measured. */
export interface Point {
  atMs: number;
  value: number;
}

/** The straight line that the last half of a series follows. */
export interface Trend {
  /** where the line is at the half and at the end */
  atHalf: number;
  atEnd: number;
  /** from the one to the other */
  growth: number;
  /** of what there was at the half, such as 0.1 for a tenth more */
  growthFraction: number;
}

/** Fewer points tell nothing. */
export const FEWEST_POINTS = 4;

/**
 * By the median of the slopes between any two points (Theil and Sen): a few spikes, such as a collection that came at a bad moment, do not
 * move it, and a slow leak does. @throws RangeError where the last half has too few points
 */
export function trendOfLastHalf(points: readonly Point[]): Trend {
  const [first, last] = [points.at(0)?.atMs ?? 0, points.at(-1)?.atMs ?? 0];
  const halfMs = first + (last - first) / 2;
  const half = points.filter(({ atMs }) => atMs >= halfMs);
  if (half.length < FEWEST_POINTS)
    throw new RangeError(`${half.length} looks in the last half: at least ${FEWEST_POINTS}`);
  const slope = medianOf(slopesOf(half));
  const start = medianOf(half.map(({ atMs, value }) => value - slope * (atMs - halfMs)));
  const growth = slope * (last - halfMs);
  return { atHalf: start, atEnd: start + growth, growth, growthFraction: start === 0 ? 0 : growth / start };
}

/** How much something may grow over the last half: by this part of what it was, or by so many, whichever is more. */
export interface Allowance {
  fraction: number;
  amount: number;
}

export function hasGrown({ atHalf, growth }: Trend, { fraction, amount }: Allowance): boolean {
  // What is no number was not measured, and is not taken for flat.
  return !(growth <= Math.max(fraction * atHalf, amount));
}

function slopesOf(points: readonly Point[]): number[] {
  return points.flatMap((from, index) =>
    points
      .slice(index + 1)
      .filter(({ atMs }) => atMs > from.atMs)
      .map((to) => (to.value - from.value) / (to.atMs - from.atMs)),
  );
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
