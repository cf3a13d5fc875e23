import type { JobRow } from '../domain/job';
import type { Run } from '../domain/run';
import type { Ports } from '../ports';

/**
 * A job must not reach the end of its retention while its run still waits, or is kept among the failed ones for somebody who may
 * send it again. `job` may be older than its row: that is only read where its end comes too early.
 */
export async function keepJob(
  run: Run,
  { jobId, expiresAt }: JobRow,
  { jobs, settings }: Pick<Ports, 'jobs' | 'settings'>,
): Promise<void> {
  const needed = neededUntil(run, settings.retentionMs);
  if (!needed || expiresAt === undefined || needed.least <= expiresAt) return;
  for (;;) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || row.state === 'DELETED' || row.expiresAt === undefined || needed.least <= row.expiresAt) return;
    if (await jobs.update({ ...row, revision: row.revision + 1, expiresAt: needed.given }, row)) return;
  }
}

/** An end that is too early, and the one that is given instead: later, so that a run that waits again and again writes seldom. */
function neededUntil(run: Run, retentionMs: number): { least: number; given: number } | undefined {
  const waitsUntil = run.state === 'RELEASED' ? run.dueAt : run.isAwaited ? run.leaseUntil : undefined;
  if (waitsUntil !== undefined) return { least: waitsUntil + retentionMs / 2, given: waitsUntil + retentionMs };
  return run.state === 'FAILED' ? { least: run.expiresAt, given: run.expiresAt } : undefined;
}
