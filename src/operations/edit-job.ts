import { ConflictError, InputError, PreconditionError, type FieldError } from '../domain/errors';
import { codeIdOf } from '../domain/guid';
import { currentGeneration, type Job, type JobRow, type JobSchedule } from '../domain/job';
import type { JobChanges, ScheduleChanges } from '../domain/job-changes';
import type { ScheduleRequest } from '../domain/job-request';
import { HORIZON_MS } from '../domain/loop';
import { dueAtFrom, occurrence, withoutDispatchedAhead } from '../domain/occurrences';
import { jobKeptMs } from '../domain/retention';
import { heartbeatApart } from '../messages/job-fields';
import { fieldsApart, readExpression, type ScheduleField } from '../messages/schedule-fields';
import type { Ports, Settings } from '../ports';
import { changeJob, withoutDueKey, type ChangePorts } from './change-job';
import { refuseForbidden, scheduleFrom } from './create-job';
import { dispatchJobs } from './dispatch';
import { hasBegunOnce, refuseDeleted } from './pause-job';
import { GENERATIONS_KEPT } from './only-run';
import { refuseMember } from './refuse-member';

/** The longest backoff and the retention lie within it: so long a run may need the definition that it began with. */
const DEFINITION_KEPT_MS = 400 * 86_400_000;

/**
 * Starts a new generation of the job: occurrences from now on are run under the new definition, runs that have begun go on
 * under theirs. An edit does not resume a paused job, and an edit that leaves the schedule alone leaves its rhythm alone.
 * @param ifMatch the generation that the caller has seen, or those that it would accept; absent: whatever there is
 * @throws NotFoundError, ConflictError; PreconditionError when another generation is current; InputError as in `createJob`,
 *   and where the changes do not fit what stays
 */
export async function editJob(
  jobId: string,
  changes: JobChanges,
  ifMatch: string | readonly string[] | undefined,
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
      refuseMember(row, 'edited');
      refuseStale(row, ifMatch);
      await refuseBegunOneOff(row, ports);
      const kept = withFields(withoutDispatchedAhead(row, now - 1), changes);
      refuseApart(kept);
      const schedule = scheduleAfter(kept, changes.schedule ?? {}, now);
      const generations = [...row.generations, { id: ids.guid(), startedAt: now }].slice(-GENERATIONS_KEPT);
      return scheduled({ ...kept, generations, schedule }, now, settings);
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

function refuseStale(row: JobRow, ifMatch: string | readonly string[] | undefined) {
  const current = currentGeneration(row)?.id;
  if (ifMatch === undefined || [ifMatch].flat().some((id) => id === current)) return;
  throw new PreconditionError(
    `job ${row.jobId} is not what you have seen any more: it is ${current} now; read it again, then edit`,
  );
}

async function refuseBegunOneOff(row: JobRow, ports: Pick<Ports, 'runs'>) {
  if (!(await hasBegunOnce(row, ports))) return;
  const { jobId } = row;
  throw new ConflictError('jobId', `job ${jobId} runs once and has begun; create another job instead`);
}

function withFields(row: JobRow, changes: JobChanges): JobRow {
  const { schedule: _schedule, payload: _payload, functionArn, ...given } = changes;
  const fields = { ...row, ...(functionArn === undefined ? {} : { functionArn, codeId: codeIdOf(functionArn) }) };
  const changed = Object.fromEntries(
    Object.entries({ ...fields, ...withoutUndefined(given) }).filter(([, value]) => value !== null),
  ) as unknown as JobRow;
  if (changed.maxRuns !== undefined) return changed;
  // A maximum that is set again later counts from then.
  const { runsDispatched: _runs, dispatchedUntil: _until, ...uncounted } = changed;
  return uncounted;
}

function refuseApart(row: JobRow) {
  const errors = heartbeatApart(row, 'take it away with null');
  if (errors.length > 0) throw new InputError(errors);
}

function withoutUndefined<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** @throws InputError where the whole, as it would stand then, is wrong */
function scheduleAfter(row: JobRow, changes: ScheduleChanges, now: number): JobSchedule {
  const { schedule: old, maxRuns, overlap, jitterSeconds } = row;
  const before = old.kind === 'recurring' ? old : undefined;
  const expression = changes.expression ?? old.expression;
  const timezone = changed(old.expression === undefined ? undefined : old.timezone, changes.timezone);
  const dst = changed(before?.dst, changes.dst);
  const startAt = changed(before?.startAt, changes.startAt);
  const endAt = changed(before?.endAt, changes.endAt);

  const isTouched = Object.keys(changes).length > 0;
  const { kind, errors } = readExpression(expression, timezone);
  const given = withoutUndefined({ timezone, dst, start: startAt, end: endAt, maxRuns, overlap, jitterSeconds });
  const apart = fieldsApart(
    { kind, given: new Set(Object.keys(given) as ScheduleField[]), startAt, endAt },
    'take it away with null',
  );
  refuseWrong([...apart, ...(isTouched ? errors : [])], changes);
  if (!isTouched || expression === undefined) return old;

  const schedule = scheduleAsked(
    {
      kind: 'expression',
      expression,
      timezone: timezone ?? 'UTC',
      ...(dst === undefined ? {} : { dst }),
      ...(startAt === undefined ? {} : { startAt }),
      ...(endAt === undefined ? {} : { endAt }),
    },
    changes,
    now,
  );
  const keepsRhythm = before && schedule.kind === 'recurring' && schedule.expression === before.expression;
  return keepsRhythm && startAt === before.startAt ? { ...schedule, anchorAt: before.anchorAt } : schedule;
}

function scheduleAsked(asked: ScheduleRequest, changes: ScheduleChanges, now: number): JobSchedule {
  try {
    return scheduleFrom(asked, now);
  } catch (error) {
    if (error instanceof InputError) refuseWrong(error.errors, changes);
    throw error;
  }
}

/** An expression that stays, and is wrong beside what changes, is not what the caller has to look at. */
function refuseWrong(errors: readonly FieldError[], { expression, timezone, startAt }: ScheduleChanges) {
  if (errors.length === 0) return;
  const cause = timezone !== undefined ? 'timezone' : startAt !== undefined ? 'start' : 'schedule';
  throw new InputError(
    errors.map(({ field, message }) => ({
      field: field === 'schedule' && expression === undefined ? cause : field,
      message,
    })),
  );
}

function changed<Value>(old: Value | undefined, change: Value | null | undefined): Value | undefined {
  return change === undefined ? old : (change ?? undefined);
}

/** With its next instant in the due index, unless the job is paused or has had all its runs. */
function scheduled(row: JobRow, now: number, settings: Settings): JobRow {
  const { expiresAt: _, ...idle } = withoutDueKey(row);
  if (row.state === 'PAUSED') return idle;
  if (row.schedule.kind === 'once') {
    const { dueAt } = occurrence(row, row.schedule.at);
    return { ...idle, state: 'ACTIVE', dueAt, expiresAt: row.schedule.at + settings.retentionMs };
  }
  // An occurrence of this very instant is superseded already: it belongs to the new generation.
  const dueAt = dueAtFrom(row, now - 1);
  if (dueAt === undefined) return { ...idle, state: 'COMPLETED', expiresAt: now + jobKeptMs(settings) };
  return { ...idle, state: 'ACTIVE', dueAt };
}
