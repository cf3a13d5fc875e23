import type { Callbacks, Group, GroupPart } from './group';
import { isSettled } from './group-part';

/**
 * The head after it heard of a part; undefined when it knows that already, or need not. `isSentAgain`: somebody sent a job of it
 * again, so that the failure which stopped the batch is taken back.
 */
export function withReport(head: Group, part: GroupPart, isSentAgain: boolean): Group | undefined {
  const { [part.partId]: known } = head.parts;
  if (known === undefined || Math.abs(known) >= part.revision) return undefined;
  const value = isSettled(part) ? part.revision : -part.revision;
  const isNews = value > 0 || known > 0;
  const { stoppedAt, ...unstopped } = head;
  const isTakenBack = isSentAgain && stoppedAt !== undefined;
  if (!isNews && !isTakenBack) return undefined;
  const told = { ...(isTakenBack ? unstopped : head), parts: { ...head.parts, [part.partId]: value } };
  return value < 0 ? goingOn(told) : told;
}

/** Something is pending again. */
function goingOn(head: Group): Group {
  const { finishedAt, ...rest } = head;
  if (finishedAt === undefined) return head;
  return head.cancelledAt === undefined ? { ...rest, state: 'RUNNING', sequence: head.sequence + 1 } : rest;
}

/** Has every part said that nothing in it is pending? */
export function isAllSettled({ parts }: Group): boolean {
  return Object.values(parts).every((revision) => revision > 0);
}

/**
 * The head once all is over: undefined while it is not, or when the head says so already. `parts` as read after the head: one that
 * is newer than the head knows will be reported yet.
 */
export function decideEnd(head: Group, parts: readonly GroupPart[], now: number): Group | undefined {
  const byId = new Map(parts.map((part) => [part.partId, part]));
  const listed = Object.entries(head.parts);
  if (!listed.every(([partId, revision]) => revision > 0 && byId.get(partId)?.revision === revision)) return undefined;
  const state = endState(
    head,
    listed.map(([partId]) => byId.get(partId)!),
  );
  if (head.finishedAt !== undefined && state === head.state) return undefined;
  return {
    ...head,
    state,
    sequence: state === head.state ? head.sequence : head.sequence + 1,
    finishedAt: now,
    ...(head.callbacks.progress === undefined ? {} : { percent: 100 }),
  };
}

function endState(head: Group, parts: readonly GroupPart[]): Group['state'] {
  if (head.cancelledAt !== undefined) return 'CANCELLED';
  return head.allowFailures || parts.every(({ states }) => /^D*$/.test(states)) ? 'DONE' : 'FAILED';
}

/** Does a group that is over call its `catch`, unless it did before? Its head alone does not tell for certain. */
export function mayBeBroken({ callbacks, state, allowFailures }: Group): boolean {
  return callbacks.catch !== undefined && (state === 'FAILED' || (state === 'DONE' && allowFailures === true));
}

/** What a group that is over calls, each once in its life. */
export function callbacksAtEnd({ callbacks, state, parts }: Group, isBroken: boolean): (keyof Callbacks)[] {
  const isDue: Record<keyof Callbacks, boolean> = {
    progress: Object.keys(parts).length > 0,
    catch: isBroken,
    then: state === 'DONE',
    finally: true,
  };
  return (Object.keys(isDue) as (keyof Callbacks)[]).filter((which) => isDue[which] && callbacks[which] !== undefined);
}

/** The head of a batch that a failure stops: what has not begun is not started any more. undefined where nothing is to stop. */
export function decideStop(head: Group, now: number): Group | undefined {
  const isStoppable = head.kind === 'batch' && !head.allowFailures && head.state === 'RUNNING';
  return isStoppable && head.stoppedAt === undefined ? { ...head, stoppedAt: now } : undefined;
}

/** Parts in which something was pending when the head last heard of them. */
export function pendingParts({ parts }: Group): string[] {
  return Object.keys(parts).filter((partId) => parts[partId]! < 0);
}
