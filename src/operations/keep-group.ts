import type { GroupPart } from '../domain/group';
import { isSettled } from '../domain/group-part';
import type { JobRow, Membership } from '../domain/job';
import type { Run } from '../domain/run';
import type { FollowUpPorts } from './follow-up-ports';
import { memberRows } from './member-runs';
import { changeHead, pauseAfterLoss, tellGroup } from './tell-group';

/** A part that others keep changing is left: the next long wait finds it. */
const MOST_TRIES = 10;

/**
 * A group must not reach the end of its retention while one of its runs still waits. Its jobs were created with time for all the waits
 * that they name themselves: this is for those that code asks for. `job` is the row before it was kept for this wait.
 */
export async function keepGroup(run: Run, job: JobRow, { groupId }: Membership, ports: FollowUpPorts): Promise<void> {
  const { retentionMs, failedRetentionMs } = ports.settings;
  if (run.state !== 'RELEASED' || run.dueAt + retentionMs / 2 <= (job.expiresAt ?? Infinity)) return;
  const expiresAt = run.dueAt + Math.max(retentionMs, failedRetentionMs);
  await changeHead(
    groupId,
    (head) => Promise.resolve(head.expiresAt < expiresAt ? { ...head, expiresAt } : head),
    ports,
  );
  for (const part of await ports.groups.readParts(groupId)) await keepPart(part, expiresAt, ports);
}

async function keepPart({ groupId, partId }: GroupPart, expiresAt: number, ports: FollowUpPorts): Promise<void> {
  for (let lost = 0; lost < MOST_TRIES; lost++) {
    const part = await ports.groups.readPart(groupId, partId);
    if (!part || part.expiresAt >= expiresAt) return;
    const kept = { ...part, revision: part.revision + 1, expiresAt };
    if (await ports.groups.putPart(kept, part)) {
      await keepPending(kept, ports);
      // The head goes by the revision of what is settled.
      return isSettled(kept) ? tellGroup(kept, false, ports) : undefined;
    }
    await pauseAfterLoss(lost, ports);
  }
}

/** Jobs whose turn comes after the wait. */
async function keepPending(part: GroupPart, ports: FollowUpPorts): Promise<void> {
  const pending = Array.from(part.states, (state, index) => (state === 'P' ? [index] : [])).flat();
  const rows = await memberRows(part, pending, ports);
  await Promise.all(
    [...rows.values()].map(async (row) => {
      if ((row.expiresAt ?? Infinity) >= part.expiresAt) return;
      await ports.jobs.update({ ...row, revision: row.revision + 1, expiresAt: part.expiresAt }, row);
    }),
  );
}
