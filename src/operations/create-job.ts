import { scheduledRun } from '../domain/activation';
import { isAllowedFunction, parseFunctionArn } from '../domain/arn';
import { LONGEST_QUEUE_DELAY_MS } from '../domain/conclude';
import { ConflictError, InputError, type FieldError } from '../domain/errors';
import { iso } from '../domain/event';
import { codeIdOf, digestOf, guidFrom } from '../domain/guid';
import type { Job, JobRow, JobSchedule } from '../domain/job';
import type { JobRequest, ScheduleRequest } from '../domain/job-request';
import { HORIZON_MS } from '../domain/loop';
import { jitterMs, nextDueAt, nextRunAt, occurrence } from '../domain/occurrences';
import { parseSchedule } from '../domain/schedule';
import { jobKeptMs } from '../domain/retention';
import type { Ports, Settings } from '../ports';
import { announce } from './announce';
import { removeNotifications } from './delete-notification';
import { dispatchJobs, firstActivation, type DispatchPorts } from './dispatch';
import { sendActivations } from './send-activations';
import { createUnderLock } from './unique-lock';

export type CreateJobPorts = DispatchPorts & Pick<Ports, 'ids' | 'notifications' | 'code'>;

/** The id that a job gets when its caller gives none: the same for the same request. */
export function jobIdOf(requestId: string, request: Pick<JobRequest, 'jobId'>): string {
  return request.jobId ?? guidFrom('job', requestId);
}

/**
 * Creates a job and puts what falls due soon on its way. A repeat of the same request changes nothing more and answers
 * the job as it stands, even if it was deleted since.
 * @param askedAt when the caller asked, epoch ms: a request that lay in a queue is judged, and its delay counted, from then
 * @throws InputError when the function is not allowed or the schedule names nothing more
 * @throws ConflictError when the job id or the unique key is taken, or the request id was used for another content
 */
export async function createJob(
  requestId: string,
  request: JobRequest,
  ports: CreateJobPorts,
  askedAt: number = ports.clock.now(),
): Promise<Job> {
  const now = ports.clock.now();
  const wanted: Wanted = {
    jobId: jobIdOf(requestId, request),
    requestId,
    requestDigest: digestOf(JSON.stringify(request)),
  };
  const standing = await ports.jobs.read(wanted.jobId);
  // Before anything is judged: a repeat is answered, though its instant has passed since.
  if (standing && isRepeat(standing, wanted)) return standing;
  const job = newJob(wanted, request, Math.min(askedAt, now), ports);
  return createUnderLock(job, ports, () => putOnItsWay(job, wanted, standing, now, ports));
}

async function putOnItsWay(
  job: Job,
  wanted: Wanted,
  standing: Job | undefined,
  now: number,
  ports: CreateJobPorts,
): Promise<Job> {
  await ports.code.put({ codeId: job.codeId, kind: 'job', functionArn: job.functionArn });

  if (standing) return replaceTombstone(job, wanted, standing, ports);
  const only = job.schedule.kind === 'once' ? occurrence(job, job.schedule.at) : undefined;
  const straight = only && only.dueAt - now <= LONGEST_QUEUE_DELAY_MS ? firstActivation(job, only) : undefined;
  // The message first: a crash leaves a message without a row, never a job without its message.
  if (straight) await sendActivations([{ activation: straight, deliverAt: straight.dueAt }], ports);
  const written = straight ? job : withDueKey(job);
  if (!(await ports.jobs.put(written))) {
    // Somebody was faster: another create of the same id, or the fence of a message that waited too long for its row.
    const other = await ports.jobs.read(job.jobId);
    if (other && isRepeat(other, wanted)) return other;
    return replaceTombstone(job, wanted, other, ports);
  }
  if (straight) {
    const run = scheduledRun(straight, ports.settings.retentionMs);
    ports.journal.transition(run, written);
    await announce([run], written, ports);
  } else await dispatchJobs([written], now + HORIZON_MS, ports);
  return written;
}

/** What the tombstone was written for may have passed it by: the new row gets a due key whatever its schedule. */
async function replaceTombstone(
  job: Job,
  wanted: Wanted,
  standing: Job | undefined,
  ports: CreateJobPorts,
): Promise<Job> {
  const { clock, jobs, settings } = ports;
  if (standing && standing.lifeId !== '') {
    await removeNotifications(standing.jobId, standing.lifeId, ports);
    // Runs of it that failed are kept, and with them what they ran with.
    await jobs.keepDefinition(standing, clock.now() + jobKeptMs(settings));
  }
  const written = { ...withDueKey(job), revision: (standing?.revision ?? 0) + 1 };
  if (!(await ports.jobs.put(written, standing))) {
    const other = await ports.jobs.read(job.jobId);
    if (other && isRepeat(other, wanted)) return other;
    throw new ConflictError('jobId', `job ${job.jobId} is being changed by another request; send this one again`);
  }
  await dispatchJobs([written], ports.clock.now() + HORIZON_MS, ports);
  return written;
}

type Wanted = Required<Pick<Job, 'jobId' | 'requestId' | 'requestDigest'>>;

/** @throws ConflictError when a living job stands there, or the same request with another content made it */
function isRepeat(standing: JobRow, job: Wanted): boolean {
  if (standing.requestId === job.requestId) {
    if (standing.requestDigest === job.requestDigest) return true;
    throw new ConflictError(
      'requestId',
      `request id ${JSON.stringify(job.requestId)} was already used for another job; choose a new one, or send the same content`,
    );
  }
  if (standing.state === 'DELETED') return false;
  throw new ConflictError('jobId', `job ${job.jobId} exists already; delete it first, or choose another jobId`);
}

function withDueKey(job: Job): Job {
  const due =
    job.schedule.kind === 'once'
      ? occurrence(job, job.schedule.at).dueAt
      : nextDueAt(job, job.createdAt + jitterMs(job));
  return due === undefined ? job : { ...job, dueAt: due };
}

function newJob(wanted: Wanted, request: JobRequest, now: number, ports: CreateJobPorts): Job {
  const { schedule: asked, ...definition } = request;
  const schedule = scheduleFrom(asked, now);
  refuseForbidden(request.functionArn, ports.settings);
  const generation = ports.ids.guid();
  return {
    ...definition,
    ...wanted,
    revision: 1,
    state: 'ACTIVE',
    generations: [{ id: generation, startedAt: now }],
    lifeId: generation,
    codeId: codeIdOf(request.functionArn),
    schedule,
    createdAt: now,
    subscribedStates: [],
    ...(schedule.kind === 'once' ? { expiresAt: schedule.at + ports.settings.retentionMs } : {}),
  };
}

/**
 * What creating this job would refuse whatever else there is.
 * @throws InputError when the function is not allowed or the schedule names nothing more
 */
export function checkJobRequest(request: JobRequest, { clock, settings }: Pick<Ports, 'clock' | 'settings'>): void {
  scheduleFrom(request.schedule, clock.now());
  refuseForbidden(request.functionArn, settings);
}

/** @throws InputError when this deployment may not call the function */
export function refuseForbidden(functionArn: string, { allowedFunctions }: Settings): void {
  const name = parseFunctionArn(functionArn)?.name ?? '';
  if (isAllowedFunction(name, allowedFunctions)) return;
  const message = `function ${JSON.stringify(name)} is not one that this deployment may call; allowed: ${allowedFunctions.join(', ')}`;
  throw new InputError([{ field: 'target.functionArn', message }]);
}

/** @throws InputError when the schedule names nothing after now */
export function scheduleFrom(asked: ScheduleRequest, now: number): JobSchedule {
  switch (asked.kind) {
    case 'immediate':
      return { kind: 'once', at: now, timezone: 'UTC' };
    case 'delay': {
      const { delaySeconds } = asked;
      return { kind: 'once', at: now + Math.round(delaySeconds * 1000), delaySeconds, timezone: 'UTC' };
    }
    case 'expression': {
      const schedule = expressionSchedule(asked, now);
      if (nextRunAt({ jobId: '', schedule }, now) === undefined) throw new InputError([namesNothing(asked, now)]);
      return schedule;
    }
  }
}

type ExpressionRequest = Extract<ScheduleRequest, { kind: 'expression' }>;

function namesNothing({ endAt, ...endless }: ExpressionRequest, now: number): FieldError {
  const says = `${JSON.stringify(endless.expression)} names no instant after now (${iso(now)})`;
  const schedule = expressionSchedule(endless, now);
  if (endAt === undefined || nextRunAt({ jobId: '', schedule }, now) === undefined) {
    return { field: 'schedule', message: `${says}; write one that lies ahead` };
  }
  return { field: 'end', message: `is too early: ${says} and up to ${iso(endAt)}; write a later one` };
}

function expressionSchedule(asked: ExpressionRequest, now: number): JobSchedule {
  const { expression, timezone, dst, endAt } = asked;
  const parsed = parseSchedule(expression, { timezone, ...(dst === undefined ? {} : { dst }) });
  if (parsed.kind === 'at') {
    return { kind: 'once', at: parsed.at, expression, timezone, ...(parsed.ambiguous ? { isAmbiguous: true } : {}) };
  }
  // The start of a rate is a run, and runs are due at whole seconds.
  const startAt = parsed.kind === 'rate' && asked.startAt !== undefined ? toSecond(asked.startAt) : asked.startAt;
  return {
    kind: 'recurring',
    expression,
    timezone,
    anchorAt: startAt ?? toSecond(now),
    ...(dst === undefined ? {} : { dst }),
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
  };
}

function toSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}
