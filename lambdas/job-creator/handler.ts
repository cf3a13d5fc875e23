import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { answerCommands } from '../commands';
import { jobCreatorEnv, readEnv } from '../env';
import {
  codeStore,
  controlStore,
  jobStore,
  notificationStore,
  queue,
  runStore,
  settingsFrom,
  surroundings,
} from '../ports';

const env = readEnv(jobCreatorEnv, process.env);
const ports = {
  ...surroundings('job-creator', env),
  settings: settingsFrom(env),
  jobs: jobStore(env),
  runs: runStore(env),
  notifications: notificationStore(env),
  code: codeStore(env),
  control: controlStore(env),
  activations: queue(env.JOB_ACTIVATION_QUEUE_URL),
  highActivations: queue(env.JOB_ACTIVATION_HIGH_QUEUE_URL),
  notify: queue(env.NOTIFY_QUEUE_URL),
  replies: { 'job-created': queue(env.JOB_CREATED_QUEUE_URL) },
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return answerCommands('job-create', event, ports);
}
