import type { GroupKind } from '../domain/group';
import type { GroupPorts, GroupStanding } from './create-group';

/** Takes a chain or batch back: what has not begun never starts, what runs is asked to stop. Twice is once. @throws NotFoundError; ConflictError when it is over */
export async function cancelGroup(_kind: GroupKind, _groupId: string, _ports: GroupPorts): Promise<GroupStanding> {
  throw new Error('not yet');
}

/** Sends again what failed, and with it what was skipped for that. @throws NotFoundError; ConflictError when nothing failed, or it was cancelled */
export async function retryGroup(_kind: GroupKind, _groupId: string, _ports: GroupPorts): Promise<GroupStanding> {
  throw new Error('not yet');
}
