import { memberStateOf, type GroupPart } from '../domain/group';
import {
  decideSettle,
  endedWithGroup,
  GROUP_ENDS,
  isAnew,
  isSettled,
  nominalAtIn,
  reachesPercent,
  type Settlement,
} from '../domain/group-part';
import type { JobRow, Membership } from '../domain/job';
import { isFinal, type Run } from '../domain/run';
import type { FollowUpPorts } from './follow-up-ports';
import { inTurn } from './in-turn';
import { keepGroup } from './keep-group';
import { memberRows, recordSkipped, sendTurns } from './member-runs';
import { callCatch, pauseAfterLoss, stopGroup, tellGroup, tellProgress } from './tell-group';

/** A part that others keep changing is tried so often. Every loss is another's success. */
const MOST_LOST_WRITES = 100;

/** Tells its chain or batch what became of a job's run, and does what follows for the group. Doing it twice does no harm. */
export async function settleMember(run: Run, job: JobRow, ports: FollowUpPorts): Promise<void> {
  const { member } = job;
  if (!member || run.origin !== 'scheduled') return;
  await keepGroup(run, job, member, ports);
  if (!isFinal(run.state) && !(run.state === 'RELEASED' && run.series)) return;

  const part = `${member.groupId}/${member.partId}`;
  const written = await inTurn(ports.groups, part, () => writeOutcome(run, member, ports));
  if (written) await afterSettled(run, member, written.before, written.part, written.settlement, ports);
}

/** @returns the part before and after; undefined where there is none */
async function writeOutcome(run: Run, member: Membership, ports: FollowUpPorts) {
  const { groups } = ports;
  const { index } = member;
  for (let lost = 0; lost < MOST_LOST_WRITES; lost++) {
    const part = await groups.readPart(member.groupId, member.partId);
    if (!part) {
      ports.journal.note('part-not-found', { ...member });
      return undefined;
    }
    const { sequence, nominalAt, changedAt } = run;
    const settlement = decideSettle(part, { index, state: memberStateOf(run.state), sequence, nominalAt, changedAt });
    const { next } = settlement;
    if (!next || (await groups.putPart(next, part))) {
      return { before: part, part: next ?? part, settlement };
    }
    await pauseAfterLoss(lost, ports);
  }
  throw new Error(
    `part ${member.partId} of ${member.groupId} changed ${MOST_LOST_WRITES} times while it was to be written`,
  );
}

async function afterSettled(
  run: Run,
  member: Membership,
  before: GroupPart,
  part: GroupPart,
  { next, turn, skipped, revived, reason }: Settlement,
  ports: FollowUpPorts,
): Promise<void> {
  const state = memberStateOf(run.state);
  if (revived.length > 0) await renameRuns(part, revived, ports);
  if (turn !== undefined) await sendTurnAfter(run, part, turn, ports);
  if (skipped.length > 0) await skipRest(run, member, part, skipped, ports);
  const isCurrent = reason !== 'superseded' && reason !== 'of-another-life';
  const isBreak = isCurrent && (state === 'F' || (state === 'S' && !endedWithGroup(run)));
  if (isBreak) await stopGroup(part, reason === 'repeated', ports);
  // What a person sent again has failed before, and whoever was to tell of that may have died.
  if (isBreak || run.series) await callCatch(run, part.groupId, ports);
  // The head hears of a part's end, of its going on again, and of whatever it may not have heard because a process died.
  const isOfNote = isSettled(part) || isSettled(before) || (!next && part.sequences !== undefined);
  if (isOfNote || reason === 'sent-again') await tellGroup(part, reason === 'sent-again', ports);
  if (next && isFinal(run.state) && reachesPercent(before, part)) await tellProgress(part.groupId, ports);
}

async function sendTurnAfter(
  { jobId, runId, changedAt, finishedAt }: Run,
  part: GroupPart,
  turn: number,
  ports: FollowUpPorts,
) {
  const job = (await memberRows(part, [turn], ports)).get(turn);
  if (job?.schedule.kind !== 'once') return ports.journal.note('next-not-found', { jobId, runId });
  const nominalAt = nominalAtIn(part, turn, job.schedule.at);
  await sendTurns([{ job, nominalAt, at: finishedAt ?? changedAt, previous: { jobId, runId } }], ports);
}

async function skipRest(
  run: Run,
  { kind }: Membership,
  part: GroupPart,
  skipped: readonly number[],
  ports: FollowUpPorts,
) {
  const head = await ports.groups.read(part.groupId);
  if (!head) return;
  const reason = endedWithGroup(run) ? GROUP_ENDS[kind] : 'chain-stopped';
  await recordSkipped(part, skipped, { reason, groupCreatedAt: head.createdAt }, ports);
}

/** A job's row names its one run by its instant: that of the run to come, not of the one that was skipped. */
export async function renameRuns(part: GroupPart, indexes: readonly number[], { jobs }: Pick<FollowUpPorts, 'jobs'>) {
  const rows = await memberRows(part, indexes, { jobs });
  await Promise.all(
    [...rows].map(async ([index, row]) => {
      const { schedule } = row;
      if (schedule.kind !== 'once') return;
      const at = nominalAtIn(part, index, schedule.at);
      if (at === schedule.at) return;
      // Lost to another write, the row names the old run: that misleads a reader, and nobody else.
      await jobs.update({ ...row, revision: row.revision + 1, schedule: { ...schedule, at } }, row);
    }),
  );
}

/** A chain or batch that was cancelled, or stopped by a failure, starts nothing more: how a run ends for that, if it does. */
export async function endForGroup(
  run: Run,
  { member }: JobRow,
  { groups }: FollowUpPorts,
): Promise<{ state: 'SKIPPED' | 'CANCELLED'; reason: string } | undefined> {
  const head = member && (await groups.read(member.groupId));
  if (!member || !head || (head.cancelledAt === undefined && head.stoppedAt === undefined)) return undefined;
  if (head.cancelledAt === undefined) {
    const part = run.series ? undefined : await groups.readPart(member.groupId, member.partId);
    if (!part || isAnew(part, member.index)) return undefined;
  }
  // The first row of a run follows on SCHEDULED: nothing of it has begun.
  return { state: run.sequence === 2 ? 'SKIPPED' : 'CANCELLED', reason: GROUP_ENDS[member.kind] };
}
