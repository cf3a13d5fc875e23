import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../../../src/adapters/system';
import { DataFolderInUseError, openDatabase } from '../../../src/adapters/local/database';
import { LocalJobStore } from '../../../src/adapters/local/job-store';
import { LocalQueue } from '../../../src/adapters/local/queue';
import { freshFolder, removeFolder } from '../../support/data-folder';

const CHILD = join(__dirname, 'writing-child.cjs');

/** Lines after which the child is killed: each round at another point of its work. */
const ROUNDS = [1, 40, 333];

/** Lets a child write into the folder and kills it in the middle. Answers what it said it had done. */
async function writeUntilKilled(
  folder: string,
  round: number,
  survivesPowerLoss: boolean,
  afterLines: number,
  beforeTheEnd: () => Promise<void>,
): Promise<string[]> {
  const witnessFile = join(folder, `witness-${round}`);
  const child = spawn(process.execPath, [CHILD, folder, witnessFile, String(round), String(survivesPowerLoss)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let lines = 0;
  for await (const _line of createInterface({ input: child.stdout })) {
    lines += 1;
    if (lines !== afterLines) continue;
    await beforeTheEnd();
    child.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  return readFileSync(witnessFile, 'utf8').split('\n').slice(0, -1);
}

describe.each([true, false])(
  'a process that is killed in the middle of writing (sound after power loss: %s)',
  (sound) => {
    let folder: string;
    beforeEach(() => {
      folder = freshFolder();
    });
    afterEach(() => removeFolder(folder));

    test('loses nothing that it acknowledged, and leaves the folder free', async () => {
      const sent = new Set<string>();
      const removed = new Set<string>();
      for (const [round, afterLines] of ROUNDS.entries()) {
        const lines = await writeUntilKilled(folder, round, sound, afterLines, async () => {
          await expect(openDatabase(folder)).rejects.toBeInstanceOf(DataFolderInUseError);
        });
        for (const line of lines) {
          const [what, id] = line.split(' ');
          if (what === 'sent') sent.add(id!);
          if (what === 'removed') removed.add(id!);
        }

        const database = await openDatabase(folder, { survivesPowerLoss: sound });
        const jobs = new LocalJobStore(database, { shards: 4 });
        const queue = new LocalQueue(database, { name: 'work', clock: systemClock, visibilityMs: 60_000 });
        await queue.makeAllVisible();
        const found = new Set<string>();
        for (let batch = await queue.receive(10); batch.length > 0; batch = await queue.receive(10)) {
          for (const { body } of batch) found.add(body);
        }
        await queue.makeAllVisible();
        for (const id of sent) {
          expect((await jobs.read(id))?.payload).toBe(JSON.stringify(id));
          // Each message is here until it was removed; a removal may have happened without being told.
          if (removed.has(id)) expect(found).not.toContain(id);
        }
        // A child removes each hand's messages one by one: at most one a hand and round was removed and not told.
        const missing = [...sent].filter((id) => !removed.has(id) && !found.has(id));
        expect(missing.length).toBeLessThanOrEqual(8 * (round + 1));
        await database.close();
      }
      expect(sent.size).toBeGreaterThan(100);
    });
  },
);
