import type { GroupPart } from '../domain/group';
import { isSettled } from '../domain/group-part';
import type { JobRow, Membership } from '../domain/job';
import type { Run } from '../domain/run';
import type { Settings } from '../ports';
import type { FollowUpPorts } from './follow-up-ports';
import { memberRows } from './member-runs';
import { keepCallbacks } from './start-callback';
import { changeHead, pauseAfterLoss, tellGroup } from './tell-group';

/** A part that others keep changing is left: the next long wait finds it. */
const MOST_TRIES = 10;

/**
 * All rows of a group have one end, and it must not come while one of its runs waits, is awaited, or may be sent again, nor soon after
 * the last of them ended. `job` is the row of the run's job: its end is the group's as it was then.
 */
export async function keepGroup(run: Run, job: JobRow, { groupId }: Membership, ports: FollowUpPorts): Promise<void> {
  const needed = neededUntil(run, ports.settings);
  if (needed.least <= (job.expiresAt ?? Infinity)) return;
  await keepUntil(groupId, needed.given, ports, job.jobId);
  // Last of all, since it is by this row that a repeat finds all of it kept.
  await keepRows(await ports.jobs.readRows([job.jobId]), needed.given, ports);
}

/** An end that is too early, and a later one that is given instead, so that a group that goes on and on is written seldom. */
function neededUntil(run: Run, { retentionMs, failedRetentionMs }: Settings): { least: number; given: number } {
  const keptMs = Math.max(retentionMs, failedRetentionMs);
  const lastAt = run.state === 'RELEASED' ? run.dueAt : run.isAwaited ? (run.leaseUntil ?? 0) : run.changedAt;
  const least = run.state === 'FAILED' ? run.expiresAt : lastAt + keptMs / 2;
  return { least, given: Math.max(least + keptMs / 2, lastAt + keptMs) };
}

/** `butJobId`: whose row is left as it is. */
export async function keepUntil(
  groupId: string,
  expiresAt: number,
  ports: FollowUpPorts,
  butJobId = '',
): Promise<void> {
  for (const part of await ports.groups.readParts(groupId)) await keepPart(part, expiresAt, ports, butJobId);
  const head = await changeHead(
    groupId,
    (seen) => Promise.resolve(seen.expiresAt < expiresAt ? { ...seen, expiresAt } : seen),
    ports,
  );
  if (head) await keepCallbacks(head, ports);
}

async function keepPart({ groupId, partId }: GroupPart, expiresAt: number, ports: FollowUpPorts, butJobId: string) {
  for (let lost = 0; lost < MOST_TRIES; lost++) {
    const part = await ports.groups.readPart(groupId, partId);
    if (!part) return;
    const isKept = part.expiresAt >= expiresAt;
    const kept = isKept ? part : { ...part, revision: part.revision + 1, expiresAt };
    if (!isKept) await keepJobs(part, expiresAt, ports, butJobId);
    if (isKept || (await ports.groups.putPart(kept, part))) {
      // The head goes by the revision of what is settled, and may not have heard of this one.
      return isSettled(kept) ? tellGroup(kept, false, ports) : undefined;
    }
    await pauseAfterLoss(lost, ports);
  }
}

/** Jobs that may run yet, or again. */
async function keepJobs(part: GroupPart, expiresAt: number, ports: FollowUpPorts, butJobId: string): Promise<void> {
  const undone = Array.from(part.states, (state, index) => (state === 'D' ? [] : [index])).flat();
  const rows = await memberRows(part, undone, ports);
  await keepRows(
    [...rows.values()].filter(({ jobId }) => jobId !== butJobId),
    expiresAt,
    ports,
  );
}

async function keepRows(rows: readonly JobRow[], expiresAt: number, { jobs }: Pick<FollowUpPorts, 'jobs'>) {
  await Promise.all(
    rows.map(async (seen) => {
      for (let row: JobRow | undefined = seen; row && (row.expiresAt ?? Infinity) < expiresAt;) {
        if (await jobs.update({ ...row, revision: row.revision + 1, expiresAt }, row)) return;
        [row] = await jobs.readRows([row.jobId]);
      }
    }),
  );
}
