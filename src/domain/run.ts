import type { Priority } from './job';
import type { RunState } from './run-state';

export { RUN_STATES, type RunState } from './run-state';

export type RunOrigin = 'scheduled' | 'manual' | 'backfill';

export interface RunError {
  /** the error's name as the code gave it, or one of ours such as `Timeout` */
  type: string;
  /** cut at 2 KiB */
  message: string;
}

/** An attempt that is over. Instants are epoch ms. */
export interface AttemptRecord {
  attempt: number;
  startedAt: number;
  finishedAt: number;
  reason: string;
  error?: RunError;
}

/** Names a run. */
export interface RunKey {
  jobId: string;
  runId: string;
}

/** The life of one occurrence. A SCHEDULED run has no row: it is sequence 1 by definition. Instants are epoch ms. */
export interface Run {
  jobId: string;
  runId: string;
  /** counts the writes of this row, lease renewals included; every write is conditional on the revision it saw */
  revision: number;
  /** counts the transitions: 1 is SCHEDULED, 2 the first row */
  sequence: number;
  /** never SCHEDULED in a row */
  state: RunState;
  /** the generation of the job that this run belongs to */
  generation: string;
  origin: RunOrigin;
  nominalAt: number;
  /** the earliest start of the next attempt; of the latest attempt once there is none to come */
  dueAt: number;
  /** attempts begun so far; 0 for a run that was skipped */
  attempt: number;
  /** when the latest attempt began */
  startedAt?: number;
  /** startedAt − dueAt of the latest attempt, in ms; never below 0 */
  latenessMs?: number;
  finishedAt?: number;
  /** when the latest transition was written */
  changedAt: number;
  /** the right to the attempt ends here; only while STARTED */
  leaseUntil?: number;
  /** present only while the due index has to find this run: it waits longer than a queue can delay */
  indexDueAt?: number;
  /** times that the call was held back through no fault of the job, and since when */
  heldBack?: { times: number; since: number };
  /** times in a row that the code itself asked to come again later */
  snoozes?: number;
  /** absent: normal */
  priority?: Priority;
  /** the run before it in its chain, whose result it gets */
  previous?: RunKey;
  /** a person sent it again after it had failed: which series this is, from 2, and how many attempts came before it */
  series?: { number: number; after: number };
  /** somebody asked at this instant that the attempt at work stops; only while STARTED */
  cancelRequestedAt?: number;
  /**
   * names an attempt of a job that completes by callback to whoever ends it; stays until the next attempt where it was ended so, so
   * that a repeat is recognised. Not for logs, views or notifications
   */
  completionToken?: string;
  /** the code has returned, and the attempt goes on until it is completed or its lease ends */
  isAwaited?: boolean;
  /** present only while the run is kept among the failed ones: when it failed */
  failedAt?: number;
  /** why the run is in this state, in plain words or a reason such as `misfire` */
  reason?: string;
  /** occurrences that this record covers besides its own: misfires found together share one */
  alsoCovers?: number;
  /** JSON text that the code returned */
  result?: string;
  error?: RunError;
  /** the latest ones */
  attempts: readonly AttemptRecord[];
  /** how many there were before them: `operations/attempts-beside.ts` keeps those */
  attemptsBeside?: number;
  /** epoch ms after which the row may be removed */
  expiresAt: number;
}

const LEADS_TO: Record<RunState, readonly RunState[]> = {
  SCHEDULED: ['STARTED', 'SKIPPED', 'CANCELLED', 'FAILED'],
  STARTED: ['STARTED', 'DONE', 'RELEASED', 'FAILED', 'CANCELLED'],
  RELEASED: ['STARTED', 'SKIPPED', 'FAILED', 'CANCELLED'],
  DONE: [],
  FAILED: ['RELEASED'],
  SKIPPED: [],
  CANCELLED: [],
};

/** A transition that the table does not know: a fault of ours, never of a caller. */
export class IllegalTransitionError extends Error {
  override readonly name = 'IllegalTransitionError';
}

export function mayBecome(from: RunState, to: RunState): boolean {
  return LEADS_TO[from].includes(to);
}

/** Nothing leads on but a person. */
export function isFinal(state: RunState): boolean {
  return state === 'DONE' || state === 'FAILED' || state === 'SKIPPED' || state === 'CANCELLED';
}

export type RunChanges = { [Key in keyof Run]?: Run[Key] | undefined };

/** The row with these changes as its next revision; `undefined` takes a field away. */
export function revise(run: Run, changes: RunChanges): Run {
  const next: RunChanges = { ...run, ...changes, revision: run.revision + 1 };
  for (const key of Object.keys(next) as (keyof Run)[]) if (next[key] === undefined) delete next[key];
  return next as Run;
}

/** The row after one transition. @throws IllegalTransitionError */
export function transition(run: Run, to: RunState, at: number, changes: RunChanges = {}): Run {
  if (!mayBecome(run.state, to)) {
    throw new IllegalTransitionError(`run ${run.runId} of job ${run.jobId} cannot go from ${run.state} to ${to}`);
  }
  return revise(run, {
    leaseUntil: undefined,
    indexDueAt: undefined,
    cancelRequestedAt: undefined,
    completionToken: undefined,
    isAwaited: undefined,
    failedAt: to === 'FAILED' ? at : undefined,
    reason: undefined,
    ...changes,
    state: to,
    sequence: run.sequence + 1,
    changedAt: at,
  });
}

/** Attempts begun in the current series: what a person sends again after it failed begins anew. */
export function attemptsOfSeries({ attempt, series }: Run): number {
  return attempt - (series?.after ?? 0);
}

export function withAttempt(run: Run, record: AttemptRecord): readonly AttemptRecord[] {
  return [...run.attempts, record];
}

/** Has its code been called? What was only held back has not begun; a snooze gives its attempt back, and has. */
export function hasBegun({ attempt, series, snoozes }: Run): boolean {
  return attempt > 0 || series !== undefined || snoozes !== undefined;
}
