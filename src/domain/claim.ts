import { activationOf, scheduledRun, type Activation } from './activation';
import { attemptRecord, cancelled, decideAfterAttempt, failed, isOutOfTime } from './conclude';
import type { JobRow } from './job';
import { isMisfireToSkip } from './occurrences';
import type { RetryPolicy } from './retry-policy';
import { attemptsOfSeries, hasBegun, isFinal, transition, withAttempt, type Run, type RunError } from './run';

/** The right to an attempt, renewed while it lasts. */
export const LEASE_MS = 60_000;
/** Clocks of processes differ: a lease counts as ended only so long after its end. */
const LEASE_MARGIN_MS = 5_000;
/** A message that comes so early or less is waited for; beyond, it is sent again with a delay. */
const WAITED_FOR_MS = 8_000;
/** So long a message without a row to belong to is sent again, and at this interval. */
const ORPHAN_MS = 60_000;
const ORPHAN_INTERVAL_MS = 3_000;

/** Before anything is read: has this message come in time? */
export type ArrivalDecision =
  | { action: 'go-on' }
  | { action: 'wait'; untilAt: number }
  | { action: 'send-again'; activation: Activation; deliverAt: number; reason: string };

export function decideArrival(activation: Activation, now: number): ArrivalDecision {
  const earlyMs = activation.dueAt - now;
  if (earlyMs <= 0) return { action: 'go-on' };
  if (earlyMs <= WAITED_FOR_MS) return { action: 'wait', untilAt: activation.dueAt };
  return { action: 'send-again', activation, deliverAt: activation.dueAt, reason: 'too-early' };
}

/** What a runner does with an activation. The message is acknowledged after each of them but `look-again`. */
export type ClaimDecision =
  /** write `run` over `seen` (absent: where nothing stands); whoever succeeds holds the attempt */
  | { action: 'claim'; run: Run; seen?: Run; reason: string }
  /** write `run` over `seen` and do what follows from it */
  | { action: 'record'; run: Run; seen?: Run; reason: string }
  /** what follows from this state may not have been done: do it again */
  | { action: 'repeat'; run: Run; reason: string }
  | { action: 'send-again'; activation: Activation; deliverAt: number; seen?: Run; reason: string }
  /** write a tombstone where no row is, so that a create that comes late notices */
  | { action: 'fence'; reason: string }
  | { action: 'drop'; reason: string };

/**
 * Who may start the next attempt, and what becomes of a message that may not. `run` is the row as read; a caller that
 * has not read it passes undefined, and learns from the condition of its write whether it has to.
 */
export function decideClaim(input: {
  activation: Activation;
  job: JobRow | undefined;
  /** what the job was under the message's generation, where an edit replaced that since; absent: as it is */
  definition?: JobRow | undefined;
  run: Run | undefined;
  /** stands in the run's place, and belongs to a job of the same id that was deleted */
  replaced?: Run | undefined;
  now: number;
  /** in [0, 1) */
  chance: number;
  retentionMs: number;
  failedRetentionMs: number;
}): ClaimDecision {
  const { activation, job, run, replaced, now, retentionMs } = input;
  const standingThere = run ?? replaced;
  const seen = standingThere ? { seen: standingThere } : {};
  const absent = (): Run => runInPlaceOf(activation, replaced, retentionMs);
  const begun = run !== undefined && hasBegun(run);

  if (run && isFinal(run.state)) return { action: 'repeat', run, reason: 'already-over' };
  const definition = input.definition ?? job;
  const standing = standingOf(activation, job, input.definition, run);
  if (standing === 'unknown') return decideOrphan(activation, job, run, now);
  if (run && holdsLease(run, now)) {
    if (run.isAwaited && run.indexDueAt !== undefined) return { action: 'repeat', run, reason: 'awaited' };
    return {
      action: 'send-again',
      activation: activationOf(run),
      deliverAt: afterLease(run),
      reason: 'held-by-another',
    };
  }
  if (run?.state === 'STARTED' && run.cancelRequestedAt !== undefined) {
    return { action: 'record', run: cancelled(run, now, attemptLost(run)), seen: run, reason: 'cancelled' };
  }
  if (standing === 'fenced' && !run) return { action: 'drop', reason: 'fenced' };
  if (standing === 'deleted' || standing === 'fenced') {
    const over = run ?? absent();
    return { action: 'record', ...stopped(over, run ? 'CANCELLED' : 'SKIPPED', now, 'deleted'), ...seen };
  }
  if (standing === 'superseded' && !begun) return { action: 'drop', reason: 'superseded' };
  if (!begun && isMovedAway(activation, job!, input.definition)) {
    if (!run) return { action: 'drop', reason: 'superseded' };
    return { action: 'record', ...stopped(run, 'CANCELLED', now, 'superseded'), ...seen };
  }
  if (job!.state === 'PAUSED' && activation.origin === 'scheduled' && !begun) {
    if (job!.schedule.kind === 'once') return { action: 'drop', reason: 'paused' };
    const over = run ?? absent();
    return { action: 'record', ...stopped(over, 'SKIPPED', now, 'paused'), ...seen };
  }
  if (run?.state === 'RELEASED' && run.dueAt > now) {
    if (run.indexDueAt !== undefined) return { action: 'repeat', run, reason: 'waits-in-the-index' };
    const [again, deliverAt] = [activationOf(run), run.dueAt];
    return { action: 'send-again', activation: again, deliverAt, seen: run, reason: 'waits-for-retry' };
  }
  const mayMisfire = !run && activation.origin === 'scheduled' && !activation.isQueued;
  if (mayMisfire && isMisfireToSkip(definition!, activation.nominalAt, now, validUntil(activation, job!))) {
    const over = run ?? absent();
    return { action: 'record', ...stopped(over, 'SKIPPED', now, 'misfire'), ...seen };
  }
  return decideNextAttempt({
    ...input,
    run: run ? ownedBy(activation, run) : absent(),
    seen,
    retry: definition!.retry,
  });
}

/** A run without a row of its own. Where that of a deleted job stands in its place, it is written over that one. */
export function runInPlaceOf(activation: Activation, replaced: Run | undefined, retentionMs: number): Run {
  return { ...scheduledRun(activation, retentionMs), revision: replaced?.revision ?? 0 };
}

/** What was only held back until an edit came begins under that edit, and goes on under it. */
function ownedBy({ generation }: Activation, run: Run): Run {
  return hasBegun(run) ? run : { ...run, generation };
}

function decideNextAttempt(input: {
  run: Run;
  seen: { seen?: Run };
  retry: RetryPolicy;
  now: number;
  chance: number;
  failedRetentionMs: number;
}): ClaimDecision {
  const { run, seen, retry, now, failedRetentionMs } = input;
  const lost = run.state === 'STARTED';
  const error = attemptLost(run);
  if (lost && run.isAwaited) {
    const reason = 'heartbeat-missed';
    const after = decideAfterAttempt({ ...input, outcome: { kind: 'failed', reason, error } });
    return { action: 'record', run: after, ...seen, reason };
  }
  if (lost && attemptsOfSeries(run) >= retry.maxAttempts) {
    const over = failed(run, now, 'attempt-lost', error, failedRetentionMs);
    return { action: 'record', run: over, ...seen, reason: 'attempt-lost' };
  }
  // The first attempt starts whenever it can.
  if (run.sequence > 1 && isOutOfTime(run, retry, now)) {
    const cause = lost ? error : (run.error ?? { type: 'OutOfTime', message: 'its retryUntil has passed' });
    return {
      action: 'record',
      run: failed(run, now, 'out-of-time', cause, failedRetentionMs),
      ...seen,
      reason: 'out-of-time',
    };
  }
  const next = transition(run, 'STARTED', now, {
    attempt: run.attempt + 1,
    startedAt: now,
    latenessMs: Math.max(0, now - run.dueAt),
    finishedAt: undefined,
    leaseUntil: now + LEASE_MS,
    ...(lost ? { attempts: withAttempt(run, attemptRecord(run, now, 'attempt-lost', error)) } : {}),
  });
  return { action: 'claim', run: next, ...seen, reason: lost ? 'attempt-lost' : 'due' };
}

/** What is known of an attempt whose lease ended. */
export function attemptLost({ attempt, isAwaited }: Run): RunError {
  return isAwaited
    ? { type: 'HeartbeatMissed', message: `attempt ${attempt} was not completed, and gave no sign of life in time` }
    : { type: 'AttemptLost', message: `the runner of attempt ${attempt} did not report its end` };
}

/**
 * How this message's generation stands to the job: `unknown` when its row is still being written (or never came),
 * `fenced` when it was given up before.
 */
function standingOf(
  activation: Activation,
  job: JobRow | undefined,
  definition: JobRow | undefined,
  run: Run | undefined,
) {
  if (!job) return 'unknown';
  // Of a job that was deleted, and created anew under the same id: what that one names itself is its own to run.
  if (definition && definition.lifeId !== job.lifeId) {
    return run || activation.nominalAt < job.createdAt ? 'deleted' : 'superseded';
  }
  const isKnown = job.generations.some(({ id }) => id === activation.generation);
  if (job.state === 'DELETED') return isKnown ? 'deleted' : 'fenced';
  // A generation that the row has forgotten is known by the definition that was kept of it.
  if (!isKnown) return definition ? 'superseded' : 'unknown';
  // What a person asked for is not superseded by an edit.
  const isScheduled = activation.origin === 'scheduled';
  return isScheduled && activation.nominalAt >= validUntil(activation, job) ? 'superseded' : 'valid';
}

/** Was this the one instant of a job that an edit gave another since? */
function isMovedAway({ origin, nominalAt }: Activation, { schedule }: JobRow, definition: JobRow | undefined): boolean {
  if (origin !== 'scheduled' || definition?.schedule.kind !== 'once') return false;
  return schedule.kind !== 'once' || schedule.at !== nominalAt;
}

/** The start of the generation that replaced the message's own. */
function validUntil(activation: Activation, job: JobRow): number {
  const known = job.generations.findIndex(({ id }) => id === activation.generation);
  return known < 0 ? Infinity : (job.generations[known + 1]?.startedAt ?? Infinity);
}

function decideOrphan(
  activation: Activation,
  job: JobRow | undefined,
  run: Run | undefined,
  now: number,
): ClaimDecision {
  const waitingSince = activation.waitingSince ?? now;
  if (now - waitingSince < ORPHAN_MS) {
    return {
      action: 'send-again',
      activation: { ...activation, waitingSince },
      deliverAt: now + ORPHAN_INTERVAL_MS,
      reason: 'no-row-yet',
    };
  }
  if (!job) return { action: 'fence', reason: 'no-row' };
  // A run of another life of the same job has messages of its own.
  if (run && run.generation === activation.generation && !holdsLease(run, now)) {
    return { action: 'record', ...stopped(run, 'CANCELLED', now, 'unknown-generation'), seen: run };
  }
  return { action: 'drop', reason: 'unknown-generation' };
}

/** Is an attempt of this run still in somebody's hands? */
export function holdsLease(run: Run, now: number): boolean {
  return run.state === 'STARTED' && now <= (run.leaseUntil ?? 0) + LEASE_MARGIN_MS;
}

/** When a message that met a live lease should come again. */
export function afterLease(run: Run): number {
  return (run.leaseUntil ?? 0) + LEASE_MARGIN_MS + 1_000;
}

/** A run that ends here without another attempt. */
function stopped(run: Run, state: 'SKIPPED' | 'CANCELLED', now: number, reason: string) {
  return { run: transition(run, state, now, { reason, finishedAt: now }), reason };
}
