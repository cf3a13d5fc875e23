import { currentGeneration, type Job, type JobRow } from '../../domain/job';
import type { JobStore, Page, PageQuery } from '../../ports';
import { refuseDoubles } from '../distinct-ids';
import { readCursor, writeCursor } from './cursor';
import type { Database, TextTable } from './database';
import { DueIndex } from './due-index';

/** Rows that one page of a list looks at, at most: a tag that hardly any job has must not hold up everything else. */
const ROWS_PER_PAGE = 1_000;

interface KeptDefinition {
  job: Job;
  expiresAt: number;
}

export class LocalJobStore implements JobStore {
  readonly #database: Database;
  readonly #rows: TextTable;
  readonly #payloads: TextTable;
  readonly #definitions: TextTable;
  readonly #due: DueIndex;

  /** `shards` of the due index, 1 and more; another number than the last time is no harm. */
  constructor(database: Database, options: { shards: number }) {
    this.#database = database;
    this.#rows = database.table('jobs');
    this.#payloads = database.table('payloads');
    this.#definitions = database.table('definitions');
    this.#due = new DueIndex(database, 'jobs-due', options.shards, 1, () =>
      this.#rows.getRange().flatMap(({ value }) => {
        const { jobId, dueAt } = JSON.parse(value) as JobRow;
        return dueAt === undefined ? [] : [{ ids: [jobId], dueAt }];
      }),
    );
  }

  async read(jobId: string): Promise<Job | undefined> {
    const row = this.#row(jobId);
    return row && { ...row, payload: this.#payloads.get(jobId)! };
  }

  async readRows(jobIds: readonly string[]): Promise<JobRow[]> {
    return jobIds.flatMap((jobId) => this.#row(jobId) ?? []);
  }

  put(job: Job, replaces?: JobRow): Promise<boolean> {
    return this.#write(job, replaces, job.payload);
  }

  async putAll(jobs: readonly Job[]): Promise<void> {
    refuseDoubles(jobs);
    await this.#database.change(() => {
      for (const { payload, ...row } of jobs) {
        const stands = this.#row(row.jobId);
        this.#rows.putSync(row.jobId, JSON.stringify(row));
        this.#payloads.putSync(row.jobId, payload);
        this.#due.set([row.jobId], stands?.dueAt, row.dueAt);
      }
    });
  }

  update(row: JobRow, seen: JobRow): Promise<boolean> {
    return this.#write(row, seen, undefined);
  }

  async keepDefinition(job: Job, expiresAt: number): Promise<void> {
    const kept: KeptDefinition = { job, expiresAt };
    await this.#database.change(() => {
      this.#definitions.putSync([job.jobId, currentGeneration(job)!.id], JSON.stringify(kept));
    });
  }

  async readDefinition(jobId: string, generation: string): Promise<Job | undefined> {
    const text = this.#definitions.get([jobId, generation]);
    return text === undefined ? undefined : (JSON.parse(text) as KeptDefinition).job;
  }

  async list(query: PageQuery & { tag?: string }): Promise<Page<JobRow>> {
    const from = query.cursor === undefined ? undefined : readCursor('jobs', ['string'], query.cursor);
    const items: JobRow[] = [];
    let lookedAt = 0;
    let last = '';
    for (const { key, value } of this.#rows.getRange(
      from === undefined ? {} : { start: from[0] as string, exclusiveStart: true },
    )) {
      if (items.length === query.limit || lookedAt === ROWS_PER_PAGE)
        return { items, cursor: writeCursor('jobs', [last]) };
      const row = JSON.parse(value) as JobRow;
      if (row.state !== 'DELETED' && (query.tag === undefined || row.tags.includes(query.tag))) items.push(row);
      lookedAt += 1;
      last = key as string;
    }
    return { items };
  }

  async due(query: PageQuery & { shard: number; until: number }): Promise<Page<{ jobId: string; dueAt: number }>> {
    const { items, ...rest } = this.#due.page(query);
    return { items: items.map(({ ids, dueAt }) => ({ jobId: ids[0]!, dueAt })), ...rest };
  }

  /** Has it a row, be it a tombstone? */
  isKnown(jobId: string): boolean {
    return this.#rows.doesExist(jobId);
  }

  /** Removes a job and its payload; for use inside a change. */
  expunge(row: JobRow): void {
    this.#rows.removeSync(row.jobId);
    this.#payloads.removeSync(row.jobId);
    this.#due.set([row.jobId], row.dueAt, undefined);
  }

  #row(jobId: string): JobRow | undefined {
    const text = this.#rows.get(jobId);
    return text === undefined ? undefined : (JSON.parse(text) as JobRow);
  }

  #write(written: JobRow | Job, seen: JobRow | undefined, payload: string | undefined): Promise<boolean> {
    const { payload: _kept, ...row } = { payload: undefined, ...written };
    const text = JSON.stringify(row);
    return this.#database.change(() => {
      const stands = this.#row(row.jobId);
      if (stands?.revision !== seen?.revision) return false;
      this.#rows.putSync(row.jobId, text);
      if (payload !== undefined) this.#payloads.putSync(row.jobId, payload);
      this.#due.set([row.jobId], stands?.dueAt, row.dueAt);
      return true;
    });
  }
}
