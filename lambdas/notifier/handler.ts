import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deliverNotices } from '../../src/operations/deliver-notices';
import { comeAgain, messagesOf } from '../batch';
import { notifierEnv, readEnv } from '../env';
import { codeStore, lambdaInvoker, notificationStore, queue, surroundings } from '../ports';

const env = readEnv(notifierEnv, process.env);
const ports = {
  ...surroundings('notifier'),
  notifications: notificationStore(env),
  code: codeStore(env),
  notify: queue(env.NOTIFY_QUEUE_URL),
  invoker: lambdaInvoker(),
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return comeAgain(await deliverNotices(messagesOf(event), ports));
}
