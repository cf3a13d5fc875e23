import type { Clock, ControlEntry, ControlStore } from '../ports';
import { STATES_OF_ALL } from './subscriptions';

/** So much later a process hears of somebody who subscribed to the states of all jobs. */
const REMEMBERED_MS = 5_000;

/**
 * The control table, where each announcement looks who subscribed to the states of all jobs: that is remembered, so that
 * announcing costs no read per run. Everything else passes through. Whoever writes the entry reads it anew afterwards, so
 * that a write which lost its condition can be repeated.
 */
export function cachedSubscriptions(control: ControlStore, clock: Clock): ControlStore {
  let reading: { at: number; entry: Promise<ControlEntry | undefined> } | undefined;
  return {
    read(name) {
      if (name !== STATES_OF_ALL) return control.read(name);
      if (reading && clock.now() < reading.at + REMEMBERED_MS) return reading.entry;
      const fresh = { at: clock.now(), entry: control.read(name) };
      reading = fresh;
      fresh.entry.catch(() => {
        if (reading === fresh) reading = undefined;
      });
      return fresh.entry;
    },
    async put(entry, seen) {
      try {
        return await control.put(entry, seen);
      } finally {
        if (entry.name === STATES_OF_ALL) reading = undefined;
      }
    },
  };
}
