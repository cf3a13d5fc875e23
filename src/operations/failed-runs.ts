import type { Job } from '../domain/job';
import type { Run } from '../domain/run';
import type { Page, PageQuery } from '../ports';
import type { FollowUpPorts } from './follow-up';

/** Which failed runs are meant; what is absent is not asked about. */
export interface FailedFilter {
  jobId?: string;
  /** failed at or after this, epoch ms */
  since?: number;
  /** the reason of the run, or the type of its error */
  reason?: string;
}

/** The latest first. A page may be empty and still have a successor. @throws InvalidCursorError */
export async function listFailed(_query: PageQuery & FailedFilter, _ports: FollowUpPorts): Promise<Page<Run>> {
  throw new Error('not yet');
}

/** With the definition that it ran under, its payload included, and all its attempts. @throws NotFoundError */
export async function readFailed(
  _jobId: string,
  _runId: string,
  _ports: FollowUpPorts,
): Promise<{ run: Run; job: Job | undefined }> {
  throw new Error('not yet');
}

/** Starts another series of attempts of the same run. @throws NotFoundError; ConflictError when the job is deleted or its unique key is held */
export async function retryFailed(_jobId: string, _runId: string, _ports: FollowUpPorts): Promise<Run> {
  throw new Error('not yet');
}

/** Retries the latest `limit` of these. `isMore`: some are left. */
export async function retryAllFailed(
  _filter: FailedFilter & { limit: number },
  _ports: FollowUpPorts,
): Promise<{ retried: number; refused: { jobId: string; runId: string; message: string }[]; isMore: boolean }> {
  throw new Error('not yet');
}

/** Takes it out of the failed runs; it stays in the list of its job's runs. Twice is once. @throws NotFoundError when there is no such run */
export async function forgetFailed(_jobId: string, _runId: string, _ports: FollowUpPorts): Promise<void> {
  throw new Error('not yet');
}

export async function flushFailed(
  _filter: FailedFilter & { limit: number },
  _ports: FollowUpPorts,
): Promise<{ forgotten: number; isMore: boolean }> {
  throw new Error('not yet');
}
