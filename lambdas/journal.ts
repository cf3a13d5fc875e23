import { Logger } from '@aws-lambda-powertools/logger';
import type { Journal } from '../src/ports';

/** One JSON line per decision, in the function's log group. Ids and reasons, never payloads, results or error texts of users. */
export function createJournal(functionName: string): Journal {
  const logger = new Logger({ serviceName: functionName });
  return {
    transition({ jobId, runId, sequence, state, attempt, reason }) {
      logger.info('run', { jobId, runId, sequence, state, attempt, ...(reason === undefined ? {} : { reason }) });
    },
    note: (what, details) => logger.info(what, details),
  };
}
