import { awaited, decideAfterAttempt } from '../domain/conclude';
import { ConflictError, noSuchJob, NotFoundError } from '../domain/errors';
import type { JobRow } from '../domain/job';
import { revise, type Run, type RunError, type RunState } from '../domain/run';
import { announce } from './announce';
import { goOnAfter, heartbeatMs, type RunnerPorts } from './attempt';
import { jobOf } from './definition';
import { keepGroup } from './keep-group';
import { keepJob } from './keep-job';
import { putRun } from './put-run';
import { sendReminder } from './reminders';

type CompletePorts = Omit<RunnerPorts, 'invoker'>;

/** What ends an attempt that completes by callback. `result` is JSON text. */
export type Completion = { kind: 'returned'; result: string } | { kind: 'failed'; error: RunError };

const MOST_TRIES = 20;
/** What a completion may have made of the run. */
const LEADS_TO: Record<Completion['kind'], readonly RunState[]> = {
  returned: ['DONE', 'CANCELLED'],
  failed: ['RELEASED', 'FAILED', 'CANCELLED'],
};

/**
 * Ends the attempt that this token names, as if its code had returned or thrown. Twice is once.
 * @throws NotFoundError; ConflictError when the token names no attempt at work
 */
export async function completeRun(
  jobId: string,
  runId: string,
  token: string,
  completion: Completion,
  ports: CompletePorts,
): Promise<Run> {
  const { clock, journal, settings } = ports;
  const chance = ports.random.next();
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { run, job } = await named(jobId, runId, token, ports);
    if (run.state !== 'STARTED') {
      if (!LEADS_TO[completion.kind].includes(run.state)) throw ended(run);
      await goOnAfter(run, job, ports);
      return run;
    }
    // Before the code has returned there is a runner with a message of its own, and it may not have told of this attempt yet.
    if (run.isAwaited) await sendReminder(run, ports);
    else await announce([run], job, ports);
    const { retry } = job;
    const { failedRetentionMs } = settings;
    const after = decideAfterAttempt({ run, outcome: completion, retry, now: clock.now(), chance, failedRetentionMs });
    const next: Run = { ...after, completionToken: token };
    if (!(await putRun(next, run, ports))) continue;
    journal.transition(next, job);
    await goOnAfter(next, job, ports);
    return next;
  }
  throw changing(jobId, runId);
}

/** A sign of life: the attempt goes on until `leaseUntil`, epoch ms, at least. @throws as `completeRun` */
export async function heartbeat(
  jobId: string,
  runId: string,
  token: string,
  ports: CompletePorts,
): Promise<{ leaseUntil: number; isCancelRequested: boolean }> {
  const { clock, settings } = ports;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { run, job } = await named(jobId, runId, token, ports);
    if (run.state !== 'STARTED') throw ended(run);
    const leaseUntil = Math.max(run.leaseUntil ?? 0, clock.now() + heartbeatMs(job));
    // Until the code has returned its runner leads to the run, not the due index.
    const next = run.isAwaited ? awaited(run, leaseUntil, settings.retentionMs) : revise(run, { leaseUntil });
    if (!(await putRun(next, run, ports))) continue;
    await (job.member ? keepGroup(next, job, job.member, ports) : keepJob(next, job, ports));
    return { leaseUntil, isCancelRequested: run.cancelRequestedAt !== undefined };
  }
  throw changing(jobId, runId);
}

/** The run whose latest attempt this token names, and its job. */
async function named(
  jobId: string,
  runId: string,
  token: string,
  ports: CompletePorts,
): Promise<{ run: Run; job: JobRow }> {
  const run = await ports.runs.read(jobId, runId);
  if (!run) throw new NotFoundError('runId', `job ${jobId} has no run ${JSON.stringify(runId)}, or it has not begun`);
  if (run.completionToken === undefined || run.completionToken !== token) {
    throw new ConflictError(
      'token',
      `names no attempt of run ${runId} that is at work: that one is over, or is another`,
    );
  }
  const job = await jobOf(run, ports);
  if (!job) throw noSuchJob(jobId);
  return { run, job };
}

function ended({ runId, state }: Run): ConflictError {
  return new ConflictError('token', `this attempt of run ${runId} was ended otherwise: the run is ${state}`);
}

function changing(jobId: string, runId: string): ConflictError {
  return new ConflictError('runId', `run ${runId} of job ${jobId} changes all the time; send this request again`);
}
