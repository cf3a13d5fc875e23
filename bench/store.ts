/** How fast the embedded store and its queue are on this machine: `npx tsx bench/store.ts`. Prints, asserts nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/adapters/system';
import { openDatabase, type Database } from '../src/adapters/local/database';
import { LocalQueue } from '../src/adapters/local/queue';
import { LocalRunStore } from '../src/adapters/local/run-store';
import type { Run } from '../src/domain/run';

const LASTING_MS = 2_000;

async function rate(what: string, hands: number, step: (hand: number) => Promise<number>): Promise<void> {
  const endAt = performance.now() + LASTING_MS;
  let done = 0;
  await Promise.all(
    Array.from({ length: hands }, async (_, hand) => {
      while (performance.now() < endAt) {
        const steps = await step(hand);
        done += steps;
      }
    }),
  );
  console.log(`  ${what.padEnd(58)} ${Math.round((done * 1000) / LASTING_MS).toLocaleString('en')}/s`);
}

async function measure(database: Database): Promise<void> {
  const runs = new LocalRunStore(database, { shards: 4 });
  const queue = new LocalQueue(database, { name: 'bench', clock: systemClock, visibilityMs: 60_000 });
  let drawn = 0;
  const claimAndConclude = async (): Promise<number> => {
    const run = aRun(`run-${(drawn += 1)}`);
    await runs.put(run);
    await runs.put({ ...run, revision: 2, state: 'DONE' }, run);
    return 1;
  };
  for (const hands of [1, 10, 100]) await rate(`runs claimed and concluded, ${hands} at once`, hands, claimAndConclude);
  const cycle = async (): Promise<number> => {
    await queue.send(Array.from({ length: 10 }, () => ({ body: '{"version":1,"jobId":"0190"}' })));
    const messages = await queue.receive(10);
    await queue.remove(messages.map((message) => message.receipt));
    return messages.length;
  };
  for (const hands of [1, 10, 20])
    await rate(`messages sent, received, removed by tens, ${hands} at once`, hands, cycle);
}

function aRun(runId: string): Run {
  const now = Date.now();
  return {
    jobId: 'job',
    runId,
    revision: 1,
    sequence: 2,
    state: 'STARTED',
    generation: '0190',
    origin: 'scheduled',
    nominalAt: now,
    dueAt: now,
    attempt: 1,
    changedAt: now,
    leaseUntil: now + 60_000,
    attempts: [],
    expiresAt: now,
  };
}

async function main(): Promise<void> {
  for (const survivesPowerLoss of [true, false]) {
    const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-'));
    const database = await openDatabase(folder, { survivesPowerLoss });
    console.log(survivesPowerLoss ? 'sound after power loss' : 'not sound after power loss');
    await measure(database);
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

void main();
