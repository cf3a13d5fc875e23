import type { Group, GroupKind, Tally } from '../domain/group';
import type { GroupRequest } from '../domain/group-request';
import type { JobRequest } from '../domain/job-request';
import type { MemberState } from '../domain/group';
import type { Page, PageQuery, Ports } from '../ports';
import type { FollowUpPorts } from './follow-up';

export type GroupPorts = FollowUpPorts & Pick<Ports, 'notifications'>;

export interface GroupStanding {
  group: Group;
  tally: Tally;
}

/** A job of a group as it stands. `runId` names its run, which has a row once it has begun or ended. */
export interface Member {
  jobId: string;
  runId: string;
  state: MemberState;
}

/**
 * Creates a chain or batch with all its jobs, and puts what comes first on its way. A repeat of the same request changes
 * nothing more.
 * @throws InputError with fields such as `jobs[3].target.functionArn`; ConflictError as in `createJob`
 */
export async function createGroup(
  _kind: GroupKind,
  _requestId: string,
  _request: GroupRequest,
  _ports: GroupPorts,
): Promise<GroupStanding> {
  throw new Error('not yet');
}

/** Adds jobs to a batch that is still RUNNING. @throws NotFoundError; ConflictError when it is over; InputError */
export async function addToBatch(
  _batchId: string,
  _requestId: string,
  _members: readonly (readonly JobRequest[])[],
  _ports: GroupPorts,
): Promise<GroupStanding> {
  throw new Error('not yet');
}
