import { activationOf } from '../domain/activation';
import { startSeries } from '../domain/conclude';
import { ConflictError, NotFoundError } from '../domain/errors';
import { hasReason, isKeptFailed, isSentAgain, type FailedFilter } from '../domain/failed';
import { currentGeneration, type Job, type JobRow } from '../domain/job';
import { revise, type Run } from '../domain/run';
import type { Page, PageQuery, Ports } from '../ports';
import { announce } from './announce';
import { withAllAttempts } from './attempts-beside';
import { asOfNow, definitionOf } from './definition';
import { followUp, type FollowUpPorts } from './follow-up';
import { putRun } from './put-run';
import { sendActivations } from './send-activations';
import { freeLockOfSeries, lockForSeries } from './unique-lock';

export type { FailedFilter } from '../domain/failed';

const MOST_TRIES = 10;
const PAGE_ITEMS = 100;
/** By then the message of the attempt has come again, should its runner have died, and has told what became of it. */
const SURELY_TOLD_MS = 3_600_000;
/** What is refused does not keep a request from what lies behind it, up to so many. */
const MOST_REFUSED = 10_000;
/** Many runs are sent again, or forgotten, so many at a time. */
const SIDE_BY_SIDE = 10;

/** The latest first. A page may be empty and still have a successor. @throws InvalidCursorError */
export async function listFailed(
  query: PageQuery & FailedFilter,
  { clock, runs, settings }: Pick<Ports, 'clock' | 'runs' | 'settings'>,
): Promise<Page<Run>> {
  const { items, ...rest } = await runs.failed(query);
  const now = clock.now();
  return {
    items: items.filter((run) => isKeptFailed(run, now, settings.failedRetentionMs) && hasReason(run, query.reason)),
    ...rest,
  };
}

/** With the definition that it ran under, its payload included, and all its attempts. @throws NotFoundError */
export async function readFailed(
  jobId: string,
  runId: string,
  ports: Pick<Ports, 'clock' | 'jobs' | 'runs' | 'control' | 'settings'>,
): Promise<{ run: Run; job: Job | undefined }> {
  const [run, job] = await Promise.all([ports.runs.read(jobId, runId), ports.jobs.read(jobId)]);
  if (!run || !isKeptFailed(run, ports.clock.now(), ports.settings.failedRetentionMs))
    throw noSuchFailedRun(jobId, runId);
  return {
    run: await withAllAttempts(run, ports),
    job: (await ranUnder(run, job, ports)) ?? (await ports.jobs.readDefinition(jobId, run.generation)),
  };
}

/**
 * Starts another series of attempts of the same run, under the definition that it ran under. Sending it again twice is once.
 * @throws NotFoundError; ConflictError when the job is deleted, its unique key is held, or its chain or batch was cancelled
 */
export async function retryFailed(jobId: string, runId: string, ports: FollowUpPorts): Promise<Run> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const run = await ports.runs.read(jobId, runId);
    const now = ports.clock.now();
    if (!run || !(isKeptFailed(run, now, ports.settings.failedRetentionMs) || isSentAgain(run)))
      throw noSuchFailedRun(jobId, runId);
    const job = await livingJobOf(run, ports);
    if (isSentAgain(run)) return putOnItsWay(run, job, ports);
    await refuseOfCancelled(job, ports);

    const again = startSeries(run, now);
    await lockForSeries(again, job, ports);
    // Whoever wrote that it failed may have died before anybody heard of it.
    if (now - run.changedAt < SURELY_TOLD_MS) await announce([run], job, ports);
    // From here on the due index leads to it, should this process die.
    if (!(await putRun(again, run, ports))) {
      // Whoever was faster may have sent it again, under the same lock, or forgotten it.
      const standing = await ports.runs.read(jobId, runId);
      if (!standing || !isSentAgain(standing)) await freeLockOfSeries(again, job, ports);
      continue;
    }
    ports.journal.transition(again, job);
    return putOnItsWay(again, job, ports);
  }
  throw new ConflictError('runId', `run ${runId} is being changed by others all the time; send this request again`);
}

/** Its chain or batch hears of it first. Messages that are left of the series before do no harm: claims decide. */
async function putOnItsWay(run: Run, job: JobRow, ports: FollowUpPorts): Promise<Run> {
  if (run.state !== 'RELEASED') return run;
  await followUp(run, job, ports);
  await sendActivations([{ activation: activationOf(run), deliverAt: run.dueAt }], ports);
  return run;
}

/** Retries the latest `limit` of these; what is refused does not count. `isMore`: some are left. */
export async function retryAllFailed(
  filter: FailedFilter & { limit: number },
  ports: FollowUpPorts,
): Promise<{ retried: number; refused: { jobId: string; runId: string; message: string }[]; isMore: boolean }> {
  let retried = 0;
  const refused: { jobId: string; runId: string; message: string }[] = [];
  const isMore = await forFailed(filter, ports, async ({ jobId, runId }) => {
    try {
      await retryFailed(jobId, runId, ports);
      retried++;
      return true;
    } catch (error) {
      // Another was faster.
      if (error instanceof NotFoundError) return false;
      if (!(error instanceof ConflictError)) throw error;
      refused.push({ jobId, runId, message: error.message });
      return false;
    }
  });
  return { retried, refused, isMore };
}

/**
 * Takes it out of the failed runs; it stays in the list of its job's runs. Twice is once.
 * @returns whether it was among them until now
 * @throws NotFoundError when there is no such run
 */
export async function forgetFailed(jobId: string, runId: string, { runs }: Pick<Ports, 'runs'>): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const run = await runs.read(jobId, runId);
    if (!run) throw noSuchFailedRun(jobId, runId);
    // The row stays: an old message must find that the run is over.
    if (run.failedAt === undefined) return false;
    if (await runs.put(revise(run, { failedAt: undefined }), run)) return true;
  }
  throw new ConflictError('runId', `run ${runId} is being changed by others all the time; send this request again`);
}

/** Forgets the latest `limit` of these. `isMore`: some are left. */
export async function flushFailed(
  filter: FailedFilter & { limit: number },
  ports: Pick<Ports, 'clock' | 'runs' | 'settings'>,
): Promise<{ forgotten: number; isMore: boolean }> {
  let forgotten = 0;
  const isMore = await forFailed(filter, ports, async ({ jobId, runId }) => {
    // The list may lag behind: what was forgotten just now is not counted again.
    const isForgottenNow = await forgetFailed(jobId, runId, ports);
    if (isForgottenNow) forgotten++;
    return isForgottenNow;
  });
  return { forgotten, isMore };
}

/**
 * Does this to failed runs, the latest first, until it answered true for `limit` of them, or false for very many.
 * @returns whether some are left
 */
async function forFailed(
  { limit, ...filter }: FailedFilter & { limit: number },
  ports: Pick<Ports, 'clock' | 'runs' | 'settings'>,
  act: (run: Run) => Promise<boolean>,
): Promise<boolean> {
  const counts = { true: 0, false: 0 };
  for await (const page of failedPages(filter, ports)) {
    const left = [...page];
    while (left.length > 0) {
      const most = Math.min(SIDE_BY_SIDE, limit - counts.true, MOST_REFUSED - counts.false);
      if (most <= 0) return true;
      const done = await Promise.all(left.splice(0, most).map(act));
      for (const isDone of done) counts[`${isDone}`]++;
    }
  }
  return false;
}

async function* failedPages(
  filter: FailedFilter,
  ports: Pick<Ports, 'clock' | 'runs' | 'settings'>,
): AsyncGenerator<Run[]> {
  let cursor: string | undefined;
  do {
    const query = { ...filter, limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) };
    const page = await listFailed(query, ports);
    yield page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** @throws ConflictError when it was deleted, or is another job of the same id */
async function livingJobOf(run: Run, ports: Pick<Ports, 'jobs'>): Promise<JobRow> {
  const [row] = await ports.jobs.readRows([run.jobId]);
  const job = row?.state === 'DELETED' ? undefined : await ranUnder(run, row, ports);
  if (job) return job;
  throw new ConflictError('jobId', `job ${run.jobId} was deleted; what failed of it cannot be sent again`);
}

/** The job under the definition that the run went by; undefined where nothing is left of that. */
async function ranUnder<Row extends JobRow>(
  run: Run,
  job: Row | undefined,
  ports: Pick<Ports, 'jobs'>,
): Promise<Row | Job | undefined> {
  if (!job || currentGeneration(job)?.id === run.generation) return job;
  const definition = await definitionOf(run, job, ports);
  return definition?.lifeId === job.lifeId ? asOfNow<Row | Job>(run.generation, definition, job) : undefined;
}

async function refuseOfCancelled({ member }: JobRow, { groups }: Pick<Ports, 'groups'>): Promise<void> {
  const head = member && (await groups.read(member.groupId));
  if (head?.cancelledAt === undefined) return;
  throw new ConflictError('runId', `${head.kind} ${head.groupId} was cancelled; nothing of it can be sent again`);
}

function noSuchFailedRun(jobId: string, runId: string): NotFoundError {
  return new NotFoundError('runId', `job ${jobId} has no failed run ${JSON.stringify(runId)}`);
}
