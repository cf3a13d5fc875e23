import type { GroupKind } from './group';
import type { NotificationState } from './notification';
import type { RetryPolicy } from './retry-policy';
import type { MisfirePolicy } from './misfire';
import type { DstOptions } from './schedule';

/** COMPLETED is written only for a recurring job whose schedule names nothing more: a one-off's state follows from its run. */
export type JobState = 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'DELETED';

/**
 * When a job runs, as the row keeps it. Instants are epoch milliseconds.
 * `once` is what "immediate", a delay and `at(...)` come to: one instant, and the words that named it.
 * `recurring` keeps the expression; `anchorAt` is where the grid of a `rate` begins.
 */
export type JobSchedule =
  | {
      kind: 'once';
      at: number;
      expression?: string;
      delaySeconds?: number;
      timezone: string;
      /** the local time exists twice; `at` is the first */
      isAmbiguous?: boolean;
    }
  | {
      kind: 'recurring';
      expression: string;
      timezone: string;
      anchorAt: number;
      dst?: DstOptions;
      /** nothing before; where the grid of a rate begins, itself an occurrence */
      startAt?: number;
      /** nothing after */
      endAt?: number;
    };

/** What becomes of an occurrence whose predecessor is still running, or waiting for its retry. */
export type OverlapPolicy = 'allow' | 'skip' | 'queue-one' | 'cancel-previous';

/** Runs of a priority have a queue of their own, so that a backlog of the others holds up none of them. */
export type Priority = 'high' | 'normal';

/** Of the jobs with the same key only one at a time is accepted. */
export interface UniquePolicy {
  key: string;
  /** the lock frees itself after so long, whatever becomes of its holder */
  forSeconds: number;
  /** the lock is given back when the first attempt starts, or when the run is over */
  until: 'start' | 'done';
}

/** At most `limit` attempts of all runs with the same key are at work at any time. */
export interface ConcurrencyPolicy {
  key: string;
  limit: number;
}

/** At most `limit` attempts of all runs with the same key start within any `perSeconds`. */
export interface RateLimitPolicy {
  key: string;
  limit: number;
  perSeconds: number;
}

/** The place of a job in a chain or batch, see `group.ts`. */
export interface Membership {
  groupId: string;
  kind: GroupKind;
  /** the part of the group that keeps its state, and its place in it, from 0 */
  partId: string;
  index: number;
}

/** One life of a definition. A generation is valid for an occurrence before the start of its successor. */
export interface Generation {
  /** UUIDv7, drawn by every create and every edit */
  id: string;
  /** epoch ms */
  startedAt: number;
}

/** The row of a job without its payload: all that the scheduler needs. */
export interface JobRow {
  jobId: string;
  /** counts the writes of this row; every write is conditional on the revision it saw */
  revision: number;
  state: JobState;
  /** recent generations, the current one last; empty for the tombstone that fences off a job whose row never came */
  generations: readonly Generation[];
  /** drawn by create and kept by edits: tells what belongs to this job from the leftovers of a deleted one of the same id */
  lifeId: string;
  /** the request that created it, so that a repeat is recognised; absent on a fence */
  requestId?: string;
  /** SHA-256 of the request's content, so that the same request id with another content is refused */
  requestDigest?: string;
  name?: string;
  tags: readonly string[];
  functionArn: string;
  /** GUID derived from the ARN: the runner looks the code up by it */
  codeId: string;
  schedule: JobSchedule;
  retry: RetryPolicy;
  misfire: MisfirePolicy;
  /** absent: allow */
  overlap?: OverlapPolicy;
  /** every occurrence is due later by the same part of this, which depends on the job's id; absent: 0 */
  jitterSeconds?: number;
  /** the schedule ends with so many runs dispatched */
  maxRuns?: number;
  /** runs dispatched so far; kept only where maxRuns is set */
  runsDispatched?: number;
  /** the latest of them, nominal, epoch ms; kept where maxRuns is set, and when the schedule ends */
  dispatchedUntil?: number;
  /** while PAUSED: since when (epoch ms), why and by whom, as the caller said */
  pause?: { at: number; reason?: string; by?: string };
  /** the longest that one attempt may last, 1 to 840; of one that completes by callback, the call that begins it */
  timeoutSeconds: number;
  /** absent: normal */
  priority?: Priority;
  unique?: UniquePolicy;
  concurrency?: ConcurrencyPolicy;
  rateLimit?: RateLimitPolicy;
  /** the code returns at once, and the attempt ends when somebody says so; absent: it ends when the code returns */
  completion?: 'callback';
  /** without a sign of life for so long, an attempt that completes by callback has failed */
  heartbeatSeconds?: number;
  /** present while it belongs to a chain or batch, which alone decides when it runs */
  member?: Membership;
  /** epoch ms; present only while the due index has to find this job */
  dueAt?: number;
  /** epoch ms */
  createdAt: number;
  /** states that somebody wants to hear of */
  subscribedStates: readonly NotificationState[];
  /** epoch ms after which the row may be removed; absent while the job is alive and recurring */
  expiresAt?: number;
}

export interface Job extends JobRow {
  /** JSON text exactly as the caller wrote it; `null` where none was given */
  payload: string;
}

export function currentGeneration(job: JobRow): Generation | undefined {
  return job.generations.at(-1);
}
