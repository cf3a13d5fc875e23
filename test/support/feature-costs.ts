import type { JobRow } from '../../src/domain/job';
import { functionArn } from './builders';
import type { Bill } from './meter';
import { BATCH, openMetered, type Metered } from './metered';

/** Each is carried ten at a time, as a full batch; answers what one of them cost in all. */
const FEATURES = {
  'a second attempt': async ({ create, carry, check, bill }) => {
    const retry = { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 1 } };
    const rows = await create(() => ({ ...target('job-flaky'), retry }));
    await carry('JOB_ACTIVATION', BATCH);
    await carry('JOB_ACTIVATION', BATCH);
    await check(idsOf(rows), { attempt: 2 });
    return bill();
  },
  'a run that fails for good': async ({ create, carry, check, bill }) => {
    const rows = await create(() => ({ ...target('job-hopeless'), retry: { maxAttempts: 1 } }));
    await carry('JOB_ACTIVATION', BATCH);
    await check(idsOf(rows), { state: 'FAILED' });
    return bill();
  },
  'one notification': async (metered) => {
    const { create, carry, check, bill, begin, call } = metered;
    const rows = await create();
    const created = bill();
    for (const { jobId } of rows) {
      await call('POST', `/jobs/${jobId}/notifications`, { state: 'DONE', ...target('notify-me') });
    }
    begin();
    await carry('JOB_ACTIVATION', BATCH);
    await carry('NOTIFY', BATCH);
    await check(idsOf(rows));
    return plus(created, bill());
  },
  'high priority': async ({ create, carry, check, bill }) => {
    const rows = await create(() => ({ priority: 'high' }));
    await carry('JOB_ACTIVATION_HIGH', BATCH);
    await check(idsOf(rows));
    return bill();
  },
  'a unique key': plain((index) => ({ unique: { key: fresh(index), forSeconds: 600, until: 'done' } })),
  'a concurrency limit, its key for itself': plain((index) => ({ concurrency: { key: fresh(index), limit: 10 } })),
  'a concurrency limit, ten of one key at once': plain(() => ({ concurrency: { key: 'shop', limit: 10 } })),
  'a rate limit, its key for itself': plain((index) => ({
    rateLimit: { key: fresh(index), limit: 100, perSeconds: 60 },
  })),
  'a rate limit, ten of one key at once': plain(() => ({ rateLimit: { key: 'shop', limit: 100, perSeconds: 60 } })),
  'a step of a chain': async (metered) => {
    const shorter = await chainsOf(2, metered);
    return minus(await chainsOf(3, metered), shorter);
  },
  'a member of a batch': async (metered) => {
    const smaller = await batchOf(10, metered);
    return shareOf(minus(await batchOf(20, metered), smaller), BATCH);
  },
  'completion by callback': async ({ deployed, create, carry, check, bill, call }) => {
    const events: { jobId: string; runId: string; token: string }[] = [];
    deployed.functions.set('job-callback', (event) => void events.push(event as (typeof events)[number]));
    const rows = await create(() => ({ ...target('job-callback'), completion: 'callback' }));
    await carry('JOB_ACTIVATION', BATCH);
    for (const { jobId, runId, token } of events) {
      await call('POST', `/jobs/${jobId}/runs/${runId}/complete`, { token, result: 'done' });
    }
    await check(idsOf(rows));
    return bill();
  },
} satisfies Record<string, (metered: Metered) => Promise<Bill>>;

export type Feature = keyof typeof FEATURES;

/** Counts the calls of the deployed handlers for one run with each feature, and answers what it costs beyond a plain immediate one. */
export async function measureFeatures(): Promise<Record<Feature, Bill>> {
  const metered = await openMetered();
  const { deployed, begin } = metered;
  deployed.functions.set('job-flaky', (event) => {
    if ((event as { attempt: number }).attempt === 1) throw new Error('not yet');
    return 'done';
  });
  deployed.functions.set('job-hopeless', () => {
    throw new Error('never');
  });
  deployed.functions.set('notify-me', () => 'heard');
  const measured = async (feature: (metered: Metered) => Promise<Bill>): Promise<Bill> => {
    // Once before, so that processes know the codes' GUIDs, which are written once and read once by each.
    await feature(metered);
    begin();
    return feature(metered);
  };
  try {
    const immediate = await measured(plain(() => ({})));
    const bills = {} as Record<Feature, Bill>;
    for (const [name, feature] of Object.entries(FEATURES)) {
      bills[name as Feature] = minus(await measured(feature), immediate);
    }
    return bills;
  } finally {
    await metered.close();
  }
}

function plain(fieldsOf: (index: number) => object) {
  return async ({ create, carry, check, bill }: Metered): Promise<Bill> => {
    const rows = await create(fieldsOf);
    await carry('JOB_ACTIVATION', BATCH);
    await check(idsOf(rows));
    return bill();
  };
}

/** Ten of them side by side, so that each step of theirs is a full batch. Answers what one of them cost. */
async function chainsOf(steps: number, { begin, bill, call, carry, job }: Metered): Promise<Bill> {
  begin();
  const chainIds: string[] = [];
  for (let chain = 0; chain < BATCH; chain += 1) {
    const { chainId } = await call('POST', '/chains', { jobs: Array.from({ length: steps }, () => job()) });
    chainIds.push(chainId as string);
  }
  // what sets a chain going, and then each step of it
  await carry('JOB_ACTIVATION_HIGH', BATCH);
  for (let carried = 0; carried < steps; carried += 1) await carry('JOB_ACTIVATION', BATCH);
  const cost = bill();
  for (const chainId of chainIds) await checkDone(await call('GET', `/chains/${chainId}`));
  return cost;
}

/** Answers what the whole cost. */
async function batchOf(members: number, { begin, bill, call, carry, job }: Metered): Promise<Bill> {
  begin();
  const { batchId } = await call('POST', '/batches', { jobs: Array.from({ length: members }, () => job()) });
  await carry('JOB_ACTIVATION_HIGH', 1);
  for (let carried = 0; carried < members; carried += BATCH) await carry('JOB_ACTIVATION', BATCH);
  const cost = bill(1);
  await checkDone(await call('GET', `/batches/${String(batchId)}`));
  return cost;
}

async function checkDone({ state, ...group }: Record<string, unknown>): Promise<void> {
  if (state !== 'DONE') throw new Error(`it came to ${String(state)}: ${JSON.stringify(group)}`);
}

let drawn = 0;
function fresh(index: number): string {
  return `key-${(drawn += 1)}-${index}`;
}

function target(name: string) {
  return { target: { functionArn: functionArn(name) } };
}

function idsOf(rows: readonly JobRow[]): string[] {
  return rows.map(({ jobId }) => jobId);
}

function plus(one: Bill, other: Bill): Bill {
  return mapBill(one, (value, unit) => value + other[unit]);
}

function minus(one: Bill, other: Bill): Bill {
  return mapBill(one, (value, unit) => value - other[unit]);
}

function shareOf(bill: Bill, of: number): Bill {
  return mapBill(bill, (value) => value / of);
}

function mapBill(bill: Bill, change: (value: number, unit: keyof Bill) => number): Bill {
  const units = Object.keys(bill) as (keyof Bill)[];
  return Object.fromEntries(units.map((unit) => [unit, change(bill[unit], unit)])) as unknown as Bill;
}
