import { hasGrown, trendOfLastHalf, type Allowance, type Point } from './trend';

/** A measure that must be flat once the system has settled. */
export interface Judged {
  name: string;
  points: readonly Point[];
  /** undefined where it is shown only */
  allowed: Allowance | undefined;
  show: (value: number) => string;
}

export interface Verdict {
  /** cells of the table */
  row: string[];
  /** a sentence, where it grew */
  fault?: string;
}

export const HEAD = ['over the last half', 'at the half', 'at the end', 'change', 'allowed', ''];

export function judge({ name, points, allowed, show }: Judged): Verdict {
  const trend = trendOfLastHalf(points);
  const { atHalf, atEnd, growth, growthFraction } = trend;
  const change = `${growth < 0 ? '−' : '+'}${show(Math.abs(growth))} (${percent(growthFraction)})`;
  const figures = [name, show(atHalf), show(atEnd), change];
  if (!allowed) return { row: [...figures, 'anything', 'shown only'] };
  const isMore = hasGrown(trend, allowed);
  const row = [...figures, allowanceText(allowed, show), isMore ? 'grew' : 'flat'];
  if (!isMore) return { row };
  return { row, fault: `${name} grew over the last half, from ${show(atHalf)} to ${show(atEnd)}` };
}

export const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(2)} MB`;
export const tenths = (count: number): string => count.toFixed(1);

/** Columns as wide as their widest cell. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function allowanceText({ fraction, amount }: Allowance, show: (value: number) => string): string {
  const parts = [...(fraction > 0 ? [percent(fraction)] : []), ...(amount > 0 ? [`+${show(amount)}`] : [])];
  return parts.length === 0 ? 'nothing' : parts.join(' or ');
}

function percent(fraction: number): string {
  return `${fraction < 0 ? '−' : '+'}${Math.abs(fraction * 100).toFixed(1)} %`;
}
