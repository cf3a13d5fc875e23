import { scheduledRunIdOf } from '../domain/activation';
import { NotFoundError, noSuchJob } from '../domain/errors';
import type { Job, JobRow, JobState } from '../domain/job';
import type { Notification } from '../domain/notification';
import { nextRunAt, occurrence } from '../domain/occurrences';
import { isFinal, type Run } from '../domain/run';
import type { Page, PageQuery, Ports } from '../ports';
import { notificationsOf } from './delete-notification';

/** A job as it stands now. */
export interface JobStanding<Row extends JobRow = Job> {
  job: Row;
  state: JobState;
  /** epoch ms of its next occurrence; of a one-off its only one, until it is over. Absent when there is none to come */
  nextRunAt?: number;
}

type ReadPorts = Pick<Ports, 'clock' | 'jobs' | 'runs'>;

/** @throws NotFoundError when there is no such job, or it was deleted */
export async function readJob(jobId: string, ports: ReadPorts): Promise<JobStanding> {
  const job = await ports.jobs.read(jobId);
  if (!job || job.state === 'DELETED') throw noSuchJob(jobId);
  return standingOf(job, ports);
}

/** @throws InvalidCursorError */
export async function listJobs(
  query: PageQuery & { tag?: string },
  ports: ReadPorts,
): Promise<Page<JobStanding<JobRow>>> {
  const { items, ...rest } = await ports.jobs.list(query);
  return { items: await Promise.all(items.map((job) => standingOf(job, ports))), ...rest };
}

/**
 * The runs of a job that have a row, the latest `nominalAt` first: one that is only scheduled has none.
 * @throws NotFoundError when there is no such job, or it was deleted
 * @throws InvalidCursorError
 */
export async function listRuns(
  query: PageQuery & { jobId: string },
  ports: Pick<Ports, 'jobs' | 'runs'>,
): Promise<Page<Run>> {
  await livingRow(query.jobId, ports);
  return ports.runs.list(query);
}

/** @throws NotFoundError when there is no such job or no row of such a run, or the job was deleted */
export async function readRun(jobId: string, runId: string, ports: Pick<Ports, 'jobs' | 'runs'>): Promise<Run> {
  const [run] = await Promise.all([ports.runs.read(jobId, runId), livingRow(jobId, ports)]);
  if (!run) throw new NotFoundError('runId', `job ${jobId} has no run ${JSON.stringify(runId)}, or it has not begun`);
  return run;
}

/** @throws NotFoundError when there is no such job, or it was deleted */
export async function listNotifications(
  jobId: string,
  ports: Pick<Ports, 'jobs' | 'notifications'>,
): Promise<Notification[]> {
  const { lifeId } = await livingRow(jobId, ports);
  return notificationsOf(jobId, lifeId, ports);
}

/** A job with its state, for which the run of a one-off is looked at. */
export async function standingOf<Row extends JobRow>(
  job: Row,
  { clock, runs }: Pick<Ports, 'clock' | 'runs'>,
): Promise<JobStanding<Row>> {
  const { jobId, schedule } = job;
  const run = schedule.kind === 'once' ? await runs.read(jobId, scheduledRunIdOf(jobId, schedule.at)) : undefined;
  return decideStanding(job, run, clock.now());
}

/** The state of a one-off job is not written: it follows from its run, absent as long as that has not begun. */
export function decideStanding<Row extends JobRow>(job: Row, run: Run | undefined, now: number): JobStanding<Row> {
  const { state, schedule } = job;
  if (state === 'DELETED') return { job, state };
  if (schedule.kind === 'once') {
    if (run && isFinal(run.state)) return { job, state: 'COMPLETED' };
    if (run?.state === 'STARTED') return { job, state };
    return { job, state, nextRunAt: run ? run.dueAt : occurrence(job, schedule.at).dueAt };
  }
  // The last runs of a schedule are dispatched ahead: until they are due it has not ended.
  const last = state === 'COMPLETED' ? occurrence(job, job.dispatchedUntil ?? 0).dueAt : Infinity;
  const next = state === 'PAUSED' ? undefined : nextRunAt(job, now);
  if (state === 'COMPLETED' && next !== undefined && next <= last) return { job, state: 'ACTIVE', nextRunAt: next };
  if (state !== 'ACTIVE') return { job, state };
  return { job, state, ...(next === undefined ? {} : { nextRunAt: next }) };
}

/** @throws NotFoundError when there is no such job, or it was deleted */
export async function livingRow(jobId: string, { jobs }: Pick<Ports, 'jobs'>): Promise<JobRow> {
  const [row] = await jobs.readRows([jobId]);
  if (!row || row.state === 'DELETED') throw noSuchJob(jobId);
  return row;
}
