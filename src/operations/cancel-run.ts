import type { Run } from '../domain/run';
import type { FollowUpPorts } from './follow-up';

/**
 * Takes a run back: one that waits is CANCELLED at once, one at work is asked to stop and is CANCELLED when it does. Twice is once.
 * @throws NotFoundError; ConflictError when it is over
 */
export async function cancelRun(
  _jobId: string,
  _runId: string,
  _remark: { reason?: string; by?: string },
  _ports: FollowUpPorts,
): Promise<Run> {
  throw new Error('not yet');
}
