import { iso } from '../domain/event';
import { currentGeneration, type Job, type JobRow } from '../domain/job';
import type { Notification } from '../domain/notification';
import type { AttemptRecord, Run } from '../domain/run';
import { toLocalText } from '../domain/schedule';
import { RawJson } from '../messages/raw-json';
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
    retry: job.retry,
    misfire: job.misfire,
    timeoutSeconds: job.timeoutSeconds,
    createdAt: iso(job.createdAt),
    nextRunAt: isoIf(nextRunAt),
    pause: state === 'PAUSED' && job.pause ? { ...job.pause, at: iso(job.pause.at) } : undefined,
    notes: notesOn(job),
  };
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

export function runView(run: Run) {
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
    result: run.result === undefined ? undefined : new RawJson(run.result),
    error: run.error,
    reason: run.reason,
    alsoCovers: run.alsoCovers,
    attempts: run.attempts.map(attemptView),
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
