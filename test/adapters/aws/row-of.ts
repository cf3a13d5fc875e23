import type { Job, JobRow } from '../../../src/domain/job';

/** The job without its payload. */
export function rowOf(job: Job): JobRow {
  const row: Partial<Job> = { ...job };
  delete row.payload;
  return row as JobRow;
}
