import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { answerCommands } from '../commands';
import { jobDeleterEnv, readEnv } from '../env';
import { controlStore, groupStore, jobStore, queue, runStore, settingsFrom, surroundings } from '../ports';

const env = readEnv(jobDeleterEnv, process.env);
const ports = {
  ...surroundings('job-deleter', env),
  settings: settingsFrom(env),
  jobs: jobStore(env),
  runs: runStore(env),
  control: controlStore(env),
  groups: groupStore(env),
  activations: queue(env.JOB_ACTIVATION_QUEUE_URL),
  highActivations: queue(env.JOB_ACTIVATION_HIGH_QUEUE_URL),
  notify: queue(env.NOTIFY_QUEUE_URL),
  // the notification deleter gets the same request
  commands: { 'notify-delete': queue(env.NOTIFY_DELETE_QUEUE_URL) },
  replies: { 'job-deleted': queue(env.JOB_DELETED_QUEUE_URL) },
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return answerCommands('job-delete', event, ports);
}
