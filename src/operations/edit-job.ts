import { runIdOf } from '../domain/activation';
import { ConflictError, InputError, PreconditionError } from '../domain/errors';
import { codeIdOf } from '../domain/guid';
import { currentGeneration, type Job, type JobRow, type JobSchedule } from '../domain/job';
import type { JobRequest, ScheduleRequest } from '../domain/job-request';
import { HORIZON_MS } from '../domain/loop';
import { dueAtFrom, occurrence, withoutDispatchedAhead } from '../domain/occurrences';
import type { Ports } from '../ports';
import { changeJob, withoutDueKey, type ChangePorts } from './change-job';
import { refuseForbidden, scheduleFrom } from './create-job';
import { dispatchJobs } from './dispatch';
import { refuseDeleted } from './pause-job';

/** What an edit changes; what is absent stays, `null` takes an optional field away. */
export interface JobChanges {
  name?: string | null;
  tags?: readonly string[];
  functionArn?: string;
  payload?: string;
  retry?: JobRequest['retry'];
  misfire?: JobRequest['misfire'];
  overlap?: JobRequest['overlap'];
  jitterSeconds?: number;
  maxRuns?: number | null;
  timeoutSeconds?: number;
  schedule?: ScheduleChanges;
}

export interface ScheduleChanges {
  expression?: string;
  timezone?: string;
  dst?: Extract<ScheduleRequest, { kind: 'expression' }>['dst'];
  /** epoch ms */
  startAt?: number | null;
  /** epoch ms */
  endAt?: number | null;
}

/** Messages of generations before these are no longer known. */
const GENERATIONS_KEPT = 10;
/** The longest backoff and the retention lie within it: so long a run may need the definition that it began with. */
const DEFINITION_KEPT_MS = 400 * 86_400_000;

/**
 * Starts a new generation of the job: occurrences from now on are run under the new definition, runs that have begun go on
 * under theirs. An edit does not resume a paused job, and an edit that leaves the schedule alone leaves its rhythm alone.
 * @param ifMatch the generation that the caller has seen; absent: whatever there is
 * @throws NotFoundError, ConflictError; PreconditionError when another generation is current; InputError as in `createJob`
 */
export async function editJob(
  jobId: string,
  changes: JobChanges,
  ifMatch: string | undefined,
  ports: ChangePorts & Pick<Ports, 'ids' | 'code'>,
): Promise<Job> {
  const { clock, ids, jobs, code, settings } = ports;
  if (changes.functionArn !== undefined) {
    refuseForbidden(changes.functionArn, settings);
    const codeId = codeIdOf(changes.functionArn);
    await code.put({ codeId, kind: 'job', functionArn: changes.functionArn });
  }
  let payload = changes.payload;
  const edited = await changeJob(
    jobId,
    async (row, now) => {
      refuseDeleted(row);
      refuseStale(row, ifMatch);
      await refuseBegunOneOff(row, ports);
      const schedule = scheduleAfter(row.schedule, changes.schedule, now);
      const generations = [...row.generations, { id: ids.guid(), startedAt: now }].slice(-GENERATIONS_KEPT);
      const kept = withFields(withoutDispatchedAhead(row, now), changes);
      return scheduled({ ...kept, generations, schedule }, now, settings.retentionMs);
    },
    ports,
    async (next, seen) => {
      const replaced = await jobs.read(jobId);
      if (replaced?.revision !== seen.revision) return false;
      await jobs.keepDefinition(replaced, clock.now() + DEFINITION_KEPT_MS);
      payload = changes.payload ?? replaced.payload;
      return jobs.put({ ...next, payload }, seen);
    },
  );
  if (edited.dueAt !== undefined) await dispatchJobs([edited], clock.now() + HORIZON_MS, ports);
  return { ...edited, payload: payload! };
}

function refuseStale(row: JobRow, ifMatch: string | undefined) {
  const current = currentGeneration(row)?.id;
  if (ifMatch === undefined || ifMatch === current) return;
  throw new PreconditionError(
    `job ${row.jobId} was edited since you read it: you want to change ${ifMatch}, it is ${current} now; read it again, then edit`,
  );
}

async function refuseBegunOneOff({ jobId, schedule }: JobRow, { runs }: Pick<Ports, 'runs'>) {
  if (schedule.kind !== 'once' || !(await runs.read(jobId, runIdOf(jobId, schedule.at, 'scheduled')))) return;
  throw new ConflictError('jobId', `job ${jobId} runs once and has begun; create another job instead`);
}

function withFields(row: JobRow, changes: JobChanges): JobRow {
  const { schedule: _schedule, payload: _payload, name, maxRuns, functionArn, ...given } = changes;
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { name: oldName, maxRuns: oldMaxRuns, ...rest } = row;
  const newName = name === undefined ? oldName : (name ?? undefined);
  const newMaxRuns = maxRuns === undefined ? oldMaxRuns : (maxRuns ?? undefined);
  return {
    ...rest,
    ...fields,
    ...(functionArn === undefined ? {} : { functionArn, codeId: codeIdOf(functionArn) }),
    ...(newName === undefined ? {} : { name: newName }),
    ...(newMaxRuns === undefined ? {} : { maxRuns: newMaxRuns }),
  };
}

/** @throws InputError */
function scheduleAfter(old: JobSchedule, changes: ScheduleChanges | undefined, now: number): JobSchedule {
  if (changes === undefined) return old;
  const expression = changes.expression ?? old.expression;
  if (expression === undefined) {
    const message = 'is missing: the job has no expression yet whose time zone, start or end could change';
    throw new InputError([{ field: 'schedule', message }]);
  }
  const before = old.kind === 'recurring' ? old : undefined;
  const dst = changes.dst ?? before?.dst;
  const startAt = changes.startAt === undefined ? before?.startAt : (changes.startAt ?? undefined);
  const endAt = changes.endAt === undefined ? before?.endAt : (changes.endAt ?? undefined);
  const schedule = scheduleFrom(
    {
      kind: 'expression',
      expression,
      timezone: changes.timezone ?? old.timezone,
      ...(dst === undefined ? {} : { dst }),
      ...(startAt === undefined ? {} : { startAt }),
      ...(endAt === undefined ? {} : { endAt }),
    },
    now,
  );
  const keepsRhythm = before && schedule.kind === 'recurring' && schedule.expression === before.expression;
  return keepsRhythm && startAt === before.startAt ? { ...schedule, anchorAt: before.anchorAt } : schedule;
}

/** With its next instant in the due index, unless the job is paused or has had all its runs. */
function scheduled(row: JobRow, now: number, retentionMs: number): JobRow {
  const { expiresAt: _, ...idle } = withoutDueKey(row);
  if (row.state === 'PAUSED') return idle;
  if (row.schedule.kind === 'once') {
    const { dueAt } = occurrence(row, row.schedule.at);
    return { ...idle, state: 'ACTIVE', dueAt, expiresAt: row.schedule.at + retentionMs };
  }
  const dueAt = dueAtFrom(row, now);
  if (dueAt === undefined) return { ...idle, state: 'COMPLETED', expiresAt: now + retentionMs };
  return { ...idle, state: 'ACTIVE', dueAt };
}
