import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import type { Clock, Ids, Random } from '../../ports';

/**
 * The longest single sleep. Timers overflow above 2^31 ms, and they do not see the wall clock jump or the laptop wake up:
 * whoever waits for an instant looks at the clock at least this often.
 */
const LONGEST_SLEEP_MS = 30_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  async waitUntil(at, signal) {
    // A timer can fire up to 1.4 ms early, so that only the clock says when the wait is over.
    for (let leftMs = at - Date.now(); leftMs > 0; leftMs = at - Date.now()) {
      if (signal?.aborted) return;
      try {
        await sleep(Math.min(Math.ceil(leftMs), LONGEST_SLEEP_MS), undefined, signal && { signal });
      } catch (error) {
        if (signal?.aborted) return;
        throw error;
      }
    }
  },
};

export const systemIds: Ids = { guid: () => uuidv7() };

export const systemRandom: Random = { next: () => Math.random() };
