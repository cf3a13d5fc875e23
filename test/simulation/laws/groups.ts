import { memberJobIdOf, memberStateOf, tallyOf, type Group, type GroupPart } from '../../../src/domain/group';
import { nominalAtIn, stretchesOf } from '../../../src/domain/group-part';
import { isFinal, type Run } from '../../../src/domain/run';
import { scheduledRunIdOf } from '../../../src/domain/activation';
import { callbackJobIdOf } from '../../../src/operations/start-callback';
import type { Facts } from './facts';

/** From the look at the group to the claim. */
const LOOKED_MS = 1_000;

const CALLBACKS = ['then', 'catch', 'finally', 'progress'] as const;

/** A chain goes in its order, the counts of a group are those of its runs, and each callback comes once, when it should. */
export function checkGroups(facts: Facts): void {
  const { heads, parts } = facts.cloud.stores.groups;
  for (const head of heads.all()) {
    const own = [...parts.all()].filter(
      ({ groupId, partId }) => groupId === head.groupId && head.parts[partId] !== undefined,
    );
    for (const part of own) {
      checkMembers(head, part, facts);
      checkOrder(head, part, facts);
    }
    checkEnd(head, own, facts);
    checkTakenBack(head, own, facts);
    checkCallbacks(head, own, facts);
  }
  checkWrites(facts);
}

function checkWrites({ witness }: Facts): void {
  for (const { at, before, after } of [...witness.groups, ...witness.parts]) {
    const isFirst = !before && after.revision === 1;
    if (!isFirst && after.revision !== (before?.revision ?? 0) + 1) {
      witness.accuse('a write of a group is the next revision', after.groupId, at);
    }
  }
}

function checkMembers(head: Group, part: GroupPart, facts: Facts): void {
  for (const [index, state] of [...part.states].entries()) {
    const run = runOf(head, part, index, facts);
    const is = run ? memberStateOf(run.state) : 'P';
    if (is !== state)
      facts.accuse(
        'a group counts what its runs came to',
        `${head.kind} ${head.groupId} job ${index} of ${part.partId}: ${state}, its run ${run?.runId ?? ''} is ${run?.state ?? 'not there'}`,
      );
  }
}

function runOf(head: Group, part: GroupPart, index: number, facts: Facts): Run | undefined {
  const jobId = memberJobIdOf(part, index);
  const runId = scheduledRunIdOf(jobId, nominalAtIn(part, index, head.createdAt));
  return facts.runWrites.get(`${jobId} ${runId}`)?.at(-1)!.after;
}

/** Each only after the one before it is DONE. */
function checkOrder(head: Group, part: GroupPart, facts: Facts): void {
  for (const { first, last } of stretchesOf(part)) {
    for (let index = first + 1; index <= last; index++) {
      const before = facts.runWrites.get(keyIn(head, part, index - 1, facts)) ?? [];
      const own = facts.runWrites.get(keyIn(head, part, index, facts)) ?? [];
      const begunAt = own.find(({ after }) => after.state === 'STARTED')?.at;
      if (begunAt === undefined) continue;
      const isDoneBefore = before.some(({ at, after }) => after.state === 'DONE' && at < begunAt);
      if (!isDoneBefore)
        facts.accuse(
          'a chain goes in its order',
          `${head.kind} ${head.groupId} job ${index} of ${part.partId}`,
          begunAt,
        );
    }
  }
}

function keyIn(head: Group, part: GroupPart, index: number, facts: Facts): string {
  const run = runOf(head, part, index, facts);
  return run ? `${run.jobId} ${run.runId}` : '';
}

function checkEnd(head: Group, parts: readonly GroupPart[], facts: Facts): void {
  const { groupId, kind, state, finishedAt } = head;
  const { pending, failed, skipped, cancelled } = tallyOf(parts);
  if (pending > 0 || finishedAt === undefined) return;
  const isBroken = failed + skipped + cancelled > 0;
  const should = head.cancelledAt !== undefined ? 'CANCELLED' : isBroken && !head.allowFailures ? 'FAILED' : 'DONE';
  if (state !== should) facts.accuse('a group ends as its jobs did', `${kind} ${groupId} is ${state}, not ${should}`);
}

/** What has not begun when its group is taken back never begins: whoever began it had looked at the group before. */
function checkTakenBack(head: Group, parts: readonly GroupPart[], facts: Facts): void {
  if (head.cancelledAt === undefined || !facts.isCalm) return;
  const takenBackAt = facts.witness.groups.find(
    ({ after }) => after.groupId === head.groupId && after.cancelledAt !== undefined,
  )!.at;
  for (const part of parts) {
    for (const index of part.states.length === 0 ? [] : [...part.states].keys()) {
      const begun = facts.runWrites
        .get(keyIn(head, part, index, facts))
        ?.find(({ after }) => after.state === 'STARTED');
      if (begun && begun.at > takenBackAt + LOOKED_MS)
        facts.accuse(
          'what was taken back does not begin',
          `job ${index} of ${part.partId} of ${head.groupId}`,
          begun.at,
        );
    }
  }
}

function checkCallbacks(head: Group, parts: readonly GroupPart[], facts: Facts): void {
  const { groupId, kind, callbacks, state, cancelledAt } = head;
  const { failed } = tallyOf(parts);
  for (const which of CALLBACKS) {
    if (callbacks[which] === undefined) continue;
    // What `progress` is called for on the way is called or not; for the whole it is called at the end.
    const jobId = callbackJobIdOf(groupId, which, 100);
    const runs = facts.runs.filter((run) => run.jobId === jobId);
    const about = `${which} of ${kind} ${groupId}, which is ${state}`;
    if (runs.length > 1) facts.accuse('a callback comes once', about);
    const isDue = {
      then: state === 'DONE',
      catch: failed > 0 && cancelledAt === undefined,
      finally: true,
      progress: parts.length > 0,
    }[which];
    // An empty batch is over with its create: where that got no answer, its caller has to ask again.
    const isKnown = parts.length > 0 || isAcknowledged(groupId, facts);
    if (isDue && isKnown && runs.length === 0) facts.accuse('a callback comes when it should', about);
    const calledAt = facts.jobWrites.get(jobId)?.[0]?.at;
    if (calledAt !== undefined && !wasDueAt(calledAt, which, groupId, facts))
      facts.accuse('a callback comes only when it should', about, calledAt);
    for (const run of runs) if (!isFinal(run.state)) facts.accuse('a callback comes to its end', about);
  }
}

/** Had by then happened what this callback is called for? */
function wasDueAt(at: number, which: (typeof CALLBACKS)[number], groupId: string, { witness }: Facts): boolean {
  if (which === 'catch') {
    return witness.parts.some(
      (write) => write.at <= at && write.after.groupId === groupId && /[FS]/.test(write.after.states),
    );
  }
  return witness.groups.some(
    (write) =>
      write.at <= at &&
      write.after.groupId === groupId &&
      write.after.finishedAt !== undefined &&
      (which !== 'then' || write.after.state === 'DONE'),
  );
}

/** Was the caller who created this batch told so? An empty one is over with its create: without an answer he has to ask again. */
export function isAcknowledged(groupId: string, { witness }: Facts): boolean {
  return witness.answers.some(
    ({ operation, kind, detail }) =>
      operation.kind === 'batch' && kind === 'done' && (detail as { group: Group }).group.groupId === groupId,
  );
}
