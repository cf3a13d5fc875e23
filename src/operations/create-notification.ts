import { ConflictError, InputError, NotFoundError, noSuchJob } from '../domain/errors';
import { codeIdOf, digestOf, guidFrom } from '../domain/guid';
import { LIMITS } from '../domain/limits';
import { OF_ALL, type Notification, type NotificationState } from '../domain/notification';
import { RUN_STATES, type RunState } from '../domain/run';
import type { Ports } from '../ports';
import { refuseForbidden } from './create-job';
import { changeStatesOfAll } from './subscriptions';

export interface NotificationRequest {
  /** `*`: all jobs, chains and batches */
  jobId: string;
  state: NotificationState;
  functionArn: string;
}

/** How long the answer to a request is remembered. */
const REQUEST_KEPT_MS = 24 * 3600_000;

/**
 * Subscribes code to a state of a job, or of all jobs. A repeat of the same request changes nothing more and gets the same answer, even
 * if the notification was deleted since.
 * @throws NotFoundError when there is no such job
 * @throws InputError when the function is not allowed, the state is none of a job, or the job has all the notifications that
 *   it may have
 * @throws ConflictError when the request id was used for another content
 */
export async function createNotification(
  requestId: string,
  request: NotificationRequest,
  ports: Pick<Ports, 'clock' | 'jobs' | 'notifications' | 'code' | 'control' | 'settings'>,
): Promise<Notification> {
  const { clock, notifications, code, control, settings } = ports;
  const { jobId, state, functionArn } = request;
  const lifeId = await lifeOf(jobId, ports);
  // A job created again under the same id is another job: the same request then is another notification.
  const notifyId = guidFrom('notification', jobId, lifeId, requestId);
  const record = `notify-create:${notifyId}`;
  const digest = digestOf(JSON.stringify([jobId, state, functionArn]));

  const answered = await control.read(record);
  if (answered) {
    const { digest: first, notification } = JSON.parse(answered.value) as {
      digest: string;
      notification: Notification;
    };
    if (first === digest) return notification;
    throw new ConflictError(
      'requestId',
      `request id ${JSON.stringify(requestId)} was already used for another notification; choose a new one`,
    );
  }
  refuseForbidden(functionArn, settings);
  refuseStateOfGroups(request);
  const others = (await notifications.of(jobId)).filter((other) => other.notifyId !== notifyId);
  if (others.length >= LIMITS.notificationsPerJob) {
    const message = `${jobId === OF_ALL.jobId ? 'the whole' : `job ${jobId}`} has ${others.length} notifications, the most it may have; delete one first`;
    throw new InputError([{ field: 'jobId', message }]);
  }

  const codeId = codeIdOf(functionArn);
  await code.put({ codeId, kind: 'notification', functionArn });
  const createdAt = clock.now();
  const notification: Notification = { jobId, notifyId, state, functionArn, codeId, lifeId, createdAt };
  await notifications.put(notification);
  if (jobId === OF_ALL.jobId) await changeStatesOfAll((states) => [...states, state], ports);
  else await subscribe(notification, ports);
  const value = JSON.stringify({ digest, notification });
  await control.put({ name: record, value, expiresAt: createdAt + REQUEST_KEPT_MS });
  return notification;
}

async function lifeOf(jobId: string, { jobs }: Pick<Ports, 'jobs'>): Promise<string> {
  if (jobId === OF_ALL.jobId) return OF_ALL.lifeId;
  const [job] = await jobs.readRows([jobId]);
  if (!job || job.state === 'DELETED') throw noSuchJob(jobId);
  return job.lifeId;
}

/** A job has runs; a chain or batch is no job. */
function refuseStateOfGroups({ jobId, state }: NotificationRequest) {
  if (jobId === OF_ALL.jobId || RUN_STATES.includes(state as RunState)) return;
  const message = `must be one of ${RUN_STATES.join(', ')} for one job; got "${state}": chains and batches tell their states to whoever subscribes to all jobs, *`;
  throw new InputError([{ field: 'state', message }]);
}

/**
 * Puts the state into the set that the job's row carries. The row is written even when the set has the state already:
 * whoever is taking the state out at this moment then loses his condition, and looks again.
 */
async function subscribe({ jobId, state, lifeId }: Notification, { jobs }: Pick<Ports, 'jobs'>) {
  for (;;) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || row.state === 'DELETED' || row.lifeId !== lifeId) {
      throw new NotFoundError('jobId', `job ${JSON.stringify(jobId)} was deleted in the meantime`);
    }
    const subscribedStates = [...new Set([...row.subscribedStates, state])];
    if (await jobs.update({ ...row, revision: row.revision + 1, subscribedStates }, row)) return;
  }
}
