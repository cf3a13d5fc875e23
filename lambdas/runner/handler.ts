import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { LEASE_MS } from '../../src/domain/claim';
import { runActivations } from '../../src/operations/run-activation';
import type { Queue } from '../../src/ports';
import { comeAgain, messagesOf } from '../batch';
import { readEnv, runnerEnv } from '../env';
import {
  codeStore,
  controlStore,
  groupStore,
  jobStore,
  lambdaInvoker,
  queue,
  runStore,
  settingsFrom,
  surroundings,
} from '../ports';

const env = readEnv(runnerEnv, process.env);
const ports = {
  ...surroundings('runner', env),
  settings: settingsFrom(env),
  jobs: jobStore(env),
  runs: runStore(env),
  code: codeStore(env),
  control: controlStore(env),
  groups: groupStore(env),
  activations: queue(env.JOB_ACTIVATION_QUEUE_URL),
  highActivations: queue(env.JOB_ACTIVATION_HIGH_QUEUE_URL),
  notify: queue(env.NOTIFY_QUEUE_URL),
  invoker: lambdaInvoker(),
};

/** One mapping feeds on each of the two queues; a batch comes from one of them. */
function queueOf(event: SQSEvent): Queue {
  const name = event.Records[0]?.eventSourceARN.split(':').at(-1);
  const isHigh = name !== undefined && env.JOB_ACTIVATION_HIGH_QUEUE_URL.endsWith(`/${name}`);
  return isHigh ? ports.highActivations : ports.activations;
}

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const source = queueOf(event);
  const messages = messagesOf(event);
  const receipts = messages.map(({ receipt }) => receipt);
  // The queue hides them for as long as a function may live, or AWS refuses the mapping: were this one to die, they would rest as long.
  await source.hide(receipts, LEASE_MS).catch((error: Error) => {
    ports.journal.note('visibility-not-shortened', { error: error.name });
  });
  return comeAgain(await runActivations(messages, ports, source));
}
