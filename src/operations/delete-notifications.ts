import { digestOf } from '../domain/guid';
import type { NotificationState } from '../domain/notification';
import type { Ports } from '../ports';
import { lifeOf, notificationsOf, removeNotifications } from './delete-notification';

/** How long the answer to a request is remembered. */
const REQUEST_KEPT_MS = 24 * 3600_000;

export interface RemovedNotification {
  notifyId: string;
  state: NotificationState;
}

/**
 * Removes every notification of a job, or of all jobs (`*`), or, given `lifeId`, of that life of it. What is to go is written down first, so
 * that a repeat of the request removes nothing more and gets the same answer.
 * @throws NotFoundError when there is no such job
 */
export async function deleteNotifications(
  requestId: string,
  jobId: string,
  lifeId: string | undefined,
  ports: Pick<Ports, 'clock' | 'jobs' | 'notifications' | 'control'>,
): Promise<RemovedNotification[]> {
  const record = `notify-delete:${digestOf(JSON.stringify([requestId, jobId, lifeId]))}`;
  const life = lifeId ?? (await lifeOf(jobId, ports));
  const gone = (await recorded(record, ports)) ?? (await writeDown(record, jobId, life, ports));
  await removeNotifications(jobId, life, ports, new Set(gone.map(({ notifyId }) => notifyId)));
  return gone;
}

async function writeDown(
  name: string,
  jobId: string,
  lifeId: string,
  ports: Pick<Ports, 'clock' | 'notifications' | 'control'>,
): Promise<RemovedNotification[]> {
  const all = await notificationsOf(jobId, lifeId, ports);
  const gone = all.map(({ notifyId, state }) => ({ notifyId, state }));
  const entry = { name, value: JSON.stringify(gone), expiresAt: ports.clock.now() + REQUEST_KEPT_MS };
  if (await ports.control.put(entry)) return gone;
  // Another delivery of the same request was faster: its list is the one that is answered.
  return (await recorded(name, ports)) ?? gone;
}

async function recorded(name: string, { control }: Pick<Ports, 'control'>): Promise<RemovedNotification[] | undefined> {
  const entry = await control.read(name);
  return entry && (JSON.parse(entry.value) as RemovedNotification[]);
}
