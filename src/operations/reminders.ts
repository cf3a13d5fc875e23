import { activationOf } from '../domain/activation';
import type { JobRow } from '../domain/job';
import type { Run } from '../domain/run';
import type { Ports } from '../ports';
import { sendActivations, type ActivationPorts } from './send-activations';

const REMINDED_AGAIN_MS = 10 * 86_400_000;
/** Long enough for the write that follows the message, and for the process that makes it to be dead if it did not. */
export const UNTIL_WRITTEN_MS = 60_000;

/**
 * What a limit holds back has no record that tells whether its message is lost, and each message more goes round until the run begins:
 * one is sent in ten days, not each day.
 */
export async function wasReminded(job: JobRow, now: number, { control }: Pick<Ports, 'control'>): Promise<boolean> {
  if (!job.concurrency && !job.rateLimit) return false;
  const name = `reminded:${job.jobId}`;
  return !(await control.put({ name, value: String(now), expiresAt: now + REMINDED_AGAIN_MS }));
}

/**
 * Before the write that takes a run out of the due index: a process that dies right after it has left a message that leads to what
 * follows from the run. Whatever it meets, it starts nothing before its instant.
 */
export async function sendReminder(run: Run, ports: ActivationPorts): Promise<void> {
  const now = ports.clock.now();
  const activation = { ...activationOf(run), dueAt: Math.min(run.dueAt, now) };
  await sendActivations([{ activation, deliverAt: now + UNTIL_WRITTEN_MS }], ports);
}
