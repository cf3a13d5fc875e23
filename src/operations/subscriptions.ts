import type { NotificationState } from '../domain/notification';
import type { ControlEntry, Ports } from '../ports';

/** The control entry that holds the states of all jobs, chains and batches that somebody subscribed to. */
export const STATES_OF_ALL = 'subscribed-states-of-all';

/** The year 9999: the entry stands for as long as the system does. */
const NEVER = 253_402_300_799_000;

/** What the entry says. `writes` makes each value another one, so that whoever decided by an older one loses his condition. */
interface Subscribed {
  writes: number;
  states: NotificationState[];
}

type ControlPorts = Pick<Ports, 'control'>;

/** States that somebody wants to hear of whichever job they are of. */
export async function statesSubscribedOfAll({ control }: ControlPorts): Promise<readonly NotificationState[]> {
  return subscribedBy(await control.read(STATES_OF_ALL)).states;
}

/**
 * Writes the set anew, also where it stays the same: what another is about to write by what he saw before is then decided
 * anew. `change` is asked after the set was read.
 */
export async function changeStatesOfAll(
  change: (states: readonly NotificationState[]) => Iterable<NotificationState> | Promise<Iterable<NotificationState>>,
  { control }: ControlPorts,
): Promise<void> {
  for (;;) {
    const seen = await control.read(STATES_OF_ALL);
    const { writes, states } = subscribedBy(seen);
    const next: Subscribed = { writes: writes + 1, states: [...new Set(await change(states))] };
    if (await control.put({ name: STATES_OF_ALL, value: JSON.stringify(next), expiresAt: NEVER }, seen)) return;
  }
}

function subscribedBy(entry: ControlEntry | undefined): Subscribed {
  return entry ? (JSON.parse(entry.value) as Subscribed) : { writes: 0, states: [] };
}
