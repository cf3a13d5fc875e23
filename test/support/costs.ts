import type { JobRow } from '../../src/domain/job';
import { SHARDS } from './deployment';
import type { Bill } from './meter';
import { openMetered } from './metered';

const RUN = { sqsRequests: 0.5, invocations: 0.2 };

/** The most that each may cost. */
export const GOALS = {
  'an immediate job': { writeUnits: 3, ...RUN },
  'a job delayed by up to 900 s': { writeUnits: 3, ...RUN },
  'a job delayed by more': { writeUnits: 6, ...RUN },
  'a run of a recurring job': { writeUnits: 5, ...RUN },
  'the first tick of a minute, nothing due': { writeUnits: 0, readUnits: 2 * SHARDS * 0.5 },
} satisfies Record<string, Partial<Bill>>;

export type Goal = keyof typeof GOALS;
type What = Goal | 'asking by queue for a job, and the answer' | 'an immediate job by HTTP that shares nothing';

export interface Costs {
  shards: number;
  /** what one of each cost */
  bills: Record<What, Bill>;
  /** bytes of the largest row that was written */
  largestJob: number;
  largestRun: number;
}

/** Counts the calls of the deployed handlers for one run of each kind. Takes about three seconds. */
export async function measureCosts(): Promise<Costs> {
  const metered = await openMetered();
  const { begin, bill, carry, create, becomeDue, tick } = metered;
  const bills = {} as Costs['bills'];
  const checkDone = (rows: readonly JobRow[]) => metered.check(rows.map(({ jobId }) => jobId));
  const carryRuns = () => carry('JOB_ACTIVATION', 10);
  try {
    // Processes are warm: they know the function's GUID, which is written once and read once by each.
    await create();
    await carryRuns();

    for (const [what, fields] of [
      ['an immediate job', {}],
      ['a job delayed by up to 900 s', { delaySeconds: 2 }],
    ] as const) {
      begin();
      const rows = await create(() => fields);
      await carryRuns();
      await checkDone(rows);
      bills[what] = bill();
    }
    const asking = metered.askingBill();

    begin();
    const later = await create(() => ({ delaySeconds: 1_800 }));
    await becomeDue(later);
    await tick(false);
    await carryRuns();
    await checkDone(later);
    bills['a job delayed by more'] = bill();

    const recurring = await create(() => ({ schedule: 'rate(1 hour)' }));
    await becomeDue(recurring);
    begin();
    await tick(false);
    await carryRuns();
    await checkDone(recurring);
    bills['a run of a recurring job'] = bill();

    begin();
    await tick(true);
    bills['the first tick of a minute, nothing due'] = bill(1);

    bills['asking by queue for a job, and the answer'] = asking;

    await metered.call('GET', '/health');
    await metered.call('POST', '/jobs', metered.job({ schedule: 'rate(1 hour)' }));
    begin();
    await metered.call('POST', '/jobs', metered.job());
    await carry('JOB_ACTIVATION', 1);
    bills['an immediate job by HTTP that shares nothing'] = bill(1);
  } finally {
    await metered.close();
  }
  const { jobs, runs } = metered.meter.largest;
  return { shards: SHARDS, bills, largestJob: jobs!, largestRun: runs! };
}
