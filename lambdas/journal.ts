import { Logger } from '@aws-lambda-powertools/logger';
import type { Run } from '../src/domain/run';
import type { Journal } from '../src/ports';
import { embedded, type Measures } from './metrics';

/**
 * One JSON line per decision, in the function's log group. Ids and reasons, never payloads, results or error texts of users.
 * Given the stack's name, a line that tells of something countable carries its metrics.
 */
export function createJournal(functionName: string, countedFor: string | false = false): Journal {
  const logger = new Logger({ serviceName: functionName });
  const counted = (measures: Measures) => (countedFor === false ? {} : embedded(measures, countedFor, Date.now()));
  return {
    transition(run) {
      const { jobId, runId, sequence, state, attempt, reason } = run;
      const ids = { jobId, runId, sequence, state, attempt, ...(reason === undefined ? {} : { reason }) };
      logger.info('run', { ...ids, ...counted(measuresOf(run)) });
    },
    note: (what, details) => logger.info(what, { ...details, ...(what === 'ticked' ? counted({ Ticks: 1 }) : {}) }),
  };
}

function measuresOf(run: Run): Measures {
  switch (run.state) {
    case 'STARTED':
      return run.latenessMs === undefined ? {} : { LatenessMs: run.latenessMs };
    // The ratio of the two is watched, and CloudWatch reckons with nothing where it has no value of one.
    case 'DONE':
      return { RunsDone: 1, RunsFailed: 0 };
    case 'FAILED':
      return { RunsDone: 0, RunsFailed: 1 };
    case 'SKIPPED':
      return { RunsSkipped: 1 + (run.alsoCovers ?? 0) };
    case 'CANCELLED':
      return { RunsCancelled: 1 };
    case 'SCHEDULED':
    case 'RELEASED':
      return {};
  }
}
