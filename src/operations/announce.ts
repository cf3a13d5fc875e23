import { eventOf, type RunEvent } from '../domain/event';
import type { JobRow } from '../domain/job';
import type { Run, RunState } from '../domain/run';
import type { Ports } from '../ports';

/** A message of the notify queue: somebody wants to hear of this transition. */
export interface Notice {
  version: 1;
  jobId: string;
  /** whose subscribers are meant: those of a deleted job are not those of a new one of the same id */
  lifeId: string;
  state: RunState;
  event: RunEvent;
  /** only this subscriber still has to get it; absent: all of them */
  notifyId?: string;
  /** since when the call is held back through no fault of the subscriber, epoch ms */
  heldBackSince?: number;
}

/**
 * Sends the latest transition of these runs to the notify queue, where somebody listens. Doing it twice sends the same
 * event id twice, so whoever finds a run in doubt repeats it.
 */
export async function announce(runs: readonly Run[], job: JobRow | undefined, ports: Pick<Ports, 'notify'>) {
  if (!job) return;
  const wanted = runs.filter((run) => job.subscribedStates.includes(run.state));
  if (wanted.length === 0) return;
  await ports.notify.send(
    wanted.map((run) => {
      const notice: Notice = {
        version: 1,
        jobId: run.jobId,
        lifeId: job.lifeId,
        state: run.state,
        event: eventOf(run),
      };
      return { body: JSON.stringify(notice) };
    }),
  );
}
