import { noSuchJob } from '../domain/errors';
import { OF_ALL, type Notification } from '../domain/notification';
import type { Ports } from '../ports';
import { changeStatesOfAll } from './subscriptions';

type DeletePorts = Pick<Ports, 'jobs' | 'notifications' | 'control'>;

/**
 * Removes one notification of a job, or of all jobs (`*`); one that is not there is removed already.
 * @throws NotFoundError when there is no such job
 */
export async function deleteNotification(jobId: string, notifyId: string, ports: DeletePorts): Promise<void> {
  const lifeId = await lifeOf(jobId, ports);
  const all = await ports.notifications.of(jobId);
  const gone = all.filter((notification) => notification.notifyId === notifyId);
  await remove(jobId, lifeId, gone, ports);
}

/** Also of a deleted job. @throws NotFoundError when there never was such a job */
export async function lifeOf(jobId: string, { jobs }: Pick<Ports, 'jobs'>): Promise<string> {
  if (jobId === OF_ALL.jobId) return OF_ALL.lifeId;
  const [row] = await jobs.readRows([jobId]);
  if (!row || row.generations.length === 0) throw noSuchJob(jobId);
  return row.lifeId;
}

/** The notifications of one life of a job. */
export async function notificationsOf(
  jobId: string,
  lifeId: string,
  { notifications }: Pick<Ports, 'notifications'>,
): Promise<Notification[]> {
  return (await notifications.of(jobId)).filter((notification) => notification.lifeId === lifeId);
}

/** Removes the notifications of one life of a job, or, given `only`, those of them with these ids. */
export async function removeNotifications(
  jobId: string,
  lifeId: string,
  ports: DeletePorts,
  only?: ReadonlySet<string>,
): Promise<void> {
  const all = await notificationsOf(jobId, lifeId, ports);
  await remove(jobId, lifeId, only ? all.filter(({ notifyId }) => only.has(notifyId)) : all, ports);
}

async function remove(jobId: string, lifeId: string, gone: readonly Notification[], ports: DeletePorts) {
  await Promise.all(gone.map((notification) => ports.notifications.remove(notification)));
  // Also where nothing was left to remove: the process that did may have died before it came here.
  if (jobId === OF_ALL.jobId) await unsubscribeFromAll(ports);
  else await unsubscribe(jobId, lifeId, ports);
}

/** As `unsubscribe`, for the set of all jobs. */
async function unsubscribeFromAll(ports: DeletePorts) {
  await changeStatesOfAll(async (states) => {
    const wanted = new Set((await ports.notifications.of(OF_ALL.jobId)).map(({ state }) => state));
    return states.filter((state) => wanted.has(state));
  }, ports);
}

/**
 * Takes the states that nobody wants to hear of any more out of the set that the job's row carries. The notifications are
 * read after the row, so that one created in between makes this write lose its condition.
 */
async function unsubscribe(jobId: string, lifeId: string, { jobs, notifications }: DeletePorts) {
  for (;;) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || row.state === 'DELETED' || row.lifeId !== lifeId || row.subscribedStates.length === 0) return;
    const wanted = new Set((await notifications.of(jobId)).map(({ state }) => state));
    const subscribedStates = row.subscribedStates.filter((state) => wanted.has(state));
    if (subscribedStates.length === row.subscribedStates.length) return;
    if (await jobs.update({ ...row, revision: row.revision + 1, subscribedStates }, row)) return;
  }
}
