import type { JobRow } from '../domain/job';
import type { Ports } from '../ports';
import { changeJob, withoutDueKey, type ChangePorts } from './change-job';

/**
 * Leaves a tombstone: the job starts no new run from now on, and what waits is recorded as SKIPPED or CANCELLED. Its
 * notifications are removed by the notification deleter, which gets the same request. Deleting twice is deleting once.
 * @throws NotFoundError when there never was such a job, or it is past its retention
 */
export async function deleteJob(
  requestId: string,
  jobId: string,
  ports: ChangePorts & { commands: Pick<Ports['commands'], 'notify-delete'> },
): Promise<void> {
  const { settings, journal } = ports;
  let isDeletedNow = false;
  const tombstone = await changeJob(
    jobId,
    (row, now) => {
      isDeletedNow = row.state !== 'DELETED';
      if (!isDeletedNow) return undefined;
      return { ...withoutDueKey(row), state: 'DELETED', expiresAt: now + settings.retentionMs };
    },
    ports,
  );
  if (isDeletedNow) journal.note('job-deleted', { jobId });
  await forgetNotifications(requestId, tombstone, ports.commands);
}

/** The notification deleter gets the request too. `lifeId` keeps it from those of a new job of the same id. */
async function forgetNotifications(
  requestId: string,
  { jobId, lifeId, subscribedStates }: JobRow,
  commands: Pick<Ports['commands'], 'notify-delete'>,
) {
  if (subscribedStates.length === 0) return;
  const command = { version: 1, requestId, jobId, lifeId };
  await commands['notify-delete'].send([{ body: JSON.stringify(command) }]);
}
