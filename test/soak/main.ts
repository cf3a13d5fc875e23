/** Mixed load on the local system, from the outside, for minutes: nothing may be lost, and nothing may grow that ought not to. */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as timer } from 'node:timers/promises';
import { Account } from './account';
import { Background } from './background';
import { Client } from './client';
import { sumOf, whole } from './counts';
import { lookThrough } from './leftovers';
import { playLoad } from './load';
import { entriesOf, judgedOf, type Look } from './looks';
import { readOptions } from './options';
import { judge, megabytes } from './report';
import { sizeOfStore } from './store-size';
import { SystemProcess } from './system-process';
import { faultsOf, summaryText, verdictText, type Soaked } from './verdict';

type Wait = (ms: number) => Promise<void>;

const LOOKS_PER_SOAK = 60;
const TOLD_EACH_MS = { terminal: 2_000, lines: 10_000 };
/** What still is on its way when the load is over has so long to end: a run that is held back often waits half a minute. */
const LONGEST_DRAIN_MS = 180_000;
/** A sweep comes ten times in a retention, and a chain is kept for some seconds more: then as much goes as comes. */
const FULL_AFTER_RETENTIONS = 1.4;
/** The sweep of a store of this size takes milliseconds; on a busy machine it may wait for its turn. */
const SWEEP_LATE_MS = 10_000;

async function main(): Promise<number> {
  const { minutes, seed, jobsPerSecond, retentionSeconds, concurrency, data } = readOptions();
  const forMs = minutes * 60_000;
  const directory = data ?? mkdtempSync(join(tmpdir(), 'escapement-soak-'));
  const over = new AbortController();
  // Each scenario waits for itself.
  setMaxListeners(0, over.signal);
  const wait: Wait = (ms) => timer(ms, undefined, { signal: over.signal }).catch(() => {});
  console.log(
    `${minutes} minutes of ${jobsPerSecond} jobs a second, seed ${seed}; kept for ${retentionSeconds} s, ${concurrency} attempts side by side`,
  );

  const account = new Account();
  const hear: Account['hear'] = (line) => account.hear(line);
  const system = await SystemProcess.start({ dataDirectory: directory, retentionSeconds, concurrency, hear });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void system.stop('SIGKILL').then(() => process.exit(130)));
  void system.ended.then(() => over.abort());
  const client = new Client(system.url);
  const background = new Background(client, account, wait);
  const startedAt = performance.now();
  const looks: Look[] = [];
  const look = async () => {
    const [measures, store] = [await system.measure(), await sizeOfStore(directory)];
    looks.push({ atMs: performance.now() - startedAt, measures, store });
  };

  await background.start(forMs);
  const looking = eachWhile(forMs / LOOKS_PER_SOAK, wait, over.signal, look);
  const telling = eachWhile(TOLD_EACH_MS[process.stdout.isTTY ? 'terminal' : 'lines'], wait, over.signal, async () =>
    tell(account, looks.at(-1), performance.now() - startedAt),
  );
  const load = await playLoad({ seed, jobsPerSecond, forMs, client, account, wait, over: over.signal });
  await looking.stop();
  await background.stop();
  const unsettled = await drain(account, wait);
  over.abort();
  await Promise.all([load.all, telling.stop()]);
  await background.finish();
  const exitCode = await system.stop();
  client.close();

  const now = Date.now();
  const soaked: Soaked = {
    account,
    unsettled,
    verdicts: judgedOf(looks, forMs / 2 >= retentionSeconds * 1_000 * FULL_AFTER_RETENTIONS).map(judge),
    leftovers: await lookThrough({
      directory,
      now,
      overdueBefore: now - retentionSeconds * 100 - SWEEP_LATE_MS,
      stateOf: (runId) => account.stateOf(runId),
    }),
    lastLook: looks.at(-1)!,
    played: load.played,
    requests: { count: client.requests, slowestMs: client.slowestMs },
    replies: background.replies,
    exitCode,
    errors: system.errors,
  };
  if (data === undefined) rmSync(directory, { recursive: true, force: true });
  const faults = faultsOf(soaked);
  console.log(`\n${summaryText(soaked)}\n\n${verdictText(faults)}`);
  return faults.length === 0 ? 0 : 1;
}

/** Waits until all is as it should be. @returns what is not, when it took too long */
async function drain(account: Account, wait: Wait): Promise<string[]> {
  const until = performance.now() + LONGEST_DRAIN_MS;
  while (!account.unsettled().next().done && performance.now() < until) await wait(500);
  return [...account.unsettled()];
}

/** Does this again and again. What it throws comes out of `stop`. */
function eachWhile(ms: number, wait: Wait, over: AbortSignal, work: () => Promise<void>) {
  let goesOn = true;
  const going = (async () => {
    while (goesOn && !over.aborted) {
      await work();
      await wait(ms);
    }
  })();
  going.catch(() => {});
  return {
    stop: () => {
      goesOn = false;
      return going;
    },
  };
}

async function tell(account: Account, look: Look | undefined, elapsedMs: number): Promise<void> {
  if (!look) return;
  const { measures, store } = look;
  const { acknowledged, runs, over } = account.totals();
  const line = [
    `${String(Math.round(elapsedMs / 1_000)).padStart(5)} s  ${whole(acknowledged)} jobs acknowledged`,
    `${whole(over)} of ${whole(runs)} runs over`,
    `heap ${megabytes(measures.heapUsed)}`,
    `${sumOf(measures.descriptors)} handles`,
    `store ${megabytes(store.fileBytes)} (${whole(entriesOf(look))} entries)`,
  ].join(', ');
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}`);
  else console.log(line);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`The soak itself failed: ${(error as Error).message}`);
    process.exit(1);
  },
);
