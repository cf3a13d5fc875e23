import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { LEASE_MS } from '../../src/domain/claim';
import { runActivations } from '../../src/operations/run-activation';
import { comeAgain, messagesOf } from '../batch';
import { readEnv, runnerEnv } from '../env';
import {
  codeStore,
  controlStore,
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
  activations: queue(env.JOB_ACTIVATION_QUEUE_URL),
  notify: queue(env.NOTIFY_QUEUE_URL),
  invoker: lambdaInvoker(),
};

export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const messages = messagesOf(event);
  const receipts = messages.map(({ receipt }) => receipt);
  // The queue hides them for as long as a function may live, or AWS refuses the mapping: were this one to die, they would rest as long.
  await ports.activations.hide(receipts, LEASE_MS).catch((error: Error) => {
    ports.journal.note('visibility-not-shortened', { error: error.name });
  });
  return comeAgain(await runActivations(messages, ports));
}
