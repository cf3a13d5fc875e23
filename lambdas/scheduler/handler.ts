import { sweep } from '../../src/operations/sweep';
import { tick } from '../../src/operations/tick';
import { readEnv, schedulerEnv } from '../env';
import { controlStore, groupStore, jobStore, queue, runStore, settingsFrom, surroundings } from '../ports';
import { answerTo, loopStartOf, type SchedulerAnswer, type SchedulerEvent } from './event';

const env = readEnv(schedulerEnv, process.env);
const ports = {
  ...surroundings('scheduler', env),
  settings: settingsFrom(env),
  jobs: jobStore(env),
  runs: runStore(env),
  control: controlStore(env),
  groups: groupStore(env),
  activations: queue(env.JOB_ACTIVATION_QUEUE_URL),
  highActivations: queue(env.JOB_ACTIVATION_HIGH_QUEUE_URL),
  deadActivations: queue(env.JOB_ACTIVATION_DEAD_LETTER_QUEUE_URL),
  notify: queue(env.NOTIFY_QUEUE_URL),
};

/** One tick of a loop for the state machine, or the daily sweep for its rule. */
export async function handler(event: SchedulerEvent): Promise<SchedulerAnswer | { sentAgain: number }> {
  if ('sweep' in event) return sweep(ports);
  const result = await tick({ loopStartedAt: loopStartOf(event), isFirst: event.isFirst }, ports);
  ports.journal.note('ticked', { done: result.done, reason: result.reason });
  return answerTo(result);
}
