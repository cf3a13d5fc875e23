import type { Callbacks } from './group';
import type { JobRequest } from './job-request';

/** What a caller asks for when creating a chain or batch, checked and with its defaults filled in. */
export interface GroupRequest {
  name?: string;
  /** each a job, or a chain of several; a chain has one of these. Their schedules are immediate or a delay, counted from their turn */
  members: readonly (readonly JobRequest[])[];
  callbacks: Callbacks;
  allowFailures?: boolean;
}
