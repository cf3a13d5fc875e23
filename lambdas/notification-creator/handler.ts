import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { answerCommands } from '../commands';
import { notificationCreatorEnv, readEnv } from '../env';
import { codeStore, controlStore, jobStore, notificationStore, queue, settingsFrom, surroundings } from '../ports';

const env = readEnv(notificationCreatorEnv, process.env);
const ports = {
  ...surroundings('notification-creator', env),
  settings: settingsFrom(env),
  jobs: jobStore(env),
  notifications: notificationStore(env),
  code: codeStore(env),
  control: controlStore(env),
  replies: { 'notify-created': queue(env.NOTIFY_CREATED_QUEUE_URL) },
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return answerCommands('notify-create', event, ports);
}
