import type { Clock } from '../ports';

const LOOK_EACH_MS = 1_000;
/** What a correction of the clock in small steps may take away between two looks. */
const CORRECTION_MS = 2_000;

/**
 * Tells when the clock was set back. Whoever waits for an instant by it waits so much longer: that is right for what is due then,
 * and wrong for what only wants to come again in a while.
 * @returns how to stop
 */
export function watchForSetBack(clock: Clock, onSetBack: () => void): () => void {
  let latestAt = clock.now();
  const timer = setInterval(() => {
    const now = clock.now();
    if (now < latestAt - CORRECTION_MS) onSetBack();
    latestAt = now;
  }, LOOK_EACH_MS);
  timer.unref();
  return () => clearInterval(timer);
}
