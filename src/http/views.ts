import { iso } from '../domain/event';
import { currentGeneration, type Job, type JobRow } from '../domain/job';
import type { Notification } from '../domain/notification';
import type { RetryPolicy } from '../domain/retry-policy';
import type { AttemptRecord, Run } from '../domain/run';
import { toLocalText } from '../domain/schedule';
import { RawJson } from '../messages/raw-json';
import type { GroupStanding, Member } from '../operations/create-group';
import type { JobStanding } from '../operations/read-job';
import { json } from './router';

/** A job as callers see it. A list leaves payloads out: they may be 256 KiB each. Members that are undefined are not sent. */
export function jobView({ job, state, nextRunAt }: JobStanding<JobRow | Job>) {
  const { schedule } = job;
  const delaySeconds = schedule.kind === 'once' ? schedule.delaySeconds : undefined;
  const recurring = schedule.kind === 'recurring' ? schedule : undefined;
  return {
    jobId: job.jobId,
    name: job.name,
    state,
    target: { functionArn: job.functionArn },
    schedule: schedule.expression,
    delaySeconds,
    timezone: schedule.expression === undefined ? undefined : schedule.timezone,
    dst: recurring?.dst,
    start: isoIf(recurring?.startAt),
    end: isoIf(recurring?.endAt),
    maxRuns: job.maxRuns,
    overlap: job.overlap,
    jitterSeconds: job.jitterSeconds,
    payload: 'payload' in job ? new RawJson(job.payload) : undefined,
    tags: job.tags,
    retry: retryView(job.retry),
    misfire: job.misfire,
    timeoutSeconds: job.timeoutSeconds,
    priority: job.priority,
    unique: job.unique,
    concurrency: job.concurrency,
    rateLimit: job.rateLimit,
    completion: job.completion,
    heartbeatSeconds: job.heartbeatSeconds,
    ...(job.member ? { [`${job.member.kind}Id`]: job.member.groupId } : {}),
    createdAt: iso(job.createdAt),
    nextRunAt: isoIf(nextRunAt),
    pause: state === 'PAUSED' && job.pause ? { ...job.pause, at: iso(job.pause.at) } : undefined,
    notes: notesOn(job),
  };
}

function retryView({ retryUntil, ...policy }: RetryPolicy) {
  return { ...policy, retryUntil: isoIf(retryUntil) };
}

/** What the owner of a job might not expect of it; whole sentences. */
function notesOn({ schedule }: JobRow): string[] | undefined {
  if (schedule.kind !== 'once' || schedule.isAmbiguous !== true) return undefined;
  const { at, timezone } = schedule;
  return [`The clocks of ${timezone} show this local time twice: the first is taken, ${toLocalText(at, timezone)}.`];
}

/** With the version of its definition, for `If-Match`. */
export function jobAnswer(status: number, standing: JobStanding, headers: Record<string, string> = {}): Response {
  const version = currentGeneration(standing.job)?.id;
  return json(status, jobView(standing), { ...headers, ...(version === undefined ? {} : { etag: `"${version}"` }) });
}

/** A run as callers see it. Its completion token is for the code alone. */
export function runView(run: Run) {
  return { ...runItemView(run), attempts: run.attempts.map(attemptView) };
}

/** As a list shows it where there may be many with long errors. */
export function runItemView(run: Run) {
  return {
    jobId: run.jobId,
    runId: run.runId,
    state: run.state,
    origin: run.origin,
    nominalAt: iso(run.nominalAt),
    dueAt: iso(run.dueAt),
    startedAt: isoIf(run.startedAt),
    finishedAt: isoIf(run.finishedAt),
    attempt: run.attempt,
    latenessMs: run.latenessMs,
    cancelRequestedAt: isoIf(run.cancelRequestedAt),
    result: run.result === undefined ? undefined : new RawJson(run.result),
    error: run.error,
    reason: run.reason,
    alsoCovers: run.alsoCovers,
    failedAt: isoIf(run.failedAt),
    isAwaited: run.isAwaited,
    series: run.series,
    snoozes: run.snoozes,
    previous: run.previous,
  };
}

/** A failed run with what its code was called with; absent where the job is past its retention. */
export function failedRunView(run: Run, job: Job | undefined) {
  return {
    ...runView(run),
    target: job && { functionArn: job.functionArn },
    payload: job && new RawJson(job.payload),
    name: job?.name,
    tags: job?.tags,
  };
}

const MEMBER_STATES = { P: 'PENDING', D: 'DONE', F: 'FAILED', S: 'SKIPPED', C: 'CANCELLED' } as const;

/** A job of a chain or batch. Its run has a row once it has begun or ended. */
export function memberView({ jobId, runId, state }: Member, run: Run | undefined) {
  return {
    jobId,
    runId,
    state: MEMBER_STATES[state],
    run: run && {
      state: run.state,
      attempt: run.attempt,
      dueAt: iso(run.dueAt),
      startedAt: isoIf(run.startedAt),
      finishedAt: isoIf(run.finishedAt),
      reason: run.reason,
    },
  };
}

export function groupView({ group, tally }: GroupStanding) {
  const { groupId, kind, name, state, callbacks, allowFailures, createdAt, finishedAt, cancelledAt } = group;
  const target = (functionArn: string | undefined) => functionArn && { functionArn };
  return {
    [`${kind}Id`]: groupId,
    name,
    state,
    ...tally,
    then: target(callbacks.then),
    catch: target(callbacks.catch),
    finally: target(callbacks.finally),
    progress: target(callbacks.progress),
    allowFailures,
    createdAt: iso(createdAt),
    finishedAt: isoIf(finishedAt),
    cancelledAt: isoIf(cancelledAt),
  };
}

function attemptView({ attempt, startedAt, finishedAt, reason, error }: AttemptRecord) {
  return { attempt, startedAt: iso(startedAt), finishedAt: iso(finishedAt), reason, error };
}

export function notificationView({ notifyId, jobId, state, functionArn, createdAt }: Notification) {
  return { notifyId, jobId, state, target: { functionArn }, createdAt: iso(createdAt) };
}

function isoIf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : iso(at);
}
