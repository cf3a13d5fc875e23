import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { JobRow } from '../../src/domain/job';
import type { Reply } from '../../src/messages/commands';
import type { Queue, ReceivedMessage } from '../../src/ports';
import { httpEvent } from '../lambdas/recorded-events';
import { functionArn, HOUR, SECOND } from './builders';
import { deploy, SHARDS, type QueueName } from './deployment';
import { carryBatch, type Consumer } from './mappings';
import { emptyBill, Meter, type Bill } from './meter';

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

/** Messages of a full batch. */
const BATCH = 10;
/** What asks for a job and what answers are counted apart from the run itself. */
const ASKING = new Set(['JOB_CREATED_QUEUE_URL']);

/** Counts the calls of the deployed handlers for one run of each kind. Takes about three seconds. */
export async function measureCosts(): Promise<Costs> {
  const bills = { run: emptyBill(), asking: emptyBill() };
  const meter = new Meter(({ on }) => (ASKING.has(on) ? bills.asking : bills.run));
  const deployed = await deploy({ around: meter.around });
  meter.attach(deployed);
  deployed.functions.set('job-report', () => 'done');
  const creator = deployed.load<SQSEvent, SQSBatchResponse>('job-creator');
  const runner = deployed.load<SQSEvent, SQSBatchResponse>('runner');
  const scheduler = deployed.load<unknown, unknown>('scheduler');
  const api = deployed.load<unknown, { statusCode: number; body: string }>('api');
  const costs = {} as Costs['bills'];
  const put = (what: What, { writeUnits, readUnits, sqsRequests, invocations }: Bill, of: number) => {
    costs[what] = {
      writeUnits: writeUnits / of,
      readUnits: readUnits / of,
      sqsRequests: sqsRequests / of,
      invocations: invocations / of,
    };
  };
  const begin = () => {
    Object.assign(bills.run, emptyBill());
    Object.assign(bills.asking, emptyBill());
  };

  /** A mapping's delivery of so many messages. Its two requests go on the bill; were they handed over in parts, the batch would not be full. */
  async function carry(name: QueueName, count: number, consumer: Consumer, bill: Bill): Promise<void> {
    const queue = deployed.queue(name);
    const messages: ReceivedMessage[] = [];
    while (messages.length < count) messages.push(...(await queue.receive(BATCH, { waitMs: 20_000 })));
    bill.sqsRequests += 1;
    bill.invocations += 1;
    const counted: Pick<Queue, 'remove'> = {
      remove: async (receipts) => {
        bill.sqsRequests += 1;
        await queue.remove(receipts);
      },
    };
    await carryBatch(messages, counted, consumer);
  }

  const job = (fields: object) => ({
    name: 'nightly report of the shop',
    tags: ['reports', 'shop'],
    target: { functionArn: functionArn('job-report') },
    payload: { customer: 'c-104', parts: ['sales', 'stock'], language: 'en' },
    ...fields,
  });
  let asked = 0;
  /** A full batch of them, by queue. */
  async function create(fields: object): Promise<JobRow[]> {
    const commands = Array.from({ length: BATCH }, () => {
      const requestId = `request-${(asked += 1)}`;
      return { body: JSON.stringify({ version: 1, requestId, job: job(fields) }) };
    });
    await deployed.queue('JOB_CREATE').send(commands);
    await carry('JOB_CREATE', BATCH, creator, bills.asking);
    const replies = (await deployed.bodiesIn('JOB_CREATED')) as Reply[];
    return deployed.jobs.readRows(replies.map(({ jobId }) => jobId!));
  }

  /** As if so much time had passed that all of them are due now. */
  async function becomeDue(rows: readonly JobRow[]): Promise<void> {
    const now = Math.floor(Date.now() / SECOND) * SECOND;
    for (const row of rows) {
      const schedule: JobRow['schedule'] =
        row.schedule.kind === 'once' ? { ...row.schedule, at: now } : { ...row.schedule, anchorAt: now - HOUR };
      const isWritten = await deployed.jobs.update({ ...row, schedule, dueAt: now, revision: row.revision + 1 }, row);
      if (!isWritten) throw new Error(`job ${row.jobId} was changed by another`);
    }
  }

  async function tick(isFirst: boolean): Promise<void> {
    bills.run.invocations += 1;
    await scheduler({ startedAt: new Date().toISOString(), isFirst });
  }

  async function checkDone(rows: readonly JobRow[]): Promise<void> {
    for (const { jobId } of rows) {
      const { items } = await deployed.runs.list({ jobId, limit: 10 });
      const isRight = items.length === 1 && items[0]!.state === 'DONE' && items[0]!.attempt === 1;
      if (!isRight) throw new Error(`job ${jobId} did not have one run of one attempt: ${JSON.stringify(items)}`);
    }
  }

  try {
    // Processes are warm: they know the function's GUID, which is written once and read once by each.
    await create({});
    await carry('JOB_ACTIVATION', BATCH, runner, bills.run);

    for (const [what, fields] of [
      ['an immediate job', {}],
      ['a job delayed by up to 900 s', { delaySeconds: 2 }],
    ] as const) {
      begin();
      const rows = await create(fields);
      await carry('JOB_ACTIVATION', BATCH, runner, bills.run);
      await checkDone(rows);
      put(what, bills.run, BATCH);
    }
    const asking = { ...bills.asking };

    begin();
    const later = await create({ delaySeconds: 1_800 });
    await becomeDue(later);
    await tick(false);
    await carry('JOB_ACTIVATION', BATCH, runner, bills.run);
    await checkDone(later);
    put('a job delayed by more', bills.run, BATCH);

    const recurring = await create({ schedule: 'rate(1 hour)' });
    await becomeDue(recurring);
    begin();
    await tick(false);
    await carry('JOB_ACTIVATION', BATCH, runner, bills.run);
    await checkDone(recurring);
    put('a run of a recurring job', bills.run, BATCH);

    begin();
    await tick(true);
    put('the first tick of a minute, nothing due', bills.run, 1);

    put('asking by queue for a job, and the answer', asking, BATCH);

    await api(httpEvent({ path: '/health' }));
    const post = (body: object) =>
      api(
        httpEvent({
          method: 'POST',
          path: '/jobs',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
    await post(job({ schedule: 'rate(1 hour)' }));
    begin();
    bills.run.invocations += 1;
    const { statusCode, body } = await post(job({}));
    if (statusCode !== 201) throw new Error(`the API answered ${statusCode}: ${body}`);
    await carry('JOB_ACTIVATION', 1, runner, bills.run);
    put('an immediate job by HTTP that shares nothing', bills.run, 1);
  } finally {
    await deployed.close();
  }
  return { shards: SHARDS, bills: costs, largestJob: meter.largest.jobs!, largestRun: meter.largest.runs! };
}
