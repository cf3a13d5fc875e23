export const RUN_STATES = ['SCHEDULED', 'STARTED', 'RELEASED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED'] as const;
export type RunState = (typeof RUN_STATES)[number];

export type RunOrigin = 'scheduled' | 'manual' | 'backfill';

export interface RunError {
  /** the error's name as the code gave it, or one of ours such as `Timeout` */
  type: string;
  /** cut at 2 KiB */
  message: string;
}

/** An attempt that is over; the latest few are kept in the run. Instants are epoch ms. */
export interface AttemptRecord {
  attempt: number;
  startedAt: number;
  finishedAt: number;
  reason: string;
  error?: RunError;
}

/** The life of one occurrence. A SCHEDULED run has no row: it is sequence 1 by definition. Instants are epoch ms. */
export interface Run {
  jobId: string;
  runId: string;
  /** counts the writes of this row, lease renewals included; every write is conditional on the revision it saw */
  revision: number;
  /** counts the transitions: 1 is SCHEDULED, 2 the first row */
  sequence: number;
  state: Exclude<RunState, 'SCHEDULED'>;
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
  finishedAt?: number;
  /** when the latest transition was written */
  changedAt: number;
  /** the right to the attempt ends here; only while STARTED */
  leaseUntil?: number;
  /** present only while the due index has to find this run: it waits longer than a queue can delay */
  indexDueAt?: number;
  /** times that the call was held back through no fault of the job, and since when */
  heldBack?: { times: number; since: number };
  /** why the run is in this state, in plain words or one of the reasons of the design */
  reason?: string;
  /** occurrences that this record covers besides its own: misfires found together share one */
  alsoCovers?: number;
  /** JSON text that the code returned */
  result?: string;
  error?: RunError;
  attempts: readonly AttemptRecord[];
  /** epoch ms after which the row may be removed */
  expiresAt: number;
}
