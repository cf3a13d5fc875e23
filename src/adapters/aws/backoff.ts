import type { Clock, Random } from '../../ports';

/** Time and chance, for waiting between tries. */
export interface Pacing {
  clock: Clock;
  random: Random;
}

const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/** Waits before sending again: the wait doubles with each try (1, 2, …), and half of it is chance, so that callers spread. */
export async function waitBeforeTry(retry: number, { clock, random }: Pacing): Promise<void> {
  const longestMs = Math.min(FIRST_MS * 2 ** (retry - 1), LONGEST_MS);
  await clock.waitUntil(clock.now() + longestMs / 2 + random.next() * (longestMs / 2));
}
