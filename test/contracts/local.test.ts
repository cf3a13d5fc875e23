import { LocalCodeStore } from '../../src/adapters/local/code-store';
import { LocalControlStore } from '../../src/adapters/local/control-store';
import { openDatabase, type Database } from '../../src/adapters/local/database';
import { LocalGroupStore } from '../../src/adapters/local/group-store';
import { LocalJobStore } from '../../src/adapters/local/job-store';
import { LocalNotificationStore } from '../../src/adapters/local/notification-store';
import { LocalQueue } from '../../src/adapters/local/queue';
import { LocalRunStore } from '../../src/adapters/local/run-store';
import { freshFolder, removeFolder } from '../support/data-folder';
import { HandClock } from '../support/hand-clock';
import { describeCodeStoreContract } from './code-store.contract';
import type { Adapter } from './contract';
import { describeControlStoreContract } from './control-store.contract';
import { describeGroupStoreContract } from './group-store.contract';
import { describeJobStoreContract } from './job-store.contract';
import { describeNotificationStoreContract } from './notification-store.contract';
import { describeQueueContract } from './queue.contract';
import { describeRunStoreContract } from './run-store.contract';
import { NOON } from './rows';

const SHARDS = 4;

async function local(): Promise<Adapter & { clock: HandClock; database: Database }> {
  const folder = freshFolder();
  const database = await openDatabase(folder);
  const clock = new HandClock(NOON);
  clock.holdWhile(() => database.isBusy);
  return {
    database,
    clock,
    advance: (ms) => clock.advance(ms),
    eventually: (assertion) => assertion(),
    close: async () => {
      await database.close();
      removeFolder(folder);
    },
  };
}

describeJobStoreContract('local', async () => {
  const adapter = await local();
  return { ...adapter, shards: SHARDS, store: new LocalJobStore(adapter.database, { shards: SHARDS }) };
});

describeRunStoreContract('local', async () => {
  const adapter = await local();
  return { ...adapter, shards: SHARDS, store: new LocalRunStore(adapter.database, { shards: SHARDS }) };
});

describeNotificationStoreContract('local', async () => {
  const adapter = await local();
  return { ...adapter, store: new LocalNotificationStore(adapter.database) };
});

describeCodeStoreContract('local', async () => {
  const adapter = await local();
  return { ...adapter, store: new LocalCodeStore(adapter.database) };
});

describeControlStoreContract('local', async () => {
  const adapter = await local();
  return { ...adapter, store: new LocalControlStore(adapter.database, adapter) };
});

describeGroupStoreContract('local', async () => {
  const adapter = await local();
  return { ...adapter, store: new LocalGroupStore(adapter.database) };
});

describeQueueContract('local', async ({ visibilityMs, maxReceives }) => {
  const adapter = await local();
  const { database, clock } = adapter;
  if (maxReceives === undefined) {
    return { ...adapter, queue: new LocalQueue(database, { name: 'work', clock, visibilityMs }) };
  }
  const deadLetters = new LocalQueue(database, { name: 'work-dead', clock, visibilityMs });
  const queue = new LocalQueue(database, {
    name: 'work',
    clock,
    visibilityMs,
    deadLetters: { queue: deadLetters, maxReceives },
  });
  return { ...adapter, queue, deadLetters };
});
