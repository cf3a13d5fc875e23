export type Counts = Record<string, number>;

export function countBy(names: readonly string[]): Counts {
  const counts: Counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

export function sumOf(counts: Readonly<Counts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The most frequent first, for people. */
export function countsText(counts: Readonly<Counts>): string {
  const parts = Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${whole(count)} ${name}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

export function whole(count: number): string {
  return Math.round(count).toLocaleString('en');
}
