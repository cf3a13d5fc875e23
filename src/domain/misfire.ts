/** What becomes of occurrences that are found later than their grace. */
export interface MisfirePolicy {
  policy: 'run-once' | 'run-all' | 'skip';
  graceSeconds: number;
}

export const DEFAULT_MISFIRE: MisfirePolicy = { policy: 'run-once', graceSeconds: 60 };
