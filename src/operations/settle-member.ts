import type { JobRow } from '../domain/job';
import type { Run } from '../domain/run';
import type { FollowUpPorts } from './follow-up';

/** Tells its chain or batch what became of a job's run, and does what follows for the group. Doing it twice does no harm. */
export async function settleMember(_run: Run, _job: JobRow, _ports: FollowUpPorts): Promise<void> {}

/** A chain or batch that was cancelled, or stopped by a failure, starts nothing more: how a run ends for that, if it does. */
export async function endForGroup(
  _run: Run,
  _job: JobRow,
  _ports: FollowUpPorts,
): Promise<{ state: 'SKIPPED' | 'CANCELLED'; reason: string } | undefined> {
  return undefined;
}
