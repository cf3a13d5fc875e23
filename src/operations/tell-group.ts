import { tallyOf, type Group, type GroupPart } from '../domain/group';
import {
  callbacksAtEnd,
  decideEnd,
  decideStop,
  isAllSettled,
  mayBeBroken,
  pendingParts,
  withReport,
} from '../domain/group-head';
import { isBroken, isSettled } from '../domain/group-part';
import type { Run } from '../domain/run';
import { announceGroup } from './announce-group';
import type { FollowUpPorts } from './follow-up-ports';
import { sendPartWork } from './send-part-work';
import { startCallback } from './start-callback';

/** A head that others keep changing is tried so often. Every loss is another's success. */
const MOST_LOST_WRITES = 50;
const TRY_AGAIN_MS = 10;

/**
 * The head hears of a part, and of the end of it all; what a group that is over calls is called. Doing it twice does no harm.
 * `isSentAgain`: a person sent a job of the part again.
 */
export async function tellGroup(part: GroupPart, isSentAgain: boolean, ports: FollowUpPorts): Promise<void> {
  await changeHead(
    part.groupId,
    async (head) => {
      const heard = withReport(head, part, isSentAgain) ?? head;
      if (!isAllSettled(heard) || (heard === head && head.finishedAt !== undefined)) return heard;
      const parts = await ports.groups.readParts(part.groupId);
      const caughtUp = withReports(heard, parts.filter(isSettled));
      return decideEnd(caughtUp, parts, ports.clock.now()) ?? caughtUp;
    },
    ports,
  );
}

/** Whoever wrote one of these may have died before the head heard of it. */
function withReports(head: Group, parts: readonly GroupPart[]): Group {
  return parts.reduce((heard, part) => withReport(heard, part, false) ?? heard, head);
}

/** A change of the head, and what follows from its state: at its end always, since the process that wrote it may have died then. */
export async function changeHead(
  groupId: string,
  change: (head: Group) => Promise<Group>,
  ports: FollowUpPorts,
): Promise<Group | undefined> {
  for (let lost = 0; lost < MOST_LOST_WRITES; lost++) {
    const seen = await ports.groups.read(groupId);
    if (!seen) return undefined;
    const next = await change(seen);
    const written = next === seen ? seen : { ...next, revision: seen.revision + 1 };
    if (next === seen || (await ports.groups.put(written, seen))) {
      await followGroup(written, written.sequence > seen.sequence, ports);
      return written;
    }
    await pauseAfterLoss(lost, ports);
  }
  throw new Error(`group ${groupId} changed ${MOST_LOST_WRITES} times while it was to be written`);
}

/** Not at once again where many write the same row. */
export async function pauseAfterLoss(lost: number, { clock }: Pick<FollowUpPorts, 'clock'>): Promise<void> {
  if (lost > 1) await clock.waitUntil(clock.now() + TRY_AGAIN_MS * Math.min(lost, 20));
}

/** What follows from a state of a group; doing it twice does no harm. `isNews`: it was written just now. */
export async function followGroup(head: Group, isNews: boolean, ports: FollowUpPorts): Promise<void> {
  const { groupId, kind, state, finishedAt } = head;
  const isOver = finishedAt !== undefined;
  if (!isOver && !isNews) return;
  const parts = once(() => ports.groups.readParts(groupId));
  if (isNews) ports.journal.note(`${kind}-${state.toLowerCase()}`, { groupId });
  await announceGroup(head, async () => tallyOf(listed(head, await parts())), ports);
  if (!isOver) return;
  const broken = mayBeBroken(head) && isBroken(listed(head, await parts()));
  for (const which of callbacksAtEnd(head, broken)) {
    await startCallback(head, which, async () => ({ tally: tallyOf(listed(head, await parts())) }), ports, 100);
  }
}

/** The parts that the head knows, in its order. Those of jobs whose adding is not done yet are left out. */
export function listed(head: Group, parts: readonly GroupPart[]): GroupPart[] {
  const byId = new Map(parts.map((part) => [part.partId, part]));
  return Object.keys(head.parts).flatMap((partId) => byId.get(partId) ?? []);
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}

/**
 * A job of the group ended other than DONE, by itself: a batch that allows no failures is stopped. `isRepeat`: the process that
 * found out may have died before it came here.
 */
export async function stopGroup(part: GroupPart, isRepeat: boolean, ports: FollowUpPorts): Promise<void> {
  const { groupId, partId } = part;
  const pendingBut = (seen: Group) => pendingParts(seen).filter((one) => one !== partId || !isSettled(part));
  let isStoppedNow = false;
  const head = await changeHead(
    groupId,
    (seen) => {
      const stopped = pendingBut(seen).length > 0 ? decideStop(seen, ports.clock.now()) : undefined;
      isStoppedNow = stopped !== undefined;
      return Promise.resolve(stopped ?? seen);
    },
    ports,
  );
  // Whoever wrote that it is stopped sends the word; should he have died, his message comes again.
  const isToSend = isStoppedNow || (isRepeat && head?.stoppedAt !== undefined);
  if (head && isToSend) await sendPartWork(groupId, pendingBut(head), ports);
}

/** Calls `catch`, unless a person took the group back. */
export async function callCatch(run: Run, groupId: string, ports: FollowUpPorts): Promise<void> {
  const head = await ports.groups.read(groupId);
  if (!head || head.cancelledAt !== undefined) return;
  const cause = async () => ({ tally: tallyOf(listed(head, await ports.groups.readParts(groupId))), run });
  await startCallback(head, 'catch', cause, ports);
}

/** Calls `progress` with the percent that the whole has reached, unless it was called for that or more. */
export async function tellProgress(groupId: string, ports: FollowUpPorts): Promise<void> {
  for (let lost = 0; lost < MOST_LOST_WRITES; lost++) {
    const head = await ports.groups.read(groupId);
    if (!head || head.finishedAt !== undefined || head.cancelledAt !== undefined) return;
    const tally = tallyOf(listed(head, await ports.groups.readParts(groupId)));
    const { percent, pending } = tally;
    // The last percent is called at the end.
    if (pending === 0 || percent <= (head.percent ?? 0)) return;
    await startCallback(head, 'progress', () => Promise.resolve({ tally }), ports, percent);
    if (await ports.groups.put({ ...head, revision: head.revision + 1, percent }, head)) return;
    await pauseAfterLoss(lost, ports);
  }
}
