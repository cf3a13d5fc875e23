import type { AttemptRecord, Run } from './run';

/** With an error's text of 2 KiB each, these are most of what the row of a run may weigh. */
const MOST_IN_ROW = 10;
export const PAGE_ATTEMPTS = 5;

/** Records of attempts that are kept beside a run: the oldest of those that its row had then. */
export interface AttemptPage {
  /** how many are kept before these */
  first: number;
  records: readonly AttemptRecord[];
}

/**
 * The run with no more attempts than its row has place for, and those that have to be kept beside it. The same attempts always
 * come to the same pages.
 */
export function fitAttempts(run: Run): { run: Run; pages: AttemptPage[] } {
  const pages: AttemptPage[] = [];
  let { attempts, attemptsBeside = 0 } = run;
  while (attempts.length > MOST_IN_ROW) {
    pages.push({ first: attemptsBeside, records: attempts.slice(0, PAGE_ATTEMPTS) });
    attempts = attempts.slice(PAGE_ATTEMPTS);
    attemptsBeside += PAGE_ATTEMPTS;
  }
  return pages.length === 0 ? { run, pages } : { run: { ...run, attempts, attemptsBeside }, pages };
}
