import { activationOf } from '../domain/activation';
import { LEASE_MS } from '../domain/claim';
import { awaited, decideAfterAttempt, type AttemptOutcome } from '../domain/conclude';
import { iso } from '../domain/event';
import type { Job, JobRow } from '../domain/job';
import { revise, type Run } from '../domain/run';
import type { Ports } from '../ports';
import { announce } from './announce';
import { sendActivations, type ActivationPorts, type Departure } from './send-activations';
import { followUp, type FollowUpPorts } from './follow-up';
import { keepGroup } from './keep-group';
import { keepJob } from './keep-job';
import { putRun } from './put-run';

export type RunnerPorts = FollowUpPorts & Pick<Ports, 'random' | 'invoker'>;

/** While work lasts, its lease and its message's visibility are renewed this often; both last three times as long. */
export const RENEWAL_MS = LEASE_MS / 3;
/** An abort without a reason makes an error with a stack for each run. */
export const OVER = 'over';
/** Waits between the tries of what must not be lost while the code's work, which is done, must not be done again: ms. */
const PATIENCE_MS = [50, 200, 1_000, 3_000, 5_000, 10_000, 15_000, 15_000];
const DEFAULT_HEARTBEAT_SECONDS = 3_600;

/** Calls the code and writes down what came of it. @returns false when the attempt was no longer ours to conclude */
export async function attempt(claimed: Run, job: Job, ports: RunnerPorts): Promise<boolean> {
  // The subscriber of STARTED hears of it while the code works.
  const announced = announceUntilHeard(claimed, job, ports);
  const lease = { run: claimed };
  const over = new AbortController();
  const renewing = renewLease(lease, over.signal, ports);
  const outcome = await call(claimed, job, ports);
  // Before the next state is written: once that stands there, nobody sees this one again.
  const announcement = await announced;
  over.abort(OVER);
  await renewing;

  const { retry } = job;
  const { retentionMs, failedRetentionMs } = ports.settings;
  const isAwaited = job.completion === 'callback' && outcome.kind === 'returned';
  const written = await write(
    lease.run,
    isAwaited
      ? (run, now) => awaited(run, now + heartbeatMs(job), retentionMs)
      : (run, now, chance) => decideAfterAttempt({ run, outcome, retry, now, chance, failedRetentionMs }),
    job,
    ports,
  );
  if (announcement) throw announcement.error;
  if (!written) return false;
  if (isAwaited) await (job.member ? keepGroup(written, job, job.member, ports) : keepJob(written, job, ports));
  else await goOnAfter(written, await withSubscribersOfNow(job, ports), ports);
  return true;
}

/** Tries it again where the queue refuses: a process that lives loses no transition. @returns the error where it gave up */
async function announceUntilHeard(run: Run, job: Job, ports: RunnerPorts): Promise<{ error: unknown } | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return void (await announce([run], job, ports));
    } catch (error) {
      const waitMs = PATIENCE_MS[tries];
      if (waitMs === undefined) return { error };
      await ports.clock.waitUntil(ports.clock.now() + waitMs);
    }
  }
}

/** What follows from a state of a run, and the message of its next attempt, if there is one. Doing it twice does no harm. */
export async function goOnAfter(run: Run, job: JobRow | undefined, ports: FollowUpPorts): Promise<void> {
  await followUp(run, job, ports);
  if (run.state !== 'RELEASED' || run.indexDueAt !== undefined) return;
  await sendAgain({ activation: activationOf(run), deliverAt: run.dueAt, reason: 'retry' }, ports);
}

/** An attempt that completes by callback goes on for so long without a sign of life. */
export function heartbeatMs({ heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }: JobRow): number {
  return heartbeatSeconds * 1000;
}

/** Who subscribed while the code was at work, and was told so, hears of its end. */
async function withSubscribersOfNow(job: Job, { jobs }: RunnerPorts): Promise<JobRow> {
  const [row] = await jobs.readRows([job.jobId]);
  return { ...job, subscribedStates: row?.lifeId === job.lifeId ? row.subscribedStates : [] };
}

/** Never throws: what was not called must not keep its lease. */
async function call(run: Run, job: Job, ports: RunnerPorts): Promise<AttemptOutcome> {
  const { clock, code, invoker } = ports;
  try {
    const mapping = await code.read(job.codeId);
    if (!mapping) {
      return { kind: 'refused', reason: 'function-not-found', message: `no code is mapped to ${job.codeId}` };
    }
    const event = attemptEvent(run, job, await resultBefore(run, ports));
    if (clock.now() > run.leaseUntil! - RENEWAL_MS) {
      const message = 'too little of the lease was left to start the code';
      return { kind: 'held-back', reason: 'runner-stalled', message };
    }
    return await invoker.invoke({
      functionArn: mapping.functionArn,
      event,
      timeoutMs: job.timeoutSeconds * 1000,
    });
  } catch (error) {
    return {
      kind: 'held-back',
      reason: 'service-error',
      message: `what the code needs was not read: ${String(error)}`,
    };
  }
}

/** What the job before it in its chain returned: JSON text; undefined where there is none, or it was too large to be kept. */
async function resultBefore({ previous }: Run, { runs }: RunnerPorts): Promise<string | undefined> {
  return previous && (await runs.read(previous.jobId, previous.runId))?.result;
}

/** The JSON text that the code gets. Payload and result go in as the texts that they are: a parser would lose digits. */
function attemptEvent(run: Run, { member, payload }: Job, result: string | undefined): string {
  const { previous, completionToken } = run;
  const head = {
    jobId: run.jobId,
    runId: run.runId,
    attempt: run.attempt,
    nominalAt: iso(run.nominalAt),
    dueAt: iso(run.dueAt),
    ...(member === undefined ? {} : { [`${member.kind}Id`]: member.groupId }),
    ...(completionToken === undefined ? {} : { token: completionToken }),
  };
  return withRaw(head, {
    ...(previous === undefined ? {} : { previous: withRaw(previous, result === undefined ? {} : { result }) }),
    payload,
  });
}

/** The object as JSON text, with these members after it, as the texts that they are. */
function withRaw(head: object, members: Record<string, string>): string {
  const raw = Object.entries(members).map(([name, text]) => `,${JSON.stringify(name)}:${text}`);
  return `${JSON.stringify(head).slice(0, -1)}${raw.join('')}}`;
}

async function renewLease(lease: { run: Run }, over: AbortSignal, ports: RunnerPorts) {
  const { clock, journal } = ports;
  for (;;) {
    await clock.waitUntil(clock.now() + RENEWAL_MS, over);
    if (over.aborted) return;
    try {
      if (!(await renewOnce(lease, ports))) return;
    } catch (error) {
      const { jobId, runId } = lease.run;
      journal.note('lease-not-renewed', { jobId, runId, error: (error as Error).name });
    }
  }
}

/** @returns false when the attempt is no longer ours */
async function renewOnce(lease: { run: Run }, { clock, runs, journal }: RunnerPorts): Promise<boolean> {
  for (;;) {
    const { run } = lease;
    // Never shorter than it was: whoever completes the attempt may have given a sign of life already.
    const renewed = revise(run, { leaseUntil: Math.max(run.leaseUntil ?? 0, clock.now() + LEASE_MS) });
    if (await runs.put(renewed, run)) {
      lease.run = renewed;
      return true;
    }
    const standing = await runs.read(run.jobId, run.runId);
    // The same sequence means the same attempt: somebody only left a word in its row.
    if (standing?.sequence !== run.sequence) return false;
    if (standing.cancelRequestedAt !== undefined && run.cancelRequestedAt === undefined) {
      journal.note('cancel-requested', { jobId: run.jobId, runId: run.runId, attempt: run.attempt });
    }
    lease.run = standing;
  }
}

/**
 * Writes what an attempt comes to, again and again if the store fails: the work is done.
 * @returns undefined when another took the run over in the meantime, so that this result comes too late
 */
async function write(
  held: Run,
  decide: (run: Run, now: number, chance: number) => Run,
  job: Job,
  ports: RunnerPorts,
): Promise<Run | undefined> {
  const { clock, random, runs, journal } = ports;
  const chance = random.next();
  let seen = held;
  for (let tries = 0; ;) {
    const next = decide(seen, clock.now(), chance);
    try {
      if (await putRun(next, seen, ports)) {
        if (next.sequence !== seen.sequence) journal.transition(next, job);
        return next;
      }
      const standing = await runs.read(held.jobId, held.runId);
      // The same sequence means the same attempt: its lease was renewed by a write whose answer was lost, or it is to be cancelled.
      if (standing?.sequence === held.sequence) {
        seen = standing;
        continue;
      }
      if (standing?.sequence === next.sequence && isSameConclusion(standing, next)) return standing;
      journal.note('late-result-dropped', { jobId: held.jobId, runId: held.runId, attempt: held.attempt });
      return undefined;
    } catch (error) {
      const waitMs = PATIENCE_MS[tries++];
      if (waitMs === undefined) throw error;
      await clock.waitUntil(clock.now() + waitMs);
    }
  }
}

/** Our own write, whose answer was lost. */
function isSameConclusion(standing: Run, written: Run): boolean {
  return (
    standing.state === written.state && standing.startedAt === written.startedAt && standing.attempt === written.attempt
  );
}

export async function sendAgain({ activation, deliverAt }: Departure & { reason: string }, ports: ActivationPorts) {
  await sendActivations([{ activation, deliverAt }], ports);
}
