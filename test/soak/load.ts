import type { Account } from './account';
import type { Client } from './client';
import type { Counts } from './counts';
import { planOf } from './plan';

/** Plays the plan for so long, whatever is slow: each scenario begins at its instant. Resolves when the last has begun. */
export async function playLoad(options: {
  seed: number;
  jobsPerSecond: number;
  forMs: number;
  client: Client;
  account: Account;
  wait: (ms: number) => Promise<void>;
  over: AbortSignal;
}): Promise<{ played: Counts; all: Promise<unknown> }> {
  const { seed, jobsPerSecond, forMs, client, account, wait, over } = options;
  const startedAt = performance.now();
  const played: Counts = {};
  const atPlay = new Set<Promise<void>>();
  for (const { name, scenario, id, chance, atMs } of planOf(seed, jobsPerSecond)) {
    if (atMs >= forMs || over.aborted) break;
    const earlyMs = atMs - (performance.now() - startedAt);
    if (earlyMs > 0) await wait(earlyMs);
    played[name] = (played[name] ?? 0) + 1;
    const play = scenario
      .play({ id, chance, client, account, wait, over })
      .catch((error: Error) => account.fault(`${name} (${id}): ${error.message}`))
      .finally(() => atPlay.delete(play));
    atPlay.add(play);
  }
  return { played, all: Promise.all(atPlay) };
}
