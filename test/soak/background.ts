import { anyEnd, eachPeriod, type Account } from './account';
import type { Client } from './client';
import { aJob, TOLD } from './scenarios/play';

const EDITED_EACH_MS = 5_000;
const PAUSED_EACH_MS = 7_000;
const PAUSED_FOR_MS = 2_000;
const READ_EACH_MS = 1_000;

/** What recurs, with its period in seconds: long where every edit sends anew what was sent ahead. */
const JOBS: readonly { jobId: string; periodSeconds: number; changes: object }[] = [
  { jobId: 'recurring-plain', periodSeconds: 1, changes: {} },
  { jobId: 'recurring-alone', periodSeconds: 1, changes: { overlap: 'skip', payload: { lastsMs: 5 } } },
  { jobId: 'recurring-first', periodSeconds: 1, changes: { priority: 'high' } },
  { jobId: 'recurring-edited', periodSeconds: 5, changes: {} },
  { jobId: 'recurring-paused', periodSeconds: 5, changes: {} },
];
const REPLIES = ['job-created', 'job-deleted', 'notify-created', 'notify-deleted'];

/** What goes on all the while beside the scenarios: jobs that recur, their edits and pauses, and a reader of the replies. */
export class Background {
  readonly #client: Client;
  readonly #account: Account;
  readonly #wait: (ms: number) => Promise<void>;
  #subscription = '';
  #goesOn = true;
  #work: Promise<void>[] = [];
  replies = 0;

  constructor(client: Client, account: Account, wait: (ms: number) => Promise<void>) {
    this.#client = client;
    this.#account = account;
    this.#wait = wait;
  }

  /** What recurs does so for about `forMs`, and then ends by itself. */
  async start(forMs: number): Promise<void> {
    const subscribing = { state: 'FAILED', target: TOLD };
    const { body } = await this.#client.ask('POST', '/jobs/*/notifications', subscribing);
    this.#subscription = (body as { notifyId: string }).notifyId;
    this.#account.expectNotices('FAILED');
    for (const { jobId, periodSeconds, changes } of JOBS) {
      const periodMs = periodSeconds * 1_000;
      const count = Math.floor(forMs / periodMs);
      const startAt = (Math.ceil(Date.now() / 1_000) + 2) * 1_000;
      const [start, end] = [startAt, startAt + (count - 1) * periodMs].map((at) => new Date(at).toISOString());
      const schedule = periodSeconds === 1 ? 'rate(1 second)' : `rate(${periodSeconds} seconds)`;
      await this.#client.ask('POST', '/jobs', aJob(jobId, { schedule, start, end, ...changes }));
      this.#account.expect(jobId, jobId === 'recurring-paused' ? anyEnd : eachPeriod(periodMs, count));
    }
    let edits = 0;
    this.#work = [
      this.#each(EDITED_EACH_MS, async () => {
        await this.#client.ask('PATCH', '/jobs/recurring-edited', { payload: { edits: ++edits } });
      }),
      this.#each(PAUSED_EACH_MS, async () => {
        await this.#client.ask('POST', '/jobs/recurring-paused/pause');
        await this.#wait(PAUSED_FOR_MS);
        await this.#client.ask('POST', '/jobs/recurring-paused/resume');
      }),
      this.#each(READ_EACH_MS, () => this.#readReplies()),
      this.#each(READ_EACH_MS, async () => {
        await this.#client.ask('GET', '/jobs/recurring-plain/runs?limit=20');
      }),
    ];
  }

  /** Asks nothing more. */
  async stop(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#work);
  }

  /** Takes the last replies, and the subscription away. */
  async finish(): Promise<void> {
    await this.#readReplies();
    await this.#client.ask('DELETE', `/jobs/*/notifications/${this.#subscription}`);
  }

  async #each(ms: number, work: () => Promise<void>): Promise<void> {
    for (;;) {
      await this.#wait(ms);
      if (!this.#goesOn) return;
      await work().catch((error: Error) => this.#account.fault(error.message));
    }
  }

  /** As a consumer of the reply queues does: what nobody takes stays there for two weeks. */
  async #readReplies(): Promise<void> {
    for (const queue of REPLIES) {
      for (let taken = 10; taken === 10;) {
        const { body } = await this.#client.ask('GET', `/queues/${queue}?max=10`);
        const { items } = body as { items: { ok: boolean }[] };
        taken = items.length;
        this.replies += taken;
        for (const reply of items)
          if (!reply.ok) this.#account.fault(`refused on ${queue}: ${JSON.stringify(reply).slice(0, 300)}`);
      }
    }
  }
}
