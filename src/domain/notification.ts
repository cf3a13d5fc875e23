import type { GroupKind, GroupState } from './group';
import { RUN_STATES, type RunState } from './run-state';

/** What a chain or batch can become, as a state to subscribe to. */
export type GroupEventState = `${Uppercase<GroupKind>}_${GroupState}`;

export const GROUP_EVENT_STATES = [
  'CHAIN_RUNNING',
  'CHAIN_DONE',
  'CHAIN_FAILED',
  'CHAIN_CANCELLED',
  'BATCH_RUNNING',
  'BATCH_DONE',
  'BATCH_FAILED',
  'BATCH_CANCELLED',
] as const satisfies readonly GroupEventState[];

export type NotificationState = RunState | GroupEventState;
export const NOTIFICATION_STATES = [...RUN_STATES, ...GROUP_EVENT_STATES] as const;

/** Whoever subscribes to this in the place of a job hears of all jobs, chains and batches. */
export const OF_ALL = { jobId: '*', lifeId: '*' } as const;

/** A subscription of code to a state of a job's runs. */
export interface Notification {
  jobId: string;
  notifyId: string;
  state: NotificationState;
  functionArn: string;
  codeId: string;
  /** the life of the job that it belongs to, see JobRow.lifeId */
  lifeId: string;
  /** epoch ms */
  createdAt: number;
}
