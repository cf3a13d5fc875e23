import { scheduledRunIdOf } from '../domain/activation';
import type { JobRow } from '../domain/job';
import { isFinal, type Run } from '../domain/run';
import type { Ports } from '../ports';

/** A row forgets the generations before these. */
export const GENERATIONS_KEPT = 10;

/**
 * The one run of a one-off job, if it has a row. At the same instant that of a deleted job of the same id may stand, until this
 * one begins: it tells nothing of this job.
 */
export async function onlyRunOf(job: JobRow, { runs }: Pick<Ports, 'runs'>): Promise<Run | undefined> {
  const { jobId, schedule, generations } = job;
  if (schedule.kind !== 'once') return undefined;
  const run = await runs.read(jobId, scheduledRunIdOf(jobId, schedule.at));
  const isKnown = generations.length >= GENERATIONS_KEPT || generations.some(({ id }) => id === run?.generation);
  return run && isFinal(run.state) && !isKnown ? undefined : run;
}
