import { nominalAtOf } from '../domain/activation';
import { absentRun, decideCancel, generationAt } from '../domain/cancel';
import { ConflictError, noSuchJob, NotFoundError } from '../domain/errors';
import { currentGeneration, type JobRow } from '../domain/job';
import { isFinal, type Run } from '../domain/run';
import { announce } from './announce';
import { asOfNow, definitionOf } from './definition';
import { followUp, type FollowUpPorts } from './follow-up';
import { putRun } from './put-run';
import { sendReminder } from './reminders';

const MOST_TRIES = 20;

/**
 * Takes a run back: one that waits is CANCELLED at once, one at work is asked to stop and is CANCELLED when it does. Twice is once.
 * @throws NotFoundError; ConflictError when it is over
 */
export async function cancelRun(
  jobId: string,
  runId: string,
  remark: { reason?: string; by?: string },
  ports: FollowUpPorts,
): Promise<Run> {
  const { clock, jobs, runs, journal } = ports;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [seen, [row]] = await Promise.all([runs.read(jobId, runId), jobs.readRows([jobId])]);
    if (!row || row.state === 'DELETED') throw noSuchJob(jobId);
    const job = seen ? asOfNow<JobRow>(seen.generation, await definitionOf(seen, row, ports), row) : row;
    if (seen?.state === 'CANCELLED') {
      await followUp(seen, job, ports);
      return seen;
    }
    if (seen && isFinal(seen.state)) {
      throw new ConflictError('runId', `run ${runId} of job ${jobId} is over: it is ${seen.state}`);
    }
    const now = clock.now();
    const run = seen ?? (await runBeforeItsRow(row, runId, now, ports));
    const next = decideCancel(run, now, reasonFrom(remark));
    if (next === seen) return seen;
    // Whoever wrote what stands there may have died before anybody heard of it.
    if (seen && next.state === 'CANCELLED') await announce([seen], job, ports);
    if (seen?.indexDueAt !== undefined && next.state === 'CANCELLED') await sendReminder(seen, ports);
    if (!(await putRun(next, seen, ports))) continue;
    if (next.state !== 'CANCELLED') return next;
    journal.transition(next, job);
    await followUp(next, job, ports);
    if (!seen) await endOneOff(row, ports);
    return next;
  }
  throw new ConflictError('runId', `run ${runId} of job ${jobId} changes all the time; send this request again`);
}

async function runBeforeItsRow(
  row: JobRow,
  runId: string,
  now: number,
  { jobs, settings }: FollowUpPorts,
): Promise<Run> {
  const nominalAt = nominalAtOf(runId);
  const generation = nominalAt === undefined ? undefined : generationAt(row, nominalAt);
  const isOld = generation !== undefined && generation !== currentGeneration(row)?.id;
  const definition = isOld ? await jobs.readDefinition(row.jobId, generation) : row;
  const run = absentRun(row, definition, runId, now, settings.retentionMs);
  if (!run) throw new NotFoundError('runId', `job ${row.jobId} has no run ${JSON.stringify(runId)}`);
  return run;
}

/** Its only run is over before it began: nothing has to find the job any more. Best effort, since a run that is over is not started. */
async function endOneOff(row: JobRow, { clock, jobs, settings }: FollowUpPorts): Promise<void> {
  if (row.schedule.kind !== 'once') return;
  const { dueAt: _, ...rest } = row;
  if (row.dueAt === undefined && row.expiresAt !== undefined) return;
  const expiresAt = row.expiresAt ?? clock.now() + settings.retentionMs;
  await jobs.update({ ...rest, revision: row.revision + 1, expiresAt }, row);
}

function reasonFrom({ reason, by }: { reason?: string; by?: string }): string {
  return `cancelled${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`;
}
