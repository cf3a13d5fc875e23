import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { JobRow } from '../../src/domain/job';
import type { Reply } from '../../src/messages/commands';
import type { Queue, ReceivedMessage } from '../../src/ports';
import { httpEvent } from '../lambdas/recorded-events';
import { functionArn, HOUR, SECOND } from './builders';
import { deploy, type QueueName } from './deployment';
import { carryBatch } from './mappings';
import { emptyBill, Meter, type Bill } from './meter';

/** Messages of a full batch. */
export const BATCH = 10;

/** Who carries the messages of a queue. */
const CONSUMERS = {
  JOB_CREATE: 'job-creator',
  JOB_ACTIVATION: 'runner',
  JOB_ACTIVATION_HIGH: 'runner',
  NOTIFY: 'notifier',
} as const satisfies Partial<Record<QueueName, string>>;

/** What asks for a job and what answers are counted apart from the run itself. */
const ASKING = new Set(['JOB_CREATED_QUEUE_URL']);

/** A call to the deployed API that must succeed; what it costs is on the bill of the run. */
export type CallApi = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

export type Metered = Awaited<ReturnType<typeof openMetered>>;

/** The deployed handlers, warm, with every call of theirs on a bill. The emulators are real time: nothing here waits for long. */
export async function openMetered() {
  const run = emptyBill();
  const asking = emptyBill();
  const meter = new Meter(({ on }) => (ASKING.has(on) ? asking : run));
  const deployed = await deploy({ around: meter.around });
  meter.attach(deployed);
  deployed.functions.set('job-report', () => 'done');
  const runner = deployed.load<SQSEvent, SQSBatchResponse>('runner');
  const consumers = {
    runner,
    'job-creator': deployed.load<SQSEvent, SQSBatchResponse>('job-creator'),
    notifier: deployed.load<SQSEvent, SQSBatchResponse>('notifier'),
  };
  const scheduler = deployed.load<unknown, unknown>('scheduler');
  const api = deployed.load<unknown, { statusCode: number; body: string }>('api');

  /** A mapping's delivery of so many messages. Its two requests go on the bill; were they handed over in parts, the batch would not be full. */
  async function carry(name: keyof typeof CONSUMERS, count: number, bill: Bill = run): Promise<void> {
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
    await carryBatch(messages, counted, consumers[CONSUMERS[name]], deployed.queueUrls[name]);
  }

  const job = (fields: object = {}) => ({
    name: 'nightly report of the shop',
    tags: ['reports', 'shop'],
    target: { functionArn: functionArn('job-report') },
    payload: { customer: 'c-104', parts: ['sales', 'stock'], language: 'en' },
    ...fields,
  });

  let asked = 0;
  /** A full batch of jobs, by queue. */
  async function create(fieldsOf: (index: number) => object = () => ({})): Promise<JobRow[]> {
    const commands = Array.from({ length: BATCH }, (_, index) => {
      const requestId = `request-${(asked += 1)}`;
      return { body: JSON.stringify({ version: 1, requestId, job: job(fieldsOf(index)) }) };
    });
    await deployed.queue('JOB_CREATE').send(commands);
    await carry('JOB_CREATE', BATCH, asking);
    const replies: Reply[] = [];
    while (replies.length < BATCH) {
      const answers = await deployed.queue('JOB_CREATED').receive(BATCH, { waitMs: 20_000 });
      replies.push(...answers.map(({ body }) => JSON.parse(body) as Reply));
      await deployed.queue('JOB_CREATED').remove(answers.map(({ receipt }) => receipt));
    }
    const refused = replies.filter(({ jobId }) => jobId === undefined);
    if (refused.length > 0) throw new Error(`jobs were refused: ${JSON.stringify(refused)}`);
    return deployed.jobs.readRows(replies.map(({ jobId }) => jobId!));
  }

  const call: CallApi = async (method, path, body) => {
    run.invocations += 1;
    const headers = { 'content-type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await api(httpEvent({ method, path, headers, ...text }));
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path} was answered ${answer.statusCode}: ${answer.body}`);
    return answer.body === '' ? {} : (JSON.parse(answer.body) as Record<string, unknown>);
  };

  return {
    deployed,
    meter,
    carry,
    job,
    create,
    call,
    /** A new bill for what follows. */
    begin: (): void => {
      Object.assign(run, emptyBill());
      Object.assign(asking, emptyBill());
    },
    /** What has been spent since, for each of so many. */
    bill: (of = BATCH) => shareOf(run, of),
    askingBill: (of = BATCH) => shareOf(asking, of),
    /** As if so much time had passed that all of them are due now. */
    becomeDue: async (rows: readonly JobRow[]): Promise<void> => {
      const now = Math.floor(Date.now() / SECOND) * SECOND;
      for (const row of rows) {
        const schedule: JobRow['schedule'] =
          row.schedule.kind === 'once' ? { ...row.schedule, at: now } : { ...row.schedule, anchorAt: now - HOUR };
        const isWritten = await deployed.jobs.update({ ...row, schedule, dueAt: now, revision: row.revision + 1 }, row);
        if (!isWritten) throw new Error(`job ${row.jobId} was changed by another`);
      }
    },
    tick: async (isFirst: boolean): Promise<void> => {
      run.invocations += 1;
      await scheduler({ startedAt: new Date().toISOString(), isFirst });
    },
    /** Each of these jobs has one run, which came to this. */
    check: async (jobIds: readonly string[], { state = 'DONE', attempt = 1 } = {}): Promise<void> => {
      for (const jobId of jobIds) {
        const { items } = await deployed.runs.list({ jobId, limit: 10 });
        const isRight = items.length === 1 && items[0]!.state === state && items[0]!.attempt === attempt;
        if (!isRight) throw new Error(`job ${jobId} had no one run that was ${state}: ${JSON.stringify(items)}`);
      }
    },
    close: () => deployed.close(),
  };
}

function shareOf({ writeUnits, readUnits, sqsRequests, invocations }: Bill, of: number): Bill {
  return {
    writeUnits: writeUnits / of,
    readUnits: readUnits / of,
    sqsRequests: sqsRequests / of,
    invocations: invocations / of,
  };
}
