import { checkAnswers } from './answers';
import { checkCalm } from './calm';
import type { Facts } from './facts';
import { checkGroups } from './groups';
import { checkHolds } from './holds';
import { checkJobs } from './jobs';
import { checkNotices } from './notices';
import { checkRest } from './rest';
import { checkRuns } from './runs';

/** What must hold of every history, whatever went wrong in it. */
export const LAWS: readonly ((facts: Facts) => void)[] = [
  checkRest,
  checkRuns,
  checkJobs,
  checkHolds,
  checkGroups,
  checkNotices,
  checkAnswers,
  checkCalm,
];
