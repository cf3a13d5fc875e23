import { ConflictError, NotFoundError } from '../domain/errors';
import { memberJobIdOf, type Group, type GroupKind, type GroupPart } from '../domain/group';
import { pendingParts } from '../domain/group-head';
import { brokenOff, decideRevival, endedWithGroup, isAnew } from '../domain/group-part';
import { runIdIn } from './advance-part';
import { headOf, standingOf, type GroupPorts, type GroupStanding } from './create-group';
import { retryFailed } from './failed-runs';
import { sendPartWork } from './send-part-work';
import { renameRuns } from './settle-member';
import { changeHead, listed, pauseAfterLoss, tellGroup } from './tell-group';

/** So many failed runs are sent again at a time. */
const SIDE_BY_SIDE = 10;
const MOST_LOST_WRITES = 50;

/** Takes a chain or batch back: what has not begun never starts, what runs is asked to stop. Twice is once. @throws NotFoundError; ConflictError when it is over */
export async function cancelGroup(kind: GroupKind, groupId: string, ports: GroupPorts): Promise<GroupStanding> {
  const seen = await headOf(kind, groupId, ports);
  const cancelled = await changeHead(
    groupId,
    async (head): Promise<Group> => {
      if (head.cancelledAt !== undefined) return head;
      if (head.state !== 'RUNNING')
        throw new ConflictError(`${kind}Id`, `${kind} ${groupId} is over: it is ${head.state}`);
      const cancelledAt = ports.clock.now();
      return { ...head, cancelledAt, state: 'CANCELLED', sequence: head.sequence + 1 };
    },
    ports,
  );
  const group = cancelled ?? seen;
  await sendPartWork(groupId, pendingParts(group), ports);
  return standingOf(group, ports);
}

/**
 * Sends again what failed, and with it what was skipped for that, also if all that failed was sent again one by one.
 * @throws NotFoundError; ConflictError when nothing failed, it was cancelled, or nothing of it may be sent again
 */
export async function retryGroup(kind: GroupKind, groupId: string, ports: GroupPorts): Promise<GroupStanding> {
  const head = await headOf(kind, groupId, ports);
  if (head.cancelledAt !== undefined) {
    throw new ConflictError(`${kind}Id`, `${kind} ${groupId} was cancelled; nothing of it can be sent again`);
  }
  const parts = listed(head, await ports.groups.readParts(groupId));
  const failed = parts.flatMap((part) => placesOf(part, 'F').map((index) => ({ part, index })));
  // What failed comes last: as long as it is there, a repeat of this request begins anew.
  const revived = await Promise.all(parts.map((part) => reviveStopped(part, head, ports)));
  const anew = revived.filter((part) => placesOf(part, 'P').some((index) => isAnew(part, index)));
  if (failed.length === 0 && anew.length === 0) {
    throw new ConflictError(`${kind}Id`, `nothing of ${kind} ${groupId} has failed`);
  }
  await sendPartWork(
    groupId,
    anew.map(({ partId }) => partId),
    ports,
  );
  const refusal = await retryAll(failed, head, ports);
  if (refusal && anew.length === 0) throw refusal;
  return readAgain(kind, groupId, ports);
}

async function readAgain(kind: GroupKind, groupId: string, ports: GroupPorts): Promise<GroupStanding> {
  return standingOf(await headOf(kind, groupId, ports), ports);
}

function placesOf({ states }: GroupPart, state: string): number[] {
  return Array.from(states, (one, index) => (one === state ? [index] : [])).flat();
}

/** @returns the first refusal, where nothing could be sent again */
async function retryAll(
  failed: readonly { part: GroupPart; index: number }[],
  head: Group,
  ports: GroupPorts,
): Promise<Error | undefined> {
  const refusals: Error[] = [];
  for (let from = 0; from < failed.length; from += SIDE_BY_SIDE) {
    await Promise.all(
      failed.slice(from, from + SIDE_BY_SIDE).map(async ({ part, index }) => {
        try {
          await retryFailed(memberJobIdOf(part, index), runIdIn(part, index, head), ports);
        } catch (error) {
          if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
          refusals.push(error);
        }
      }),
    );
  }
  return refusals.length === failed.length ? refusals[0] : undefined;
}

/** What a failure stopped gets its turn again, under new runs. @returns the part as it stands then */
async function reviveStopped(seen: GroupPart, head: Group, ports: GroupPorts): Promise<GroupPart> {
  const { groups, clock, runs } = ports;
  let part = seen;
  for (let lost = 0; lost < MOST_LOST_WRITES; lost++) {
    const broken = brokenOff(part);
    const ended = await Promise.all(
      broken.map((index) => runs.read(memberJobIdOf(part, index), runIdIn(part, index, head))),
    );
    const stopped = broken.filter(
      (index, nth) => part.states[index] === 'S' || (ended[nth] && endedWithGroup(ended[nth])),
    );
    if (stopped.length === 0) return part;
    const next = decideRevival(part, stopped, clock.now(), head.createdAt);
    if (await groups.putPart(next, part)) {
      await renameRuns(next, placesOf(next, 'P'), ports);
      await tellGroup(next, true, ports);
      return next;
    }
    await pauseAfterLoss(lost, ports);
    part = (await groups.readPart(part.groupId, part.partId)) ?? part;
  }
  return part;
}
