import { FAILED_RUNS } from './failed-runs';
import { GROUPS } from './groups';
import { JOBS } from './jobs';
import { LIMITS } from './limits';
import { PEOPLE } from './people';
import type { Scenarios } from './play';

export const SCENARIOS: Scenarios = { ...JOBS, ...FAILED_RUNS, ...GROUPS, ...LIMITS, ...PEOPLE };
