/*
 * Writes jobs and messages into the store of a folder until it is killed. What was acknowledged goes into a witness file at once, and a
 * line for each on standard output tells how far it is.
 */
require('tsx/cjs');
const { openSync, writeSync } = require('node:fs');
const { openDatabase } = require('../../../src/adapters/local/database.ts');
const { LocalJobStore } = require('../../../src/adapters/local/job-store.ts');
const { LocalQueue } = require('../../../src/adapters/local/queue.ts');
const { systemClock } = require('../../../src/adapters/system.ts');
const { aJob } = require('../../contracts/rows.ts');

const HANDS = 8;

async function main() {
  const [, , folder, witnessFile, round, survivesPowerLoss] = process.argv;
  const database = await openDatabase(folder, { survivesPowerLoss: survivesPowerLoss === 'true' });
  const jobs = new LocalJobStore(database, { shards: 4 });
  const queue = new LocalQueue(database, { name: 'work', clock: systemClock, visibilityMs: 60_000 });
  const witness = openSync(witnessFile, 'a');
  const say = (line) => {
    // Synchronous: what is acknowledged has left this process before it can die. A pipe would refuse when it is full.
    writeSync(witness, `${line}\n`);
    process.stdout.write('.\n');
  };
  const write = async (hand) => {
    for (let count = 0; ; count += 1) {
      const id = `r${round}-${hand}-${count}`;
      const job = aJob({ jobId: id, dueAt: 1, payload: JSON.stringify(id) });
      await jobs.put(job);
      await queue.send([{ body: id }]);
      say(`sent ${id}`);
      await jobs.update({ ...job, revision: 2, state: 'PAUSED' }, job);
      const [message] = await queue.receive(1);
      await queue.remove([message.receipt]);
      say(`removed ${message.body}`);
    }
  };
  await Promise.all(Array.from({ length: HANDS }, (_, hand) => write(hand)));
}

void main();
