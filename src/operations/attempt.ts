import { activationOf } from '../domain/activation';
import { LEASE_MS } from '../domain/claim';
import { decideAfterAttempt, type AttemptOutcome } from '../domain/conclude';
import { iso } from '../domain/event';
import type { Job, JobRow } from '../domain/job';
import { revise, type Run } from '../domain/run';
import type { Ports } from '../ports';
import { announce } from './announce';
import { sendActivations, type ActivationPorts, type Departure } from './send-activations';
import { followUp, type FollowUpPorts } from './follow-up';
import { putRun } from './put-run';

export type RunnerPorts = FollowUpPorts & Pick<Ports, 'random' | 'invoker'>;

/** While work lasts, its lease and its message's visibility are renewed this often; both last three times as long. */
export const RENEWAL_MS = LEASE_MS / 3;
/** An abort without a reason makes an error with a stack for each run. */
export const OVER = 'over';
/** Waits between the tries of writing a conclusion, in ms: apart from the job, whose work is done and must not be done again. */
const CONCLUSION_WAITS_MS = [50, 200, 1_000, 3_000, 5_000];

/** Calls the code and writes down what came of it. @returns false when the attempt was no longer ours to conclude */
export async function attempt(claimed: Run, job: Job, ports: RunnerPorts): Promise<boolean> {
  // The subscriber of STARTED hears of it while the code works; the message is not let go before that has succeeded.
  const announced = announce([claimed], job, ports).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const lease = { run: claimed };
  const over = new AbortController();
  const renewing = renewLease(lease, over.signal, ports);
  const outcome = await call(claimed, job, ports);
  over.abort(OVER);
  await renewing;

  const concluded = await conclude(lease.run, outcome, job, ports);
  const announcement = await announced;
  if (announcement) throw announcement.error;
  if (!concluded) return false;
  await followUp(concluded, await withSubscribersOfNow(job, ports), ports);
  if (concluded.state === 'RELEASED') await keepJobUntil(concluded.dueAt, job, ports);
  if (concluded.state === 'RELEASED' && concluded.indexDueAt === undefined) {
    await sendAgain({ activation: activationOf(concluded), deliverAt: concluded.dueAt, reason: 'retry' }, ports);
  }
  return true;
}

/** Who subscribed while the code was at work, and was told so, hears of its end. */
async function withSubscribersOfNow(job: Job, { jobs }: RunnerPorts): Promise<JobRow> {
  const [row] = await jobs.readRows([job.jobId]);
  return { ...job, subscribedStates: row?.lifeId === job.lifeId ? row.subscribedStates : [] };
}

/** A one-off job must not reach the end of its retention while its run still waits. */
async function keepJobUntil(dueAt: number, { jobId, expiresAt }: Job, { jobs, settings }: RunnerPorts) {
  if (expiresAt === undefined || dueAt + settings.retentionMs / 2 <= expiresAt) return;
  for (;;) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || row.state === 'DELETED' || row.expiresAt === undefined) return;
    const longer = { ...row, revision: row.revision + 1, expiresAt: dueAt + settings.retentionMs };
    if (await jobs.update(longer, row)) return;
  }
}

async function call(run: Run, job: Job, { clock, code, invoker }: RunnerPorts): Promise<AttemptOutcome> {
  const mapping = await code.read(job.codeId);
  if (!mapping) {
    return { kind: 'refused', reason: 'function-not-found', message: `no code is mapped to ${job.codeId}` };
  }
  if (clock.now() > run.leaseUntil! - RENEWAL_MS) {
    return {
      kind: 'held-back',
      reason: 'runner-stalled',
      message: 'too little of the lease was left to start the code',
    };
  }
  return invoker.invoke({
    functionArn: mapping.functionArn,
    event: attemptEvent(run, job.payload),
    timeoutMs: job.timeoutSeconds * 1000,
  });
}

/** The JSON text that the code gets. The payload goes in as the text that it is: a parser would lose digits. */
function attemptEvent(run: Run, payload: string): string {
  const head = JSON.stringify({
    jobId: run.jobId,
    runId: run.runId,
    attempt: run.attempt,
    nominalAt: iso(run.nominalAt),
    dueAt: iso(run.dueAt),
  });
  return `${head.slice(0, -1)},"payload":${payload}}`;
}

async function renewLease(lease: { run: Run }, over: AbortSignal, { clock, runs, journal }: RunnerPorts) {
  for (;;) {
    await clock.waitUntil(clock.now() + RENEWAL_MS, over);
    if (over.aborted) return;
    const renewed = revise(lease.run, { leaseUntil: clock.now() + LEASE_MS });
    try {
      if (!(await runs.put(renewed, lease.run))) return;
      lease.run = renewed;
    } catch (error) {
      journal.note('lease-not-renewed', { jobId: renewed.jobId, runId: renewed.runId, error: (error as Error).name });
    }
  }
}

/**
 * Writes the conclusion of an attempt, again and again if the store fails: the work is done.
 * @returns undefined when another took the run over in the meantime, so that this result comes too late
 */
async function conclude(held: Run, outcome: AttemptOutcome, job: Job, ports: RunnerPorts): Promise<Run | undefined> {
  const { clock, random, runs, journal } = ports;
  const chance = random.next();
  let seen = held;
  for (let tries = 0; ; tries++) {
    const next = decideAfterAttempt({ run: seen, outcome, retry: job.retry, now: clock.now(), chance });
    try {
      if (await putRun(next, seen, ports)) {
        journal.transition(next, job);
        return next;
      }
      const standing = await runs.read(held.jobId, held.runId);
      // The same sequence means the same attempt: only its lease was renewed, by a write whose answer was lost.
      if (standing?.sequence === held.sequence) {
        seen = standing;
        continue;
      }
      if (standing?.sequence === next.sequence && isSameConclusion(standing, next)) return standing;
      journal.note('late-result-dropped', { jobId: held.jobId, runId: held.runId, attempt: held.attempt });
      return undefined;
    } catch (error) {
      const waitMs = CONCLUSION_WAITS_MS[tries];
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
