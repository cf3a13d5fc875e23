import type { JobRow } from './job';
import type { Run } from './run';

/** May the lock of a unique key be taken? */
export type UniqueDecision =
  | { action: 'take'; reason: 'free' | 'own' }
  /** `jobId`: of the job that holds it */
  | { action: 'refuse'; reason: 'unique'; jobId: string };

/**
 * `held` is the owner of the lock as it stands, if it has not expired. `alsoOwn`: another name under which it counts as the
 * taker's own.
 */
export function decideUnique(owner: string, held: string | undefined, alsoOwn?: string): UniqueDecision {
  if (held === undefined) return { action: 'take', reason: 'free' };
  if (held === owner || held === alsoOwn) return { action: 'take', reason: 'own' };
  return { action: 'refuse', reason: 'unique', jobId: held.slice(0, held.indexOf('/')) };
}

/** A one-off job of its own is accepted or refused when it is created; every other run when it is to begin. */
export function isLockedAtCreation({ schedule, member }: Pick<JobRow, 'schedule' | 'member'>): boolean {
  return schedule.kind === 'once' && !member;
}

/** The owner of a lock that was taken at creation: the same for a repeat of the same request. */
export function creationOwner({ jobId, requestId = '' }: Pick<JobRow, 'jobId' | 'requestId'>): string {
  return `${jobId}/${requestId}`;
}

/**
 * The owner of the lock that this run holds. Each series that a person starts has one of its own, so that what is left of the
 * series before frees nothing.
 */
export function uniqueOwner(run: Pick<Run, 'runId' | 'origin' | 'series'>, job: JobRow): string {
  if (run.series) return `${job.jobId}/${run.runId}#${run.series.number}`;
  const isCreations = isLockedAtCreation(job) && run.origin === 'scheduled';
  return isCreations ? creationOwner(job) : `${job.jobId}/${run.runId}`;
}
