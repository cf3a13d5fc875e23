import type { RunState } from './run';

/** A subscription of code to a state of a job's runs. */
export interface Notification {
  jobId: string;
  notifyId: string;
  state: RunState;
  functionArn: string;
  codeId: string;
  /** the life of the job that it belongs to, see JobRow.lifeId */
  lifeId: string;
  /** epoch ms */
  createdAt: number;
}
