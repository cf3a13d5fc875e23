import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { answerCommands } from '../commands';
import { notificationDeleterEnv, readEnv } from '../env';
import { controlStore, jobStore, notificationStore, queue, surroundings } from '../ports';

const env = readEnv(notificationDeleterEnv, process.env);
const ports = {
  ...surroundings('notification-deleter'),
  jobs: jobStore(env),
  notifications: notificationStore(env),
  control: controlStore(env),
  replies: { 'notify-deleted': queue(env.NOTIFY_DELETED_QUEUE_URL) },
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return answerCommands('notify-delete', event, ports);
}
