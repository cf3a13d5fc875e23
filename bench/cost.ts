/** What a run costs on AWS, counted from the calls that are made: npx tsx bench/cost.ts. `test/scenarios/cost.test.ts` holds the goals. */
import { join } from 'node:path';
import type { Bill } from '../test/support/meter';
import { GOALS, measureCosts, type Goal } from '../test/support/costs';
import { measureFeatures } from '../test/support/feature-costs';

/** us-east-1, on demand, dollars a million (2026): Lambda's is for requests, its GB-seconds come on top. */
const PRICES: Bill = { writeUnits: 0.625, readUnits: 0.125, sqsRequests: 0.4, invocations: 0.2 };

const COLUMNS: Record<keyof Bill, string> = {
  writeUnits: 'write units',
  readUnits: 'read units',
  sqsRequests: 'SQS requests',
  invocations: 'own invocations',
};
const columns = Object.keys(COLUMNS) as (keyof Bill)[];

const round = (value: number) => String(Number(value.toFixed(2)));

function cells([what, bill]: [string, Bill]): string[] {
  const goal: Partial<Bill> = GOALS[what as Goal] ?? {};
  const dollars = columns.reduce((sum, column) => sum + bill[column] * PRICES[column], 0);
  const counted = columns.map((column) => {
    const most = goal[column];
    return most === undefined ? round(bill[column]) : `${round(bill[column])} (≤ ${round(most)})`;
  });
  return [what, ...counted, dollars.toFixed(2)];
}

function print(title: string, bills: Record<string, Bill>) {
  const table = [
    [title, ...columns.map((column) => COLUMNS[column]), '$ a million'],
    ...Object.entries(bills).map(cells),
  ];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const rows = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  rows.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  console.log(`${rows.join('\n')}\n`);
}

async function main() {
  const emulators = (name: string) =>
    import(join(__dirname, '..', 'test', 'support', name)) as Promise<{ default: () => Promise<void> }>;
  await (await emulators('emulators.mjs')).default();
  const { shards, bills, largestJob, largestRun } = await measureCosts();
  const features = await measureFeatures();
  await (await emulators('emulators-stop.mjs')).default();

  print('each, and its goal', bills);
  print('each adds to an immediate job', features);
  const prices = columns.map((column) => `${COLUMNS[column]} ${PRICES[column]}`).join(', ');
  console.log(
    `Full batches of ten unless said otherwise; ${shards} shards; rows of ${largestJob} bytes (job) and ${largestRun} (run).`,
  );
  console.log(`Dollars a million: ${prices}; without the GB-seconds of Lambda and without the user's own functions.`);
}

void main();
