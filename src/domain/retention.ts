/**
 * How long the row of a recurring job is kept once its schedule is over, in ms: as long as a run of it may be sent again by a
 * person. That of a one-off must not outlive the record of its run, by which it is known that it ran.
 */
export function jobKeptMs(settings: { retentionMs: number; failedRetentionMs: number }): number {
  return Math.max(settings.retentionMs, settings.failedRetentionMs);
}
