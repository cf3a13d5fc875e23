import { eventOf } from '../domain/event';
import type { JobRow } from '../domain/job';
import { OF_ALL } from '../domain/notification';
import type { Run } from '../domain/run';
import type { Notice } from '../messages/notice';
import type { Ports } from '../ports';
import { statesSubscribedOfAll } from './subscriptions';

export type AnnouncePorts = Pick<Ports, 'notify' | 'control'>;

/**
 * Sends the latest transition of these runs to the notify queue, where somebody listens: to this job, or to all jobs. Doing
 * it twice sends the same event id twice, so whoever finds a run in doubt repeats it.
 */
export async function announce(runs: readonly Run[], job: JobRow | undefined, ports: AnnouncePorts) {
  if (runs.length === 0) return;
  const ofAll = await statesSubscribedOfAll(ports);
  const notices = runs.flatMap((run): Notice[] => {
    const { jobId, state } = run;
    return [
      ...(job?.subscribedStates.includes(state)
        ? [{ version: 1 as const, jobId, lifeId: job.lifeId, state, event: eventOf(run) }]
        : []),
      ...(ofAll.includes(state) ? [{ ...OF_ALL, version: 1 as const, state, event: eventOf(run) }] : []),
    ];
  });
  if (notices.length > 0) await ports.notify.send(notices.map((notice) => ({ body: JSON.stringify(notice) })));
}
