/** The tables of the simulated cloud, behind the ports. Each call takes effect at once; what lies between a process and them is process.ts. */
import { refuseDoubles } from '../../src/adapters/distinct-ids';
import { readCursor, writeCursor } from '../../src/adapters/local/cursor';
import type { Group, GroupKind, GroupPart } from '../../src/domain/group';
import { currentGeneration, type Job, type JobRow } from '../../src/domain/job';
import type { Notification, NotificationState } from '../../src/domain/notification';
import type { Run } from '../../src/domain/run';
import { shardOf } from '../../src/domain/shard';
import type {
  Clock,
  Code,
  CodeStore,
  ControlEntry,
  ControlStore,
  GroupStore,
  JobStore,
  NotificationStore,
  Page,
  PageQuery,
  RunStore,
} from '../../src/ports';

/** What the tables need to know of the world around them. */
export interface TableWorld {
  /** how long an index shows what was before, in ms, and how to wait for it */
  lagMs(): number;
  after(ms: number, happen: () => void): void;
  /** a page has so many items at most, whatever was asked for */
  pageItems: number;
  wrote: {
    jobs(before: Job | undefined, after: Job): void;
    runs(before: Run | undefined, after: Run): void;
    groups(before: Group | undefined, after: Group): void;
    parts(before: GroupPart | undefined, after: GroupPart): void;
  };
}

/** A world of its own, in which nothing lags and nobody looks. */
export const STILL_WORLD: TableWorld = {
  lagMs: () => 0,
  after: (_, happen) => happen(),
  pageItems: Infinity,
  wrote: { jobs: () => {}, runs: () => {}, groups: () => {}, parts: () => {} },
};

/** Rows as texts, so that nobody holds on to what another wrote. */
class Rows<Row> {
  readonly texts = new Map<string, string>();

  read(key: string): Row | undefined {
    const text = this.texts.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as Row);
  }

  write(key: string, row: Row): void {
    this.texts.set(key, JSON.stringify(row));
  }

  *all(): Generator<Row> {
    for (const text of this.texts.values()) yield JSON.parse(text) as Row;
  }
}

/** Keys by an instant, as a sparse index that is brought up to date later than the rows. */
class LaggingIndex {
  readonly #entries = new Map<string, number>();
  readonly #versions = new Map<string, number>();
  readonly #world: TableWorld;

  constructor(world: TableWorld) {
    this.#world = world;
  }

  set(key: string, before: number | undefined, after: number | undefined): void {
    if (before === after) return;
    const version = (this.#versions.get(key) ?? 0) + 1;
    this.#versions.set(key, version);
    this.#world.after(this.#world.lagMs(), () => {
      // What was written later may have been shown already.
      if (this.#versions.get(key)! < version || (this.#shown.get(key) ?? 0) > version) return;
      this.#shown.set(key, version);
      if (after === undefined) this.#entries.delete(key);
      else this.#entries.set(key, after);
    });
  }

  readonly #shown = new Map<string, number>();

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Earliest first. */
  entries(): { key: string; at: number }[] {
    return [...this.#entries].map(([key, at]) => ({ key, at })).sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
  }
}

/** A page of a list of this name, as an adapter gives it out. @throws InvalidCursorError */
function pageOf<Item>(
  list: string,
  items: readonly Item[],
  { limit, cursor }: PageQuery,
  keyOf: (item: Item) => string,
  { pageItems }: TableWorld,
): Page<Item> {
  const [last] = cursor === undefined ? [] : readCursor(list, ['string'], cursor);
  const from = last === undefined ? 0 : items.findIndex((item) => keyOf(item) === last) + 1;
  const to = from + Math.min(limit, pageItems);
  const page = items.slice(from, to);
  return to < items.length ? { items: page, cursor: writeCursor(list, [keyOf(page.at(-1)!)]) } : { items: page };
}

const keyOfRun = ({ jobId, runId }: Pick<Run, 'jobId' | 'runId'>) => `${jobId} ${runId}`;

export class SimulatedJobStore implements JobStore {
  readonly rows = new Rows<Job>();
  readonly #definitions = new Rows<Job>();
  readonly #due: LaggingIndex;
  readonly #world: TableWorld;
  readonly #shards: number;

  constructor(world: TableWorld, shards: number) {
    this.#world = world;
    this.#shards = shards;
    this.#due = new LaggingIndex(world);
  }

  async read(jobId: string): Promise<Job | undefined> {
    return this.rows.read(jobId);
  }

  async readRows(jobIds: readonly string[]): Promise<JobRow[]> {
    return jobIds.flatMap((jobId) => {
      const job = this.rows.read(jobId);
      return job ? [withoutPayload(job)] : [];
    });
  }

  async put(job: Job, replaces?: JobRow): Promise<boolean> {
    const before = this.rows.read(job.jobId);
    if (before?.revision !== replaces?.revision) return false;
    this.#write(before, job);
    return true;
  }

  async putAll(jobs: readonly Job[]): Promise<void> {
    refuseDoubles(jobs);
    for (const job of jobs) this.#write(this.rows.read(job.jobId), job);
  }

  async update(row: JobRow, seen: JobRow): Promise<boolean> {
    const before = this.rows.read(row.jobId);
    if (!before || before.revision !== seen.revision) return false;
    this.#write(before, { ...row, payload: before.payload });
    return true;
  }

  async keepDefinition(job: Job): Promise<void> {
    this.#definitions.write(`${job.jobId} ${currentGeneration(job)!.id}`, job);
  }

  async readDefinition(jobId: string, generation: string): Promise<Job | undefined> {
    return this.#definitions.read(`${jobId} ${generation}`);
  }

  async list(query: PageQuery & { tag?: string }): Promise<Page<JobRow>> {
    const jobs = [...this.rows.all()].filter(
      ({ state, tags }) => state !== 'DELETED' && (query.tag === undefined || tags.includes(query.tag)),
    );
    return pageOf('jobs', jobs.map(withoutPayload), query, ({ jobId }) => jobId, this.#world);
  }

  async due(query: PageQuery & { shard: number; until: number }): Promise<Page<{ jobId: string; dueAt: number }>> {
    const { shard, until } = query;
    const due = this.#due
      .entries()
      .filter(({ key, at }) => at <= until && shardOf(key, this.#shards) === shard)
      .map(({ key, at }) => ({ jobId: key, dueAt: at }));
    return pageOf(`jobs due in ${shard}`, due, query, ({ jobId }) => jobId, this.#world);
  }

  #write(before: Job | undefined, after: Job): void {
    this.rows.write(after.jobId, after);
    this.#due.set(after.jobId, before?.dueAt, after.dueAt);
    this.#world.wrote.jobs(before, after);
  }
}

function withoutPayload({ payload: _, ...row }: Job): JobRow {
  return row;
}

export class SimulatedRunStore implements RunStore {
  readonly rows = new Rows<Run>();
  readonly #due: LaggingIndex;
  readonly #failed: LaggingIndex;
  readonly #world: TableWorld;
  readonly #shards: number;

  constructor(world: TableWorld, shards: number) {
    this.#world = world;
    this.#shards = shards;
    this.#due = new LaggingIndex(world);
    this.#failed = new LaggingIndex(world);
  }

  async read(jobId: string, runId: string): Promise<Run | undefined> {
    return this.rows.read(keyOfRun({ jobId, runId }));
  }

  async put(run: Run, seen?: Run): Promise<boolean> {
    const key = keyOfRun(run);
    const before = this.rows.read(key);
    if (before?.revision !== seen?.revision) return false;
    this.rows.write(key, run);
    this.#due.set(key, before?.indexDueAt, run.indexDueAt);
    this.#failed.set(key, before?.failedAt, run.failedAt);
    this.#world.wrote.runs(before, run);
    return true;
  }

  async list(query: PageQuery & { jobId: string }): Promise<Page<Run>> {
    const runs = [...this.rows.all()].filter(({ jobId }) => jobId === query.jobId);
    runs.sort((a, b) => (a.runId > b.runId ? -1 : 1));
    return pageOf(`runs of ${query.jobId}`, runs, query, keyOfRun, this.#world);
  }

  async due(
    query: PageQuery & { shard: number; until: number },
  ): Promise<Page<{ jobId: string; runId: string; dueAt: number }>> {
    const { shard, until } = query;
    const due = this.#due
      .entries()
      .map(({ key, at }) => ({ jobId: key.split(' ')[0]!, runId: key.split(' ')[1]!, dueAt: at }))
      .filter(({ jobId, dueAt }) => dueAt <= until && shardOf(jobId, this.#shards) === shard);
    return pageOf(`runs due in ${shard}`, due, query, keyOfRun, this.#world);
  }

  async failed(query: PageQuery & { since?: number; jobId?: string }): Promise<Page<Run>> {
    const { since = 0, jobId } = query;
    const runs = this.#failed
      .entries()
      .filter(({ key, at }) => at >= since && (jobId === undefined || key.startsWith(`${jobId} `)))
      .reverse()
      .map(({ key }) => this.rows.read(key)!);
    return pageOf('failed', runs, query, keyOfRun, this.#world);
  }

  async scan(query: PageQuery): Promise<Page<Run>> {
    return pageOf('runs', [...this.rows.all()], query, keyOfRun, this.#world);
  }
}

export class SimulatedGroupStore implements GroupStore {
  readonly heads = new Rows<Group>();
  readonly parts = new Rows<GroupPart>();
  readonly #world: TableWorld;

  constructor(world: TableWorld) {
    this.#world = world;
  }

  async read(groupId: string): Promise<Group | undefined> {
    return this.heads.read(groupId);
  }

  async put(group: Group, seen?: Group): Promise<boolean> {
    const before = this.heads.read(group.groupId);
    if (before?.revision !== seen?.revision) return false;
    this.heads.write(group.groupId, group);
    this.#world.wrote.groups(before, group);
    return true;
  }

  async readPart(groupId: string, partId: string): Promise<GroupPart | undefined> {
    return this.parts.read(`${groupId} ${partId}`);
  }

  async readParts(groupId: string): Promise<GroupPart[]> {
    return [...this.parts.all()].filter((part) => part.groupId === groupId);
  }

  async putPart(part: GroupPart, seen?: GroupPart): Promise<boolean> {
    const key = `${part.groupId} ${part.partId}`;
    const before = this.parts.read(key);
    if (before?.revision !== seen?.revision) return false;
    this.parts.write(key, part);
    this.#world.wrote.parts(before, part);
    return true;
  }

  async list(query: PageQuery & { kind?: GroupKind }): Promise<Page<Group>> {
    const heads = [...this.heads.all()].filter(({ kind }) => query.kind === undefined || kind === query.kind);
    return pageOf('groups', heads, query, ({ groupId }) => groupId, this.#world);
  }
}

export class SimulatedNotificationStore implements NotificationStore {
  readonly rows = new Rows<Notification>();
  /** all that there ever were */
  readonly ever: Notification[] = [];

  async put(notification: Notification): Promise<void> {
    this.ever.push(notification);
    this.rows.write(keyOfNotification(notification), notification);
  }

  async remove(notification: Pick<Notification, 'jobId' | 'state' | 'notifyId'>): Promise<void> {
    this.rows.texts.delete(keyOfNotification(notification));
  }

  async of(jobId: string, state?: NotificationState): Promise<Notification[]> {
    return [...this.rows.all()].filter((one) => one.jobId === jobId && (state === undefined || one.state === state));
  }
}

function keyOfNotification({ jobId, state, notifyId }: Pick<Notification, 'jobId' | 'state' | 'notifyId'>): string {
  return `${jobId} ${state} ${notifyId}`;
}

export class SimulatedCodeStore implements CodeStore {
  readonly #rows = new Rows<Code>();

  async put(code: Code): Promise<void> {
    this.#rows.write(code.codeId, code);
  }

  async read(codeId: string): Promise<Code | undefined> {
    return this.#rows.read(codeId);
  }
}

/** Entries that all processes share; each decides by a clock of its own what has expired. */
export class SimulatedControlTable {
  readonly rows = new Rows<ControlEntry>();

  seenBy(clock: Pick<Clock, 'now'>): ControlStore {
    const standing = (name: string) => {
      const entry = this.rows.read(name);
      return entry && entry.expiresAt > clock.now() ? entry : undefined;
    };
    return {
      read: async (name) => standing(name),
      put: async (entry, seen) => {
        if (standing(entry.name)?.value !== seen?.value) return false;
        this.rows.write(entry.name, entry);
        return true;
      },
    };
  }
}
