import { createApp } from '../../src/http/app';
import { apiEnv, readEnv } from '../env';
import * as made from '../ports';
import { gatewayHandler } from './gateway-handler';

const env = readEnv(apiEnv, process.env);
const ports = {
  ...made.surroundings('api', env),
  settings: made.settingsFrom(env),
  jobs: made.jobStore(env),
  runs: made.runStore(env),
  notifications: made.notificationStore(env),
  code: made.codeStore(env),
  control: made.controlStore(env),
  groups: made.groupStore(env),
  activations: made.queue(env.JOB_ACTIVATION_QUEUE_URL),
  highActivations: made.queue(env.JOB_ACTIVATION_HIGH_QUEUE_URL),
  notify: made.queue(env.NOTIFY_QUEUE_URL),
  commands: {
    'job-create': made.queue(env.JOB_CREATE_QUEUE_URL),
    'notify-delete': made.queue(env.NOTIFY_DELETE_QUEUE_URL),
  },
};

export const handler = gatewayHandler(createApp({ ports, isLocal: false }));
