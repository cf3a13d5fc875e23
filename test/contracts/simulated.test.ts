import { NOON } from './rows';
import {
  SimulatedCodeStore,
  SimulatedControlTable,
  SimulatedGroupStore,
  SimulatedJobStore,
  SimulatedNotificationStore,
  SimulatedRunStore,
  STILL_WORLD,
} from '../simulation/tables';
import { VirtualTime } from '../simulation/virtual-time';
import { describeCodeStoreContract } from './code-store.contract';
import type { Adapter } from './contract';
import { describeControlStoreContract } from './control-store.contract';
import { describeGroupStoreContract } from './group-store.contract';
import { describeJobStoreContract } from './job-store.contract';
import { describeNotificationStoreContract } from './notification-store.contract';
import { describeRunStoreContract } from './run-store.contract';

const SHARDS = 4;

function simulated(): Adapter & { time: VirtualTime } {
  const time = new VirtualTime(NOON);
  return {
    time,
    clock: { now: () => time.now, waitUntil: (at) => new Promise((resolve) => time.at(at, resolve)) },
    advance: (ms) => time.run(time.now + ms),
    eventually: (assertion) => assertion(),
    close: () => Promise.resolve(),
  };
}
const adapter = (): Promise<Adapter> => Promise.resolve(simulated());

describeJobStoreContract('simulated', async () => ({
  ...(await adapter()),
  shards: SHARDS,
  store: new SimulatedJobStore(STILL_WORLD, SHARDS),
}));
describeRunStoreContract('simulated', async () => ({
  ...(await adapter()),
  shards: SHARDS,
  store: new SimulatedRunStore(STILL_WORLD, SHARDS),
}));
describeGroupStoreContract('simulated', async () => ({
  ...(await adapter()),
  store: new SimulatedGroupStore(STILL_WORLD),
}));
describeNotificationStoreContract('simulated', async () => ({
  ...(await adapter()),
  store: new SimulatedNotificationStore(),
}));
describeCodeStoreContract('simulated', async () => ({ ...(await adapter()), store: new SimulatedCodeStore() }));
describeControlStoreContract('simulated', async () => {
  const one = await adapter();
  return { ...one, store: new SimulatedControlTable().seenBy(one.clock) };
});
