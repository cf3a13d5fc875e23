import { NotFoundError } from '../domain/errors';
import type { JobRow } from '../domain/job';
import type { Ports } from '../ports';
import { dispatchJobs } from './dispatch';

/** What falls due so soon counts as due already when a job is changed: its message may be under way. */
const ALREADY_DUE_MS = 2_000;

type NotificationDeleter = { commands: Pick<Ports['commands'], 'notify-delete'> };

/**
 * Leaves a tombstone: the job starts no new run from now on, and what waits is recorded as SKIPPED or CANCELLED. Its
 * notifications are removed by the notification deleter, which gets the same request. Deleting twice is deleting once.
 * @throws NotFoundError when there never was such a job, or it is past its retention
 */
export async function deleteJob(
  requestId: string,
  jobId: string,
  ports: Pick<Ports, 'clock' | 'jobs' | 'runs' | 'activations' | 'notify' | 'journal' | 'settings'> &
    NotificationDeleter,
): Promise<void> {
  const { clock, jobs, settings } = ports;
  for (;;) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || (row.state === 'DELETED' && row.generations.length === 0)) {
      throw new NotFoundError('jobId', `there is no job ${JSON.stringify(jobId)}`);
    }
    if (row.state === 'DELETED') return forgetNotifications(requestId, row, ports);
    const now = clock.now();
    if (row.dueAt !== undefined && row.state === 'ACTIVE' && row.dueAt <= now + ALREADY_DUE_MS) {
      await dispatchJobs([row], now + ALREADY_DUE_MS, ports);
      continue;
    }
    const { dueAt: _, ...rest } = row;
    const tombstone: JobRow = {
      ...rest,
      revision: row.revision + 1,
      state: 'DELETED',
      expiresAt: now + settings.retentionMs,
    };
    if (await jobs.update(tombstone, row)) {
      ports.journal.note('job-deleted', { jobId });
      return forgetNotifications(requestId, tombstone, ports);
    }
  }
}

/** The notification deleter gets the request too. `lifeId` keeps it from those of a new job of the same id. */
async function forgetNotifications(requestId: string, row: JobRow, { commands }: NotificationDeleter) {
  if (row.subscribedStates.length === 0) return;
  const command = { version: 1, requestId, jobId: row.jobId, lifeId: row.lifeId };
  await commands['notify-delete'].send([{ body: JSON.stringify(command) }]);
}
