import type { Run } from './run';

/** Which failed runs are meant; what is absent is not asked about. */
export interface FailedFilter {
  jobId?: string;
  /** failed at or after this, epoch ms */
  since?: number;
  /** the reason of the run, or the type of its error */
  reason?: string;
}

/** Is it kept among the failed runs? What is past its end is not, though nothing has removed it yet. */
export function isKeptFailed(run: Run, now: number, failedRetentionMs: number): boolean {
  const { failedAt, expiresAt } = run;
  return failedAt !== undefined && failedAt + failedRetentionMs > now && expiresAt > now;
}

export function hasReason(run: Run, reason: string | undefined): boolean {
  return reason === undefined || run.reason === reason || run.error?.type === reason;
}

/** Has somebody sent it again, so that its next series is on its way or at work? */
export function isSentAgain({ series, state }: Run): boolean {
  return series !== undefined && (state === 'RELEASED' || state === 'STARTED');
}
