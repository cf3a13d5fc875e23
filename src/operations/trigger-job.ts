import { scheduledRun } from '../domain/activation';
import { ConflictError, InputError } from '../domain/errors';
import { guidFrom } from '../domain/guid';
import type { JobRow } from '../domain/job';
import { LIMITS } from '../domain/limits';
import { allBetween } from '../domain/recurrence';
import { announce } from './announce';
import { firstActivation, type DispatchPorts } from './dispatch';
import { sendActivations } from './send-activations';
import { livingRow } from './read-job';
import { refuseMember } from './refuse-member';

type TriggerPorts = Omit<DispatchPorts, 'runs'>;

/** How long the answer to a request is remembered. */
const REQUEST_KEPT_MS = 24 * 3_600_000;

/**
 * Runs the job now, once, beside its schedule, also while it is paused. A repeat of the same request is the same run.
 * @throws NotFoundError when there is no such job; ConflictError when it belongs to a chain or batch
 */
export async function triggerJob(requestId: string, jobId: string, ports: TriggerPorts): Promise<{ runId: string }> {
  const job = await livingRow(jobId, ports);
  refuseMember(job, 'triggered');
  const nominalAt = await instantFor(guidFrom('trigger', jobId, job.lifeId, requestId), job, ports);
  const [runId] = await send(job, [nominalAt], 'manual', ports);
  return { runId: runId! };
}

/** The instant that a request's run stands for: now, or what it was when the request came first. */
async function instantFor(request: string, { lifeId }: JobRow, { clock, control }: TriggerPorts): Promise<number> {
  const expiresAt = clock.now() + REQUEST_KEPT_MS;
  // The instant names the run, so that two requests of the same millisecond must not share it.
  let nominalAt = clock.now();
  while (!(await control.put({ name: `trigger:${lifeId}:${nominalAt}`, value: request, expiresAt }))) nominalAt++;
  // Written before the message is sent: a repeat finds the instant, and with it the same run.
  const name = `trigger:${request}`;
  if (await control.put({ name, value: String(nominalAt), expiresAt })) return nominalAt;
  return Number((await control.read(name))?.value ?? nominalAt);
}

/**
 * Runs what the schedule named in [fromAt, toAt], all of it in the past, each occurrence as a run of its own beside the
 * scheduled one. Asking again for the same range starts nothing twice. Epoch ms.
 * @throws NotFoundError; InputError when the range is not one; ConflictError when the job has no schedule of its own
 */
export async function backfillJob(
  jobId: string,
  { fromAt, toAt }: { fromAt: number; toAt: number },
  ports: TriggerPorts,
): Promise<{ runIds: string[] }> {
  const job = await livingRow(jobId, ports);
  refuseMember(job, 'filled in');
  if (job.schedule.kind === 'once') {
    throw new ConflictError('jobId', `job ${jobId} runs once and has nothing to fill in; trigger it instead`);
  }
  if (toAt < fromAt) throw new InputError([{ field: 'to', message: 'must not lie before from' }]);
  if (toAt > ports.clock.now()) {
    throw new InputError([{ field: 'to', message: 'must not lie in the future: what is to come runs by itself' }]);
  }
  const nominalAts = allBetween(job.schedule, fromAt - 1, toAt, LIMITS.backfillRuns + 1);
  if (nominalAts.length > LIMITS.backfillRuns) {
    const last = new Date(nominalAts.at(-2)!).toISOString();
    const message = `names more than ${LIMITS.backfillRuns} runs from ${new Date(fromAt).toISOString()} on; ask for the range up to ${last} first`;
    throw new InputError([{ field: 'to', message }]);
  }
  return { runIds: await send(job, nominalAts, 'backfill', ports) };
}

/** @returns the ids of the runs */
async function send(
  job: JobRow,
  nominalAts: readonly number[],
  origin: 'manual' | 'backfill',
  ports: TriggerPorts,
): Promise<string[]> {
  const now = ports.clock.now();
  // Due now, whatever instant it stands for: lateness is counted from here.
  const activations = nominalAts.map((nominalAt) =>
    firstActivation(job, { nominalAt, dueAt: origin === 'manual' ? nominalAt : now }, origin),
  );
  await sendActivations(
    activations.map((activation) => ({ activation, deliverAt: now })),
    ports,
  );
  const scheduled = activations.map((activation) => scheduledRun(activation, ports.settings.retentionMs));
  for (const run of scheduled) ports.journal.transition(run, job);
  await announce(scheduled, job, ports);
  return scheduled.map(({ runId }) => runId);
}
