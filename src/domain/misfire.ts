/** What becomes of occurrences that are found later than their grace. */
export interface MisfirePolicy {
  policy: 'run-once' | 'run-all' | 'skip';
  graceSeconds: number;
}

export const DEFAULT_MISFIRE: MisfirePolicy = { policy: 'run-once', graceSeconds: 60 };

/** `run-all` brings back at most so many, the latest. */
const MOST_MISFIRES_RUN = 100;

/** How many of the missed occurrences, counted from the latest, still run. */
export function misfiresToRun(policy: MisfirePolicy['policy']): number {
  switch (policy) {
    case 'run-once':
      return 1;
    case 'run-all':
      return MOST_MISFIRES_RUN;
    case 'skip':
      return 0;
  }
}
