import { scheduledRun, type Activation } from '../domain/activation';
import { currentGeneration, type JobRow } from '../domain/job';
import { decideDispatch, occurrence, type DispatchDecision, type Occurrence, type Skip } from '../domain/occurrences';
import { previousOf } from '../domain/recurrence';
import { longestBackoffMs } from '../domain/retry-policy';
import { transition, type RunOrigin } from '../domain/run';
import { jobKeptMs } from '../domain/retention';
import type { Ports } from '../ports';
import { announce, type AnnouncePorts } from './announce';
import { sendActivations, type ActivationPorts } from './send-activations';

export type DispatchPorts = Pick<Ports, 'clock' | 'jobs' | 'runs' | 'journal' | 'settings'> &
  ActivationPorts &
  AnnouncePorts;

/** The message that starts the first attempt of an occurrence. */
export function firstActivation(
  job: JobRow,
  { nominalAt, dueAt }: Occurrence,
  origin: RunOrigin = 'scheduled',
): Activation {
  const generation = currentGeneration(job)?.id ?? '';
  const { jobId, priority } = job;
  return {
    version: 1,
    jobId,
    generation,
    origin,
    nominalAt,
    dueAt,
    sequence: 1,
    ...(priority === 'high' ? { priority } : {}),
  };
}

/**
 * Decides for each of these jobs what falls due up to `untilAt`, sends it to the activation queue, records what is
 * skipped, and only then advances the rows: a crash in between leaves the jobs due, and the run ids make the second
 * send harmless.
 * @returns the earliest instant at which one of them is due next
 */
export async function dispatchJobs(
  jobs: readonly JobRow[],
  untilAt: number,
  ports: DispatchPorts,
): Promise<number | undefined> {
  const now = ports.clock.now();
  const decided = jobs.flatMap((job) => {
    const decision = decideOrNote(job, now, untilAt, ports);
    return decision ? [{ job, decision }] : [];
  });
  const due = decided.filter(({ decision }) => decision.dispatch.length + decision.skip.length > 0);
  await sendActivations(
    due.flatMap(({ job, decision }) =>
      decision.dispatch.map((one) => ({ activation: firstActivation(job, one), deliverAt: one.dueAt })),
    ),
    ports,
  );
  await Promise.all(due.map(({ job, decision }) => recordAndAdvance(job, decision, now, ports)));
  const nextDueAts = decided.flatMap(({ decision }) => decision.nextDueAt ?? []);
  return nextDueAts.length === 0 ? undefined : nextDueAts.reduce((a, b) => Math.min(a, b));
}

/** A job that cannot even be decided must not hold up its neighbours. */
function decideOrNote(job: JobRow, now: number, untilAt: number, ports: DispatchPorts): DispatchDecision | undefined {
  try {
    return decideDispatch(job, now, untilAt);
  } catch (error) {
    ports.journal.note('job-not-dispatched', { jobId: job.jobId, error: (error as Error).name });
    return undefined;
  }
}

async function recordAndAdvance(job: JobRow, decision: DispatchDecision, now: number, ports: DispatchPorts) {
  const scheduled = decision.dispatch.map((one) => scheduledRun(firstActivation(job, one), ports.settings.retentionMs));
  for (const run of scheduled) ports.journal.transition(run, job);
  await announce(scheduled, job, ports);
  for (const skip of decision.skip) await recordSkip(job, skip, now, ports);
  await ports.jobs.update(advanced(job, decision, now, ports.settings), job);
}

/**
 * One record for what is skipped together, at the latest of it. Where that one was sent before by a process that died, it has a run of
 * its own, and the record is left at the one before it.
 */
async function recordSkip(job: JobRow, skip: Skip, now: number, ports: DispatchPorts) {
  for (let left: Skip | undefined = skip; left; left = earlierOf(left, job)) {
    const absent = scheduledRun(firstActivation(job, left), ports.settings.retentionMs);
    const { reason, alsoCovers } = left;
    const skipped = transition(absent, 'SKIPPED', now, {
      reason,
      finishedAt: now,
      ...(alsoCovers > 0 ? { alsoCovers } : {}),
    });
    const isWritten = await ports.runs.put(skipped);
    if (isWritten) ports.journal.transition(skipped, job);
    const standing = isWritten ? skipped : await ports.runs.read(job.jobId, skipped.runId);
    if (standing) await announce([standing], job, ports);
    if (standing?.reason === reason && (standing.alsoCovers ?? 0) >= alsoCovers) return;
  }
}

/** What is left to be covered without the latest of it. */
function earlierOf(skip: Skip, job: JobRow): Skip | undefined {
  if (skip.alsoCovers === 0 || skip.reason !== 'misfire' || job.schedule.kind === 'once') return undefined;
  const nominalAt = previousOf(job.schedule, skip.nominalAt);
  return nominalAt === undefined
    ? undefined
    : { ...skip, ...occurrence(job, nominalAt), alsoCovers: skip.alsoCovers - 1 };
}

function advanced(job: JobRow, decision: DispatchDecision, now: number, settings: Ports['settings']): JobRow {
  const { dueAt: _, ...rest } = job;
  const revision = job.revision + 1;
  const last = decision.dispatch.at(-1);
  const row = {
    ...rest,
    // Needed where runs are counted, and where the schedule ends while its last runs are still to come.
    ...(last && (job.maxRuns !== undefined || decision.nextDueAt === undefined)
      ? { dispatchedUntil: last.nominalAt }
      : {}),
    ...(job.maxRuns === undefined ? {} : { runsDispatched: (job.runsDispatched ?? 0) + decision.dispatch.length }),
  };
  if (decision.nextDueAt !== undefined) return { ...row, revision, dueAt: decision.nextDueAt };
  if (job.schedule.kind === 'once') return { ...row, revision };
  // Its last runs may wait for a retry, and those that failed may be sent again: they need the row until then.
  const keptMs = jobKeptMs(settings) + longestBackoffMs(job.retry);
  return { ...row, revision, state: 'COMPLETED', expiresAt: now + keptMs };
}
