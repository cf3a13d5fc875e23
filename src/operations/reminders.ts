import type { JobRow } from '../domain/job';
import type { Ports } from '../ports';

const REMINDED_AGAIN_MS = 10 * 86_400_000;

/**
 * What a limit holds back has no record that tells whether its message is lost, and each message more goes round until the run begins:
 * one is sent in ten days, not each day.
 */
export async function wasReminded(job: JobRow, now: number, { control }: Pick<Ports, 'control'>): Promise<boolean> {
  if (!job.concurrency && !job.rateLimit) return false;
  const name = `reminded:${job.jobId}`;
  return !(await control.put({ name, value: String(now), expiresAt: now + REMINDED_AGAIN_MS }));
}
