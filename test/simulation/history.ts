import { DAY, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { pauseJob } from '../../src/operations/pause-job';
import { Callers } from './callers';
import { Cloud } from './cloud';
import { FAULT_KINDS, Faults, type FaultKind, type Injected } from './faults';
import { Facts } from './laws/facts';
import { LAWS } from './laws';
import { unrest } from './laws/rest';
import { OPERATIONS_MS, planOf, type Operation } from './plan';
import type { Witness } from './witness';

/** After the last operation things go on going wrong for so long. */
const FAULTS_UNTIL_MS = OPERATIONS_MS + 5 * MINUTE;
/** Once nothing goes wrong any more, recurring jobs go on for so long, and are then paused. */
const CALM_MS = 5 * MINUTE;
/** Everything due is done within so long after that: five visibilities of 15 minutes, four returns from the dead-letter queue, the longest delay. */
export const REST_WITHIN_MS = 4 * HOUR;

export interface HistoryOptions {
  seed: number;
  /** default: all */
  faults?: readonly FaultKind[];
  /** of its plan only the operations at these places; default: all */
  operations?: readonly number[];
  /** of the faults only these, named `kind:ordinal`; default: all */
  only?: readonly string[];
}

export interface History {
  seed: number;
  violations: Witness['violations'];
  injected: readonly Injected[];
  operations: readonly Operation[];
  witness: Witness;
  /** events of the virtual time, calls of ports, runs, calls of code */
  counts: { events: number; calls: number; runs: number; invocations: number };
  /** how long it took to come to rest after the faults, ms; and whether the daily sweep was needed for it */
  restedAfterMs: number;
  isSwept: boolean;
}

/** One history from its beginning to its rest: the same for the same options. */
export async function liveThrough({
  seed,
  faults: kinds = FAULT_KINDS,
  operations,
  only,
}: HistoryOptions): Promise<History> {
  const faults = new Faults(seed, kinds, only);
  const settings = {
    shards: 2,
    tickSeconds: 10,
    retentionMs: 30 * DAY,
    failedRetentionMs: 30 * DAY,
    allowedFunctions: ['*'],
  };
  const cloud = new Cloud({ seed, startAt: NOON, faults, settings });
  const callers = new Callers(cloud, seed);
  const plan = planOf(seed);
  const asked = operations ? operations.flatMap((place) => plan[place] ?? []) : plan;
  for (const operation of asked) cloud.time.at(NOON + operation.at, () => callers.ask(operation));

  await cloud.time.run(NOON + FAULTS_UNTIL_MS);
  faults.stop();
  await cloud.time.run(NOON + FAULTS_UNTIL_MS + CALM_MS);
  pauseRecurring(cloud);
  const calmAt = cloud.time.now;
  await untilRest(cloud, calmAt + REST_WITHIN_MS);
  let isSwept = false;
  if (unrest(cloud).length > 0) {
    isSwept = true;
    void cloud.sweep();
    await untilRest(cloud, cloud.time.now + REST_WITHIN_MS);
  }
  const restedAfterMs = cloud.time.now - calmAt;

  const facts = new Facts(cloud);
  for (const check of LAWS) check(facts);
  const { witness, time } = cloud;
  return {
    seed,
    violations: witness.violations,
    injected: faults.injected,
    operations: asked,
    witness,
    counts: {
      events: time.events,
      calls: witness.calls,
      runs: facts.runWrites.size,
      invocations: witness.invocations.length,
    },
    restedAfterMs,
    isSwept,
  };
}

/** An operator with a steady hand: what would go on for ever stands still from here on. */
function pauseRecurring(cloud: Cloud): void {
  for (const { jobId, state, schedule } of cloud.stores.jobs.rows.all()) {
    if (schedule.kind !== 'recurring' || state !== 'ACTIVE') continue;
    void cloud.ask(({ ports }) => pauseJob(jobId, { reason: 'the history ends' }, ports)).catch(() => {});
  }
}

async function untilRest(cloud: Cloud, until: number): Promise<void> {
  await cloud.time.run(cloud.time.now + 30 * SECOND);
  while (cloud.time.now < until && unrest(cloud).length > 0) await cloud.time.run(cloud.time.now + MINUTE);
}
