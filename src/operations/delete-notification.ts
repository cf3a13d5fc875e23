import { NotFoundError } from '../domain/errors';
import type { Notification } from '../domain/notification';
import type { RunState } from '../domain/run';
import type { Ports } from '../ports';

type DeletePorts = Pick<Ports, 'jobs' | 'notifications'>;

/**
 * Removes one notification of a job; one that is not there is removed already.
 * @throws NotFoundError when there is no such job
 */
export async function deleteNotification(jobId: string, notifyId: string, ports: DeletePorts): Promise<void> {
  const [row] = await ports.jobs.readRows([jobId]);
  if (!row || row.generations.length === 0) {
    throw new NotFoundError('jobId', `there is no job ${JSON.stringify(jobId)}`);
  }
  const all = await ports.notifications.of(jobId);
  await remove(
    all.filter((notification) => notification.notifyId === notifyId),
    ports,
  );
}

/** Removes all notifications of one life of a job. @returns their ids */
export async function removeNotifications(jobId: string, lifeId: string, ports: DeletePorts): Promise<string[]> {
  const all = (await ports.notifications.of(jobId)).filter((notification) => notification.lifeId === lifeId);
  await remove(all, ports);
  return all.map(({ notifyId }) => notifyId);
}

async function remove(gone: readonly Notification[], ports: DeletePorts) {
  await Promise.all(gone.map((notification) => ports.notifications.remove(notification)));
  const [first] = gone;
  if (first) await unsubscribe(first.jobId, first.lifeId, new Set(gone.map(({ state }) => state)), ports);
}

/**
 * Takes the states that nobody wants to hear of any more out of the set that the job's row carries. The notifications are
 * read after the row, so that one created in between makes this write lose its condition.
 */
async function unsubscribe(
  jobId: string,
  lifeId: string,
  states: ReadonlySet<RunState>,
  { jobs, notifications }: DeletePorts,
) {
  for (;;) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || row.state === 'DELETED' || row.lifeId !== lifeId) return;
    const wanted = new Set((await notifications.of(jobId)).map(({ state }) => state));
    const subscribedStates = row.subscribedStates.filter((state) => wanted.has(state) || !states.has(state));
    if (subscribedStates.length === row.subscribedStates.length) return;
    if (await jobs.update({ ...row, revision: row.revision + 1, subscribedStates }, row)) return;
  }
}
