import { currentGeneration, type Job, type JobRow } from '../domain/job';
import type { Run } from '../domain/run';
import type { Ports } from '../ports';

/**
 * What the job was under this generation, kept when an edit or a create of the same id replaced it; undefined where that is what it
 * is now, or where nobody knows the generation (yet). The row forgets old generations.
 */
export async function definitionOf(
  { jobId, generation }: Pick<Run, 'jobId' | 'generation'>,
  job: JobRow | undefined,
  { jobs }: Pick<Ports, 'jobs'>,
): Promise<Job | undefined> {
  if (!job || currentGeneration(job)?.id === generation) return undefined;
  return jobs.readDefinition(jobId, generation);
}

/**
 * The definition that a run of this generation goes by, in the state, with the end and the subscribers of now. A job that was created
 * anew under the same id has nothing to do with it: of the one before it there is what was kept, and that is deleted. Undefined where
 * nothing is left of it.
 */
export function asOfNow<Row extends JobRow>(
  generation: string,
  definition: Row | undefined,
  job: Row | undefined,
): Row | undefined {
  if (!definition || !job) return job?.generations.some(({ id }) => id === generation) ? job : undefined;
  if (definition.lifeId !== job.lifeId) return { ...definition, state: 'DELETED' };
  const { state, generations, subscribedStates, revision, expiresAt } = job;
  const { expiresAt: _, ...kept } = definition;
  return {
    ...kept,
    state,
    generations,
    subscribedStates,
    revision,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  } as Row;
}

/** The job that this run goes by, without its payload; a tombstone if it was deleted, undefined where nothing is left of it. */
export async function jobOf(run: Run, ports: Pick<Ports, 'jobs'>): Promise<JobRow | undefined> {
  const [row] = await ports.jobs.readRows([run.jobId]);
  return asOfNow<JobRow>(run.generation, await definitionOf(run, row, ports), row);
}
