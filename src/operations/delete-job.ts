import { guidFrom } from '../domain/guid';
import type { JobRow } from '../domain/job';
import type { Ports } from '../ports';
import { changeJob, withoutDueKey, type ChangePorts } from './change-job';
import { refuseMember } from './refuse-member';
import { freeLockOfDeleted } from './unique-lock';

/** How long a request to delete is remembered. */
const REQUEST_KEPT_MS = 24 * 3_600_000;

/**
 * Leaves a tombstone: the job starts no new run from now on, and what waits is recorded as SKIPPED or CANCELLED. Its
 * notifications are removed by the notification deleter, which gets the same request. Deleting twice is deleting once: a
 * repeat of the request does not touch a job that was created since under the same id.
 * @throws NotFoundError when there never was such a job, or it is past its retention; ConflictError when it belongs to a
 *   chain or batch
 */
export async function deleteJob(
  requestId: string,
  jobId: string,
  ports: ChangePorts & Pick<Ports, 'control' | 'groups'> & { commands: Pick<Ports['commands'], 'notify-delete'> },
): Promise<void> {
  const { clock, control, settings, journal } = ports;
  const name = `job-delete:${guidFrom('job-delete', jobId, requestId)}`;
  let lifeToDelete = (await control.read(name))?.value;
  let isDeletedNow = false;
  const tombstone = await changeJob(
    jobId,
    async (row, now) => {
      if (row.state !== 'DELETED' && (await isNeeded(row, ports))) refuseMember(row, 'deleted');
      if (lifeToDelete === undefined) {
        // Remembered before the tombstone is written: whoever comes with the same request means the same life.
        await control.put({ name, value: row.lifeId, expiresAt: clock.now() + REQUEST_KEPT_MS });
        lifeToDelete = row.lifeId;
      }
      isDeletedNow = row.state !== 'DELETED' && row.lifeId === lifeToDelete;
      if (!isDeletedNow) return undefined;
      return { ...withoutDueKey(row), state: 'DELETED', expiresAt: now + settings.retentionMs };
    },
    ports,
  );
  if (isDeletedNow) journal.note('job-deleted', { jobId });
  if (tombstone.lifeId !== lifeToDelete) return;
  await freeLockOfDeleted(tombstone, ports);
  await forgetNotifications(requestId, tombstone, ports.commands);
}

/** A job of a chain or batch that is over may go, so that its id is free again. */
async function isNeeded({ member }: JobRow, { groups }: Pick<Ports, 'groups'>): Promise<boolean> {
  const head = member && (await groups.read(member.groupId));
  return head !== undefined && head.finishedAt === undefined;
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
