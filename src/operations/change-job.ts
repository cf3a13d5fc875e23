import { ConflictError, noSuchJob } from '../domain/errors';
import type { JobRow } from '../domain/job';
import { jitterMs } from '../domain/occurrences';
import { dispatchJobs, type DispatchPorts } from './dispatch';

export type ChangePorts = DispatchPorts;

/** What falls due so soon counts as due already when a job is changed: its message may be under way. */
const ALREADY_DUE_MS = 2_000;
/** A change that took longer to write was decided at an instant that is past: it is decided anew. */
const LONGEST_WRITE_MS = 2_000;
const MOST_TRIES = 20;
const MOST_DRAINED = 5;

/**
 * Changes a job's row: first what is due already is dispatched, then `change` is written under the condition that nothing
 * changed meanwhile, else it starts over. `change` answers undefined when there is nothing to change.
 * @returns the row as it stands then
 * @throws NotFoundError when there is no such job; ConflictError when others keep changing it
 */
export async function changeJob(
  jobId: string,
  change: (row: JobRow, now: number) => JobRow | undefined | Promise<JobRow | undefined>,
  ports: ChangePorts,
  write: (next: JobRow, seen: JobRow) => Promise<boolean> = (next, seen) => ports.jobs.update(next, seen),
): Promise<JobRow> {
  const { clock, jobs } = ports;
  let drained = 0;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [row] = await jobs.readRows([jobId]);
    if (!row || row.generations.length === 0) throw noSuchJob(jobId);
    const now = clock.now();
    // Not for ever: what cannot be dispatched must not keep the job from being changed.
    if (drained < MOST_DRAINED && isDueAlready(row, now)) {
      drained++;
      await dispatchJobs([row], now + ALREADY_DUE_MS + jitterMs(row), ports);
      continue;
    }
    const next = await change(row, now);
    if (!next) return row;
    if (clock.now() - now > LONGEST_WRITE_MS) continue;
    if (await write({ ...next, revision: row.revision + 1 }, row)) return { ...next, revision: row.revision + 1 };
  }
  throw new ConflictError('jobId', `job ${jobId} is being changed by others all the time; send this request again`);
}

/** By its nominal instant: what is put off by the jitter belongs to the job as it was. */
function isDueAlready(row: JobRow, now: number): boolean {
  const { state, dueAt } = row;
  return state === 'ACTIVE' && dueAt !== undefined && dueAt - jitterMs(row) <= now + ALREADY_DUE_MS;
}

/** The same row out of the due index. */
export function withoutDueKey({ dueAt: _, ...row }: JobRow): JobRow {
  return row;
}
