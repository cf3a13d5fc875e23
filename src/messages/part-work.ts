import { parseJsonObject } from './activation';

/** The message that asks a runner to bring a part of a chain or batch on its way: a level, not an edge, so it may come twice. */
export interface PartWork {
  version: 1;
  kind: 'part';
  groupId: string;
  partId: string;
  /** since when this message is sent again because the group's head is not there yet, epoch ms */
  waitingSince?: number;
  /** what it asks for was asked for before, most likely */
  isReminder?: boolean;
}

/** The part's work in a message's body, or undefined when it is none. */
export function parsePartWork(body: string): PartWork | undefined {
  const value = parseJsonObject(body);
  if (!value || value['version'] !== 1 || value['kind'] !== 'part') return undefined;
  const { groupId, partId, waitingSince, isReminder } = value;
  if (typeof groupId !== 'string' || typeof partId !== 'string') return undefined;
  return {
    version: 1,
    kind: 'part',
    groupId,
    partId,
    ...(typeof waitingSince === 'number' ? { waitingSince } : {}),
    ...(isReminder === true ? { isReminder } : {}),
  };
}
