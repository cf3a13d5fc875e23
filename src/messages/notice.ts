import type { GroupEvent, RunEvent } from '../domain/event';
import type { NotificationState } from '../domain/notification';
import { parseJsonObject } from './activation';

/** A message of the notify queue: somebody wants to hear of this transition. */
export interface Notice {
  version: 1;
  jobId: string;
  /** whose subscribers are meant: those of a deleted job are not those of a new one of the same id */
  lifeId: string;
  state: NotificationState;
  event: RunEvent | GroupEvent;
  /** only this subscriber still has to get it; absent: all of them */
  notifyId?: string;
  /** since when the call is held back through no fault of the subscriber, epoch ms */
  heldBackSince?: number;
}

/** The notice in a message's body, or undefined when it is none. */
export function parseNotice(body: string): Notice | undefined {
  const value = parseJsonObject(body);
  const isNotice =
    value?.['version'] === 1 &&
    typeof value['jobId'] === 'string' &&
    typeof value['lifeId'] === 'string' &&
    typeof value['state'] === 'string' &&
    typeof value['event'] === 'object' &&
    value['event'] !== null &&
    ['string', 'undefined'].includes(typeof value['notifyId']) &&
    ['number', 'undefined'].includes(typeof value['heldBackSince']);
  return isNotice ? (value as unknown as Notice) : undefined;
}
