import type { NotificationState } from '../domain/notification';
import type { Ports } from '../ports';

/** The control entry that holds the states of all jobs, chains and batches that somebody subscribed to. */
export const STATES_OF_ALL = 'subscribed-states-of-all';

/** States that somebody wants to hear of whichever job they are of. */
export async function statesSubscribedOfAll({
  control,
}: Pick<Ports, 'control'>): Promise<readonly NotificationState[]> {
  const entry = await control.read(STATES_OF_ALL);
  return entry ? (JSON.parse(entry.value) as NotificationState[]) : [];
}
