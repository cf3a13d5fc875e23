import { runIdOf } from '../domain/activation';
import { ConflictError, NotFoundError } from '../domain/errors';
import { memberJobIdOf, type Group, type GroupPart } from '../domain/group';
import { GROUP_ENDS, isAnew, isSettled, nominalAtIn, turnsOf, withSkipped } from '../domain/group-part';
import { isFinal, type Run } from '../domain/run';
import type { PartWork } from '../messages/part-work';
import { cancelRun } from './cancel-run';
import type { FollowUpPorts } from './follow-up';
import { dueAtOf, memberRows, recordSkipped, sendTurns, type Turn } from './member-runs';
import { wasReminded } from './reminders';
import { settleMember } from './settle-member';
import { pauseAfterLoss, tellGroup } from './tell-group';

export { parsePartWork, type PartWork } from '../messages/part-work';

/** A message may overtake the head of its group: waits in ms between the looks for it, before the message is sent again. */
const HEAD_WAITS_MS = [5, 20, 75, 300];
/** So long a message without a head to belong to is sent again, and at this interval: its create has failed. */
const ORPHAN_MS = 60_000;
const ORPHAN_INTERVAL_MS = 3_000;
/** Runs that begin while they are to be ended are looked at once more. */
const MOST_LOOKS = 5;
const MOST_LOST_WRITES = 50;

/** Sends what is next in each chain of the part; of a cancelled group, ends what has not begun. `sentAt` in epoch ms. */
export async function advancePart(work: PartWork, sentAt: number, ports: FollowUpPorts): Promise<void> {
  const head = await headOf(work, ports);
  if (!head) return waitForHead(work, sentAt, ports);
  const part = await ports.groups.readPart(work.groupId, work.partId);
  if (!part) return ports.journal.note('part-not-found', { groupId: work.groupId, partId: work.partId });

  if (head.cancelledAt !== undefined) await endPending(part, head, ports);
  else {
    // What was sent again after the failure goes on, and nothing else.
    if (head.stoppedAt !== undefined) await endPending(part, head, ports);
    await sendNext(part, head, work.isReminder === true, ports);
  }
  if (isSettled(part)) await tellGroup(part, false, ports);
}

/** The head, once it knows the part. */
async function headOf({ groupId, partId }: PartWork, { clock, groups }: FollowUpPorts): Promise<Group | undefined> {
  for (const waitMs of [...HEAD_WAITS_MS, undefined]) {
    const head = await groups.read(groupId);
    if (head?.parts[partId] !== undefined) return head;
    if (waitMs !== undefined) await clock.waitUntil(clock.now() + waitMs);
  }
  return undefined;
}

async function waitForHead(work: PartWork, sentAt: number, { clock, highActivations, journal }: FollowUpPorts) {
  const { groupId, partId, waitingSince = sentAt } = work;
  if (clock.now() - waitingSince >= ORPHAN_MS) return journal.note('part-dropped', { groupId, partId });
  const again: PartWork = { ...work, waitingSince };
  await highActivations.send([{ body: JSON.stringify(again), delayMs: ORPHAN_INTERVAL_MS }]);
}

async function sendNext(part: GroupPart, head: Group, isReminder: boolean, ports: FollowUpPorts): Promise<void> {
  const turns = turnsOf(part).filter(({ index }) => head.stoppedAt === undefined || isAnew(part, index));
  const rows = await memberRows(
    part,
    turns.map(({ index }) => index),
    ports,
  );
  const known = turns.flatMap(({ index, previous }) => {
    const job = rows.get(index);
    return job ? [{ index, previous, job }] : [];
  });
  const sent = known.map(async ({ index, previous, job }): Promise<Turn> => {
    const nominalAt = nominalAtIn(part, index, head.createdAt);
    const before = previous === undefined ? undefined : await runAt(part, previous, head, ports);
    if (!before) return { job, nominalAt, at: Math.max(job.createdAt, nominalAt) };
    const { jobId, runId, finishedAt = before.changedAt } = before;
    return { job, nominalAt, at: finishedAt, previous: { jobId, runId } };
  });
  // A long delay goes round in the queue: each reminder before its end would send one more message round with it.
  const now = ports.clock.now();
  const due = (await Promise.all(sent)).filter((turn) => !isReminder || dueAtOf(turn) <= now);
  const isToSend = await Promise.all(due.map(async ({ job }) => !isReminder || !(await wasReminded(job, now, ports))));
  await sendTurns(
    due.filter((_, nth) => isToSend[nth]),
    ports,
  );
}

function runAt(part: GroupPart, index: number, head: Group, { runs }: FollowUpPorts): Promise<Run | undefined> {
  const jobId = memberJobIdOf(part, index);
  return runs.read(jobId, runIdIn(part, index, head));
}

export function runIdIn(part: GroupPart, index: number, head: Pick<Group, 'createdAt'>): string {
  const nominalAt = nominalAtIn(part, index, head.createdAt);
  return runIdOf({ jobId: memberJobIdOf(part, index), nominalAt, origin: 'scheduled', generation: '' });
}

/** Of a cancelled group everything that is pending; of a stopped one what has not begun, and what waits between two attempts. */
async function endPending(part: GroupPart, head: Group, ports: FollowUpPorts): Promise<void> {
  const reason = GROUP_ENDS[head.kind];
  const skipped: number[] = [];
  let left = Array.from(part.states, (_, index) => index).filter(
    (index) => part.states[index] === 'P' && (head.cancelledAt !== undefined || !isAnew(part, index)),
  );
  for (let looks = 0; looks < MOST_LOOKS && left.length > 0; looks++) {
    const runs = await Promise.all(left.map(async (index) => ({ index, run: await runAt(part, index, head, ports) })));
    for (const { run } of runs) if (run) await endBegun(run, head, reason, ports);
    const absent = runs.filter(({ run }) => !run).map(({ index }) => index);
    // Those that began meanwhile are looked at again.
    left = await recordSkipped(part, absent, { reason, groupCreatedAt: head.createdAt }, ports);
    skipped.push(...absent.filter((index) => !left.includes(index)));
  }
  await markSkipped(part, skipped, head, ports);
}

async function endBegun(run: Run, head: Group, reason: string, ports: FollowUpPorts): Promise<void> {
  const { jobId, runId, state } = run;
  if (isFinal(state)) {
    const [job] = await ports.jobs.readRows([jobId]);
    if (job) await settleMember(run, job, ports);
    return;
  }
  // What is at work when a batch is stopped may finish.
  if (head.cancelledAt === undefined && (state === 'STARTED' || run.series)) return;
  try {
    await cancelRun(jobId, runId, { reason }, ports);
  } catch (error) {
    // It was over before, and told its group so.
    if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
  }
}

async function markSkipped(
  seen: GroupPart,
  indexes: readonly number[],
  head: Group,
  ports: FollowUpPorts,
): Promise<void> {
  if (indexes.length === 0) return;
  const runs = indexes.map((index) => ({ index, nominalAt: nominalAtIn(seen, index, head.createdAt) }));
  for (let lost = 0; lost < MOST_LOST_WRITES; lost++) {
    const part = await ports.groups.readPart(seen.groupId, seen.partId);
    const next = part && withSkipped(part, runs, head.createdAt);
    if (!part || !next) return;
    if (await ports.groups.putPart(next, part)) return isSettled(next) ? tellGroup(next, false, ports) : undefined;
    await pauseAfterLoss(lost, ports);
  }
  throw new Error(
    `part ${seen.partId} of ${seen.groupId} changed ${MOST_LOST_WRITES} times while it was to be written`,
  );
}
