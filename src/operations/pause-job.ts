import { runIdOf } from '../domain/activation';
import { NotFoundError } from '../domain/errors';
import type { JobRow } from '../domain/job';
import { HORIZON_MS } from '../domain/loop';
import { dueAtFrom, occurrence, withoutDispatchedAhead } from '../domain/occurrences';
import type { Ports } from '../ports';
import { changeJob, noSuchJob, withoutDueKey, type ChangePorts } from './change-job';
import { dispatchJobs } from './dispatch';

/**
 * From the answer on no scheduled run begins; runs that have begun go on. Pausing a paused job changes its reason and person.
 * @throws NotFoundError, ConflictError
 */
export async function pauseJob(
  jobId: string,
  { reason, by }: { reason?: string; by?: string },
  ports: ChangePorts,
): Promise<JobRow> {
  return changeJob(
    jobId,
    (row, now) => {
      refuseDeleted(row);
      const pause = {
        at: row.pause?.at ?? now,
        ...(reason === undefined ? {} : { reason }),
        ...(by === undefined ? {} : { by }),
      };
      // A job that waits for a person has no end.
      const { expiresAt: _, ...paused } = withoutDueKey(withoutDispatchedAhead(row, now));
      return { ...paused, state: 'PAUSED', pause };
    },
    ports,
  );
}

/**
 * The schedule goes on with its next occurrence: what fell due meanwhile does not come in a burst. A one-off that fell due
 * runs at once, late. Resuming a job that is not paused changes nothing.
 * @throws NotFoundError, ConflictError
 */
export async function resumeJob(jobId: string, ports: ChangePorts): Promise<JobRow> {
  const { clock, settings } = ports;
  const resumed = await changeJob(
    jobId,
    async (row, now) => {
      refuseDeleted(row);
      if (row.state !== 'PAUSED') return undefined;
      const { pause: _, ...rest } = row;
      const dueAt = await dueAtAfterPause(row, now, ports);
      if (row.schedule.kind === 'once') {
        const expiresAt = Math.max(now, row.schedule.at) + settings.retentionMs;
        return { ...rest, state: 'ACTIVE', expiresAt, ...(dueAt === undefined ? {} : { dueAt }) };
      }
      if (dueAt !== undefined) return { ...rest, state: 'ACTIVE', dueAt };
      return { ...rest, state: 'COMPLETED', expiresAt: now + settings.retentionMs };
    },
    ports,
  );
  if (resumed.dueAt === undefined) return resumed;
  await dispatchJobs([resumed], clock.now() + HORIZON_MS, ports);
  return resumed;
}

/** Of a one-off its instant, unless its run has begun; of a schedule its next occurrence. */
async function dueAtAfterPause(row: JobRow, now: number, { runs }: Pick<Ports, 'runs'>): Promise<number | undefined> {
  if (row.schedule.kind === 'recurring') return dueAtFrom(row, now);
  const run = await runs.read(row.jobId, runIdOf(row.jobId, row.schedule.at, 'scheduled'));
  return run ? undefined : occurrence(row, row.schedule.at).dueAt;
}

export function refuseDeleted({ jobId, state }: JobRow): void {
  if (state === 'DELETED') throw new NotFoundError('jobId', noSuchJob(jobId));
}
