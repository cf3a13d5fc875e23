import { NotFoundError, noSuchJob } from '../domain/errors';
import type { GroupPart } from '../domain/group';
import type { Job, JobRow, JobState } from '../domain/job';
import { OF_ALL, type Notification } from '../domain/notification';
import { nextRunAt, occurrence } from '../domain/occurrences';
import { isFinal, type Run } from '../domain/run';
import type { Page, PageQuery, Ports } from '../ports';
import { onlyRunOf } from './only-run';
import { withAllAttempts } from './attempts-beside';
import { notificationsOf } from './delete-notification';

/** A job as it stands now. */
export interface JobStanding<Row extends JobRow = Job> {
  job: Row;
  state: JobState;
  /** epoch ms of its next occurrence; of a one-off its only one, until it is over. Absent when there is none to come */
  nextRunAt?: number;
}

type ReadPorts = Pick<Ports, 'clock' | 'jobs' | 'runs' | 'groups'>;

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

/**
 * With the records of all its attempts.
 * @throws NotFoundError when there is no such job or no row of such a run, or the job was deleted
 */
export async function readRun(
  jobId: string,
  runId: string,
  ports: Pick<Ports, 'jobs' | 'runs' | 'control'>,
): Promise<Run> {
  const [run] = await Promise.all([ports.runs.read(jobId, runId), livingRow(jobId, ports)]);
  if (!run) throw new NotFoundError('runId', `job ${jobId} has no run ${JSON.stringify(runId)}, or it has not begun`);
  return withAllAttempts(run, ports);
}

/** Of a job, or of all jobs (`*`). @throws NotFoundError when there is no such job, or it was deleted */
export async function listNotifications(
  jobId: string,
  ports: Pick<Ports, 'jobs' | 'notifications'>,
): Promise<Notification[]> {
  const { lifeId } = jobId === OF_ALL.jobId ? OF_ALL : await livingRow(jobId, ports);
  return notificationsOf(jobId, lifeId, ports);
}

/** A job with its state, for which the run of a one-off is looked at, and of what belongs to a chain or batch its place there. */
export async function standingOf<Row extends JobRow>(
  job: Row,
  { clock, runs, groups }: Omit<ReadPorts, 'jobs'>,
): Promise<JobStanding<Row>> {
  const { jobId, member } = job;
  if (member) {
    // Its run may stand for another instant than its schedule: it is the only one, or the latest of those that took its place.
    const [part, latest] = await Promise.all([
      groups.readPart(member.groupId, member.partId),
      runs.list({ jobId, limit: 1 }),
    ]);
    return decideMemberStanding(job, part, latest.items[0]);
  }
  return decideStanding(job, await onlyRunOf(job, { runs }), clock.now());
}

/**
 * A job of a chain or batch is over when its part says so, or its run, unless another one is to take the place of that: what was
 * skipped has its turn again when what failed before it was sent again. When it runs is known once that has been decided.
 */
export function decideMemberStanding<Row extends JobRow>(
  job: Row,
  part: GroupPart | undefined,
  run: Run | undefined,
): JobStanding<Row> {
  const { state, member } = job;
  if (state === 'DELETED') return { job, state };
  if (run?.state === 'STARTED') return { job, state };
  if (run?.state === 'RELEASED') return { job, state, nextRunAt: run.dueAt };
  const { index } = member!;
  const isReplaced = run !== undefined && run.nominalAt < (part?.nominalAts?.[index] ?? -Infinity);
  const isOver = (run !== undefined && !isReplaced) || (part !== undefined && part.states[index] !== 'P');
  return { job, state: isOver ? 'COMPLETED' : state };
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
