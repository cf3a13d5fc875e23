/**
 * The outside world, on one page. Instants are epoch milliseconds, durations carry their unit.
 * Every method may throw when the world behind it fails; a caller then knows nothing about whether the effect took place.
 */
import type { Group, GroupKind, GroupPart } from './domain/group';
import type { Job, JobRow } from './domain/job';
import type { Notification, NotificationState } from './domain/notification';
import type { Run } from './domain/run';

export interface Clock {
  now(): number;
  /** Resolves once `now() >= at`, never before, or at once when `signal` aborts. */
  waitUntil(at: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** a fresh UUIDv7 */
  guid(): string;
}

export interface Random {
  /** in [0, 1) */
  next(): number;
}

/** `cursor` is absent on the last page; a page may be empty and still have a successor. */
export interface Page<Item> {
  items: Item[];
  cursor?: string;
}

export interface PageQuery {
  limit: number;
  cursor?: string;
}

/** A cursor that this store did not give out. */
export class InvalidCursorError extends Error {
  override readonly name = 'InvalidCursorError';
}

/** There is no room for what was to be written; nothing of it was, and it may be sent again once there is. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

export interface JobStore {
  /** Strongly consistent; tombstones included. */
  read(jobId: string): Promise<Job | undefined>;
  /** Strongly consistent, without payloads, in no promised order; what is absent is left out. Any number of ids. */
  readRows(jobIds: readonly string[]): Promise<JobRow[]>;
  /** Writes row and payload if nothing stands there, or, given `replaces`, if the row still has that revision. Answers whether it did. */
  put(job: Job, replaces?: JobRow): Promise<boolean>;
  /** Writes rows and payloads over whatever stands there: only for ids that nobody else can have. Any number; throws when some were not written, others may have been. */
  putAll(jobs: readonly Job[]): Promise<void>;
  /** Writes the row and leaves the payload, if the row still has the revision of `seen`. Answers whether it did. */
  update(row: JobRow, seen: JobRow): Promise<boolean>;
  /** Keeps a job as it is under its current generation, for the runs of that generation once an edit replaced it. `expiresAt` in epoch ms. */
  keepDefinition(job: Job, expiresAt: number): Promise<void>;
  readDefinition(jobId: string, generation: string): Promise<Job | undefined>;
  /** All jobs with that tag, tombstones left out, in no promised order. */
  list(query: PageQuery & { tag?: string }): Promise<Page<JobRow>>;
  /** Keys of jobs of this shard with `dueAt <= until`, earliest first. May lag behind the rows. */
  due(query: PageQuery & { shard: number; until: number }): Promise<Page<{ jobId: string; dueAt: number }>>;
}

export interface RunStore {
  /** Strongly consistent. */
  read(jobId: string, runId: string): Promise<Run | undefined>;
  /** Writes the run if it is absent, or, given `seen`, if the row still has that revision. Answers whether it did. */
  put(run: Run, seen?: Run): Promise<boolean>;
  /** Runs of a job, the latest `nominalAt` first. */
  list(query: PageQuery & { jobId: string }): Promise<Page<Run>>;
  /** Keys of waiting runs of this shard with `indexDueAt <= until`, earliest first. May lag behind the rows. */
  due(
    query: PageQuery & { shard: number; until: number },
  ): Promise<Page<{ jobId: string; runId: string; dueAt: number }>>;
  /** Runs with a `failedAt`, the latest first: since that instant, of that job. May lag behind the rows; a page may be empty and still have a successor. */
  failed(query: PageQuery & { since?: number; jobId?: string }): Promise<Page<Run>>;
  /** Every run there is, in no promised order: for the daily sweep only. */
  scan(query: PageQuery): Promise<Page<Run>>;
}

/** Chains and batches: a head each, and parts that keep what became of their jobs. */
export interface GroupStore {
  /** Strongly consistent. */
  read(groupId: string): Promise<Group | undefined>;
  /** Writes the head if it is absent, or, given `seen`, if it still has that revision. Answers whether it did. */
  put(group: Group, seen?: Group): Promise<boolean>;
  /** Strongly consistent. */
  readPart(groupId: string, partId: string): Promise<GroupPart | undefined>;
  /** All parts of a group, strongly consistent, in no promised order. */
  readParts(groupId: string): Promise<GroupPart[]>;
  /** Writes the part if it is absent, or, given `seen`, if it still has that revision. Answers whether it did. */
  putPart(part: GroupPart, seen?: GroupPart): Promise<boolean>;
  /** Heads, of one kind if given, in no promised order. */
  list(query: PageQuery & { kind?: GroupKind }): Promise<Page<Group>>;
}

export interface NotificationStore {
  put(notification: Notification): Promise<void>;
  remove(notification: Pick<Notification, 'jobId' | 'state' | 'notifyId'>): Promise<void>;
  /** Who wants to hear of this job (and, if given, of this state of it)? Strongly consistent, whole. */
  of(jobId: string, state?: NotificationState): Promise<Notification[]>;
}

/** GUID → runnable code. A mapping never changes, since the GUID is derived from the ARN. */
export interface Code {
  codeId: string;
  kind: 'job' | 'notification';
  functionArn: string;
}

export interface CodeStore {
  put(code: Code): Promise<void>;
  read(codeId: string): Promise<Code | undefined>;
}

/** A named value with an end; an entry past `expiresAt` reads as absent. */
export interface ControlEntry {
  name: string;
  value: string;
  expiresAt: number;
}

export interface ControlStore {
  /** Strongly consistent. */
  read(name: string): Promise<ControlEntry | undefined>;
  /** Writes if what stands there (expired counts as absent) has the value of `seen`, or is absent when `seen` is. Answers whether it did. */
  put(entry: ControlEntry, seen?: ControlEntry): Promise<boolean>;
}

export interface OutgoingMessage {
  body: string;
  /** never delivered before; at most 900,000. May be delivered up to a second earlier where a queue knows whole seconds only. */
  delayMs?: number;
}

export interface ReceivedMessage {
  messageId: string;
  /** names this delivery of the message */
  receipt: string;
  body: string;
  /** deliveries so far, this one included */
  receives: number;
  /** epoch ms */
  sentAt: number;
}

/** At least once, in no promised order. A message taken `maxReceives` times without being removed moves to the dead-letter queue, if there is one. */
export interface Queue {
  /** Any number of messages. Resolves when every one is durably accepted; throws when some were not, others may have been. */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  /** Takes up to `max` (1 to 10) visible messages, waiting up to `waitMs` for the first; each is hidden for the queue's visibility time. */
  receive(max: number, options?: { waitMs?: number; signal?: AbortSignal }): Promise<ReceivedMessage[]>;
  /** Removes what these deliveries brought. A receipt that is no longer good is no error. */
  remove(receipts: readonly string[]): Promise<void>;
  /** Hides these deliveries until `forMs` from now (0: visible at once). A receipt that is no longer good is no error. */
  hide(receipts: readonly string[], forMs: number): Promise<void>;
}

export type InvokeOutcome =
  /** JSON text, `null` where the code returned nothing */
  | { kind: 'returned'; result: string }
  /** the code threw, ran out of time or died */
  | { kind: 'failed'; error: { type: string; message: string } }
  /** not the job's fault; worth another try */
  | { kind: 'held-back'; reason: 'throttled' | 'service-error'; message: string }
  /** no further try can help */
  | { kind: 'refused'; reason: 'function-not-found' | 'not-permitted' | 'malformed-arn'; message: string };

export interface Invoker {
  /** Calls the code once with this JSON text and waits for its end, at most `timeoutMs`. Never throws. */
  invoke(call: { functionArn: string; event: string; timeoutMs: number }): Promise<InvokeOutcome>;
}

/** Where decisions are written down for people: ids and reasons, never payloads, results or error texts of users. */
export interface Journal {
  /** `run` has just made a transition. */
  transition(run: Run, job: JobRow | undefined): void;
  /** Anything else worth a line. */
  note(what: string, details: Record<string, string | number | boolean | undefined>): void;
}

export interface Settings {
  /** partitions of the due indexes */
  shards: number;
  /** 1 to 60 */
  tickSeconds: number;
  /** how long finished runs, finished one-off jobs and tombstones are kept */
  retentionMs: number;
  /** how long a failed run, and what it needs to be sent again, is kept */
  failedRetentionMs: number;
  /** patterns of the names of functions that may be called; `*` stands for any characters */
  allowedFunctions: readonly string[];
}

/** The pairs of queues through which jobs and notifications are created and deleted. */
export type CommandName = 'job-create' | 'job-delete' | 'notify-create' | 'notify-delete';
export type ReplyName = 'job-created' | 'job-deleted' | 'notify-created' | 'notify-deleted';

/** Everything that the operations need; each takes what it uses of it. */
export interface Ports {
  clock: Clock;
  ids: Ids;
  random: Random;
  jobs: JobStore;
  runs: RunStore;
  notifications: NotificationStore;
  code: CodeStore;
  control: ControlStore;
  groups: GroupStore;
  activations: Queue;
  /** for runs of the priority "high", so that they wait behind none of the others */
  highActivations: Queue;
  /** the dead-letter queue of both */
  deadActivations: Queue;
  notify: Queue;
  commands: Record<CommandName, Queue>;
  replies: Record<ReplyName, Queue>;
  invoker: Invoker;
  journal: Journal;
  settings: Settings;
}
