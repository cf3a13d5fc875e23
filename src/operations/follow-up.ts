import type { JobRow } from '../domain/job';
import { isFinal, type Run } from '../domain/run';
import { announce } from './announce';
import { releaseHolds } from './holds';
import { keepJob } from './keep-job';
import type { FollowUpPorts } from './follow-up-ports';
import { callNext } from './overlap';
import { settleMember } from './settle-member';

export type { FollowUpPorts } from './follow-up-ports';

/** What follows from a state of a run; doing it twice does no harm, and it is done until it succeeded. */
export async function followUp(run: Run, job: JobRow | undefined, ports: FollowUpPorts): Promise<void> {
  await announce([run], job, ports);
  if (!job) return;
  // A job of a group is kept with all of that.
  if (!job.member) await keepJob(run, job, ports);
  await releaseHolds(run, job, ports);
  if (isFinal(run.state) && (run.attempt > 0 || run.state === 'CANCELLED')) await callNext(job, ports);
  if (job.member) await settleMember(run, job, ports);
}
