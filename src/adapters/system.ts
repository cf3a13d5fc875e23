import { uuidv7 } from 'uuidv7';
import type { Clock, Ids, Random } from '../ports';

/**
 * The longest single sleep. Timers overflow above 2^31 ms, and they do not see the wall clock jump or the laptop wake up:
 * whoever waits for an instant looks at the clock at least this often.
 */
const LONGEST_SLEEP_MS = 5_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  waitUntil(at, signal) {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const look = () => {
        // A timer can fire up to 1.4 ms early, so that only the clock says when the wait is over.
        const leftMs = at - Date.now();
        if (leftMs <= 0 || signal?.aborted) return end();
        timer = setTimeout(look, Math.min(Math.ceil(leftMs), LONGEST_SLEEP_MS));
      };
      signal?.addEventListener('abort', end);
      look();
    });
  },
};

export const systemIds: Ids = { guid: () => uuidv7() };

export const systemRandom: Random = { next: () => Math.random() };
