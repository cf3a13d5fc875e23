const TIMES = Number(process.env['ESCAPEMENT_PROPERTY_RUNS'] ?? 1);

/** How many cases of a property are tried: `npm run check:long` tries many times as many. */
export function runs(count: number): number {
  return count * TIMES;
}
