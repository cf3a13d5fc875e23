import type { FollowUpPorts } from './follow-up';

/** The message that asks a runner to bring a part of a chain or batch on its way: a level, not an edge, so it may come twice. */
export interface PartWork {
  version: 1;
  kind: 'part';
  groupId: string;
  partId: string;
}

export function parsePartWork(_body: string): PartWork | undefined {
  return undefined;
}

/** Sends what is next in each chain of the part; of a cancelled group, ends what has not begun. `sentAt` in epoch ms. */
export async function advancePart(_work: PartWork, _sentAt: number, _ports: FollowUpPorts): Promise<void> {}
