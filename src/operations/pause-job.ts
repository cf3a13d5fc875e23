import { noSuchJob } from '../domain/errors';
import type { JobRow } from '../domain/job';
import { HORIZON_MS } from '../domain/loop';
import { dueAtFrom, occurrence, withoutDispatchedAhead } from '../domain/occurrences';
import { hasBegun, isFinal } from '../domain/run';
import { jobKeptMs } from '../domain/retention';
import type { Ports } from '../ports';
import { changeJob, withoutDueKey, type ChangePorts } from './change-job';
import { dispatchJobs } from './dispatch';
import { onlyRunOf } from './only-run';
import { refuseMember } from './refuse-member';

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
    async (row, now) => {
      refuseDeleted(row);
      refuseMember(row, 'paused');
      const pause = {
        at: row.pause?.at ?? now,
        ...(reason === undefined ? {} : { reason }),
        ...(by === undefined ? {} : { by }),
      };
      const { expiresAt, ...paused } = withoutDueKey(withoutDispatchedAhead(row, now));
      // A job that waits for a person has no end, but for a one-off that has begun: a pause does not hold it up.
      const hasBegun = expiresAt !== undefined && (await hasBegunOnce(row, ports));
      return { ...paused, state: 'PAUSED', pause, ...(hasBegun ? { expiresAt } : {}) };
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
      refuseMember(row, 'resumed');
      if (row.state !== 'PAUSED') return undefined;
      const { pause: _, ...rest } = row;
      const dueAt = await dueAtAfterPause(row, now, ports);
      if (row.schedule.kind === 'once') {
        const expiresAt = Math.max(now, row.schedule.at) + settings.retentionMs;
        return { ...rest, state: 'ACTIVE', expiresAt, ...(dueAt === undefined ? {} : { dueAt }) };
      }
      if (dueAt !== undefined) return { ...rest, state: 'ACTIVE', dueAt };
      return { ...rest, state: 'COMPLETED', expiresAt: now + jobKeptMs(settings) };
    },
    ports,
  );
  if (resumed.dueAt === undefined) return resumed;
  await dispatchJobs([resumed], clock.now() + HORIZON_MS, ports);
  return resumed;
}

/** Of a one-off its instant, unless its run has begun; of a schedule its next occurrence. */
async function dueAtAfterPause(row: JobRow, now: number, ports: Pick<Ports, 'runs'>): Promise<number | undefined> {
  if (row.schedule.kind === 'recurring') return dueAtFrom(row, now);
  return (await hasBegunOnce(row, ports)) ? undefined : occurrence(row, row.schedule.at).dueAt;
}

/** Has this one-off begun its run? One that was only held back, without an attempt, has not. */
export async function hasBegunOnce(row: JobRow, ports: Pick<Ports, 'runs'>): Promise<boolean> {
  const run = await onlyRunOf(row, ports);
  return run !== undefined && (hasBegun(run) || isFinal(run.state));
}

export function refuseDeleted({ jobId, state }: JobRow): void {
  if (state === 'DELETED') throw noSuchJob(jobId);
}
