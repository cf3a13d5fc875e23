import type { Run } from '../../domain/run';
import type { Page, PageQuery, RunStore } from '../../ports';
import { readCursor, writeCursor } from './cursor';
import type { Database, TextTable } from './database';
import { DueIndex, LAST } from './due-index';

/** Leases that one commit ends. */
const LEASES_PER_STEP = 1_000;
/** Failed runs that one page looks at, at most: those of one job must not hold up everything else. */
const FAILED_PER_PAGE = 1_000;

export class LocalRunStore implements RunStore {
  readonly #database: Database;
  readonly #rows: TextTable;
  /** keys of the runs that hold a lease, so that a new holder finds them without reading all that ever ran */
  readonly #started: TextTable;
  readonly #due: DueIndex;
  /** keys of the failed runs by the instant of their failure */
  readonly #failed: TextTable;

  /** `shards` of the due index, 1 and more; another number than the last time is no harm. */
  constructor(database: Database, options: { shards: number }) {
    this.#database = database;
    this.#rows = database.table('runs');
    this.#started = database.table('runs-started');
    this.#failed = database.table('runs-failed');
    this.#due = new DueIndex(database, 'runs-due', options.shards, 2, () =>
      this.#rows.getRange().flatMap(({ value }) => {
        const { jobId, runId, indexDueAt } = JSON.parse(value) as Run;
        return indexDueAt === undefined ? [] : [{ ids: [jobId, runId], dueAt: indexDueAt }];
      }),
    );
  }

  async read(jobId: string, runId: string): Promise<Run | undefined> {
    return this.#row(jobId, runId);
  }

  put(run: Run, seen?: Run): Promise<boolean> {
    const text = JSON.stringify(run);
    return this.#database.change(() => {
      const stands = this.#row(run.jobId, run.runId);
      if (stands?.revision !== seen?.revision) return false;
      this.#write(text, run, stands);
      return true;
    });
  }

  async list(query: PageQuery & { jobId: string }): Promise<Page<Run>> {
    const { jobId, limit } = query;
    const list = `runs of ${jobId}`;
    const from = query.cursor === undefined ? undefined : readCursor(list, ['string'], query.cursor);
    const items: Run[] = [];
    // Ids begin with the nominal instant, so that backwards through them is latest first. One beyond the page tells whether there is a next.
    for (const { value } of this.#rows.getRange({
      start: [jobId, from === undefined ? LAST : from[0]!],
      exclusiveStart: from !== undefined,
      end: [jobId],
      reverse: true,
      limit: limit + 1,
    })) {
      items.push(JSON.parse(value) as Run);
    }
    return cutPage(items, limit, (last) => writeCursor(list, [last.runId]));
  }

  async due(
    query: PageQuery & { shard: number; until: number },
  ): Promise<Page<{ jobId: string; runId: string; dueAt: number }>> {
    const { items, ...rest } = this.#due.page(query);
    return { items: items.map(({ ids, dueAt }) => ({ jobId: ids[0]!, runId: ids[1]!, dueAt })), ...rest };
  }

  async failed(query: PageQuery & { since?: number; jobId?: string }): Promise<Page<Run>> {
    const { limit, since = 0, jobId } = query;
    const shape = ['number', 'string', 'string'] as const;
    const from = query.cursor === undefined ? undefined : readCursor('failed', shape, query.cursor);
    const items: Run[] = [];
    let lookedAt = 0;
    let last: (string | number)[] = [];
    for (const key of this.#failed.getKeys({
      start: from ?? [Infinity],
      exclusiveStart: from !== undefined,
      end: [since],
      reverse: true,
    })) {
      if (items.length === limit || lookedAt === FAILED_PER_PAGE) return { items, cursor: writeCursor('failed', last) };
      last = key as (string | number)[];
      lookedAt += 1;
      const [, ofJob, runId] = last as [number, string, string];
      const run = jobId === undefined || jobId === ofJob ? this.#row(ofJob, runId) : undefined;
      if (run) items.push(run);
    }
    return { items };
  }

  async scan(query: PageQuery): Promise<Page<Run>> {
    const from = query.cursor === undefined ? undefined : readCursor('runs', ['string', 'string'], query.cursor);
    const items: Run[] = [];
    for (const { value } of this.#rows.getRange({
      ...(from && { start: from, exclusiveStart: true }),
      limit: query.limit + 1,
    })) {
      items.push(JSON.parse(value) as Run);
    }
    return cutPage(items, query.limit, (last) => writeCursor('runs', [last.jobId, last.runId]));
  }

  /**
   * Ends every lease, so that what was in flight runs again at once. For a new holder of the data only, before anything runs:
   * its predecessor is gone, and so are the attempts that held them. Answers how many there were.
   */
  async releaseLeases(): Promise<number> {
    const keys = [...this.#started.getKeys()] as [string, string][];
    for (let step = 0; step < keys.length; step += LEASES_PER_STEP) {
      await this.#database.change(() => {
        for (const [jobId, runId] of keys.slice(step, step + LEASES_PER_STEP)) {
          const run = this.#row(jobId, runId);
          // Whoever completes it may still be at work.
          if (run?.state !== 'STARTED' || run.isAwaited) continue;
          const released: Run = { ...run, revision: run.revision + 1, leaseUntil: 0 };
          this.#write(JSON.stringify(released), released, run);
        }
      });
    }
    return keys.length;
  }

  /** Is any run of this job there? */
  hasSome(jobId: string): boolean {
    return this.#rows.getKeysCount({ start: [jobId], end: [jobId, LAST], limit: 1 }) > 0;
  }

  /** Removes a run; for use inside a change. */
  expunge(run: Run): void {
    const key = [run.jobId, run.runId];
    this.#rows.removeSync(key);
    this.#started.removeSync(key);
    this.#due.set(key, run.indexDueAt, undefined);
    this.#setFailed(run.failedAt, undefined, run);
  }

  #row(jobId: string, runId: string): Run | undefined {
    const text = this.#rows.get([jobId, runId]);
    return text === undefined ? undefined : (JSON.parse(text) as Run);
  }

  #write(text: string, run: Run, stands: Run | undefined): void {
    const key = [run.jobId, run.runId];
    this.#rows.putSync(key, text);
    const isStarted = run.state === 'STARTED';
    const wasStarted = stands?.state === 'STARTED';
    if (isStarted && !wasStarted) this.#started.putSync(key, '');
    if (wasStarted && !isStarted) this.#started.removeSync(key);
    this.#due.set(key, stands?.indexDueAt, run.indexDueAt);
    this.#setFailed(stands?.failedAt, run.failedAt, run);
  }

  #setFailed(before: number | undefined, after: number | undefined, { jobId, runId }: Run): void {
    if (before === after) return;
    if (before !== undefined) this.#failed.removeSync([before, jobId, runId]);
    if (after !== undefined) this.#failed.putSync([after, jobId, runId], '');
  }
}

function cutPage(items: Run[], limit: number, cursorAfter: (last: Run) => string): Page<Run> {
  if (items.length <= limit) return { items };
  items.length = limit;
  return { items, cursor: cursorAfter(items[limit - 1]!) };
}
