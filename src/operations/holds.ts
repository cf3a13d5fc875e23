import type { Activation } from '../domain/activation';
import { afterLook, decideSlot, withoutSlotsOf, type Slot, type SlotDecision } from '../domain/concurrency';
import type { ConcurrencyPolicy, JobRow, RateLimitPolicy } from '../domain/job';
import { countedUntil, decideStart, withoutStart, type Starts } from '../domain/rate-limit';
import type { Run } from '../domain/run';
import { heldBackMs, isTooLate, spreadMs } from '../domain/waiting';
import type { ControlEntry, Ports } from '../ports';
import { inTurn } from './in-turn';
import { freeLockOf, lockForFirstAttempt } from './unique-lock';

export type HoldPorts = Pick<Ports, 'clock' | 'runs' | 'control'>;

/** May this attempt begin, as the limits that it shares with others have it? */
export type Hold =
  | { action: 'begin' }
  | { action: 'wait'; untilAt: number; reason: string }
  | { action: 'skip'; reason: string }
  | { action: 'fail'; reason: string };

/** So often an entry that others keep changing is tried; many runners share one. */
const MOST_TRIES = 20;
/** From the second try on, so that those who share an entry do not meet again at once. */
const TRY_AGAIN_MS = 10;
/** Places outlast any attempt: each is given back, or found out. */
const SLOTS_KEPT_MS = 400 * 86_400_000;

/** Takes what this attempt needs of its unique key, its concurrency and its rate: all of it, or no more than its unique key. */
export async function takeHolds(
  run: Run,
  activation: Activation,
  job: JobRow,
  ports: HoldPorts & Pick<Ports, 'random'>,
): Promise<Hold> {
  if (!(await lockForFirstAttempt(run, job, ports))) return { action: 'skip', reason: 'unique' };
  const refused = await inTurnOf(job.concurrency && slotsName(job.concurrency), ports, () =>
    takePlaceAndStart(run, job, ports),
  );
  if (!refused) return { action: 'begin' };
  const { waits = 0 } = activation;
  const chance = ports.random.next();
  const untilAt =
    refused.freeAt === undefined
      ? ports.clock.now() + heldBackMs(waits, chance)
      : refused.freeAt + spreadMs(waits, chance);
  if (isTooLate(run, job, untilAt)) return { action: 'fail', reason: 'out-of-time' };
  return { action: 'wait', untilAt, reason: refused.reason };
}

/** Gives back what a run in this state needs no longer; doing it twice does no harm. */
export async function releaseHolds(run: Run, job: JobRow, ports: HoldPorts): Promise<void> {
  await freeLockOf(run, job, ports);
  const { concurrency } = job;
  if (!concurrency || run.state === 'STARTED') return;
  await inTurnOf(slotsName(concurrency), ports, () => leavePlace(run, concurrency, ports));
}

function inTurnOf<Done>(name: string | undefined, { control }: HoldPorts, work: () => Promise<Done>): Promise<Done> {
  return name === undefined ? work() : inTurn(control, name, work);
}

interface Refusal {
  reason: string;
  /** when it might go on, epoch ms, where that is known */
  freeAt?: number;
}

/**
 * The place is looked for first, then the start is counted, and the place is taken last: a start that does not take place can be
 * taken back, since all of one instant are alike; a place could not, for a message that came twice means the same one.
 */
async function takePlaceAndStart(run: Run, job: JobRow, ports: HoldPorts): Promise<Refusal | undefined> {
  const { concurrency, rateLimit } = job;
  const place = concurrency && (await findPlace(run, concurrency, ports));
  if (place?.decision.action === 'wait') return place.decision;
  const start = rateLimit && (await inTurnOf(startsName(rateLimit), ports, () => countStart(rateLimit, ports)));
  if (start?.action === 'wait') return { reason: start.reason, freeAt: start.untilAt };
  if (!place || (await takePlace(run, concurrency, place, ports))) return undefined;
  if (start) await takeBackStart(rateLimit, start.at, ports);
  return { reason: 'concurrency' };
}

interface Place {
  entry: ControlEntry | undefined;
  decision: Exclude<SlotDecision, { action: 'look' }>;
}

const slotsName = ({ key }: ConcurrencyPolicy) => `concurrency:${key}`;
const slotsIn = (entry: ControlEntry | undefined) => (entry ? (JSON.parse(entry.value) as Slot[]) : []);

/** Looks who is at work under the key, and whether those who have been for long still are. Takes nothing yet. */
async function findPlace(run: Run, policy: ConcurrencyPolicy, ports: HoldPorts): Promise<Place> {
  const { clock, control, runs } = ports;
  const entry = await control.read(slotsName(policy));
  const slots = slotsIn(entry);
  const decide = (among: readonly Slot[]) => decideSlot({ slots: among, run, limit: policy.limit, now: clock.now() });
  const decision = decide(slots);
  if (decision.action !== 'look') return { entry, decision };

  const { at } = decision;
  const standing = await Promise.all(at.map(({ jobId, runId }) => runs.read(jobId, runId)));
  const left = afterLook(slots, at, standing, clock.now());
  const second = decide(left);
  // Others need not look at the same again. Some may be in doubt still: the next who comes looks at those.
  if (second.action !== 'take') await writeSlots(left, policy, entry, ports);
  return { entry, decision: second.action === 'look' ? { action: 'wait', reason: 'concurrency' } : second };
}

async function takePlace(run: Run, policy: ConcurrencyPolicy, found: Place, ports: HoldPorts): Promise<boolean> {
  let place = found;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    if (place.decision.action === 'begin') return true;
    if (place.decision.action === 'wait') return false;
    if (await writeSlots(place.decision.slots, policy, place.entry, ports)) return true;
    await pause(tries, ports);
    place = await findPlace(run, policy, ports);
  }
  return false;
}

/** What cannot be given back because others keep changing the entry is found out when the places are looked at. */
async function leavePlace(run: Run, policy: ConcurrencyPolicy, ports: HoldPorts): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const entry = await ports.control.read(slotsName(policy));
    const slots = slotsIn(entry);
    const left = withoutSlotsOf(run, slots);
    if (left.length === slots.length || (await writeSlots(left, policy, entry, ports))) return;
    await pause(tries, ports);
  }
}

function writeSlots(
  slots: readonly Slot[],
  policy: ConcurrencyPolicy,
  seen: ControlEntry | undefined,
  { clock, control }: HoldPorts,
): Promise<boolean> {
  const expiresAt = clock.now() + SLOTS_KEPT_MS;
  return control.put({ name: slotsName(policy), value: JSON.stringify(slots), expiresAt }, seen);
}

const startsName = ({ key }: RateLimitPolicy) => `rate:${key}`;
const startsIn = (entry: ControlEntry | undefined) => (entry ? (JSON.parse(entry.value) as Starts) : undefined);

type CountedStart = { action: 'counted'; at: number } | { action: 'wait'; untilAt: number; reason: string };

async function countStart(policy: RateLimitPolicy, ports: HoldPorts): Promise<CountedStart> {
  const { clock, control } = ports;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const entry = await control.read(startsName(policy));
    const now = clock.now();
    const decision = decideStart(policy, startsIn(entry), now);
    if (decision.action === 'wait') return decision;
    const { starts } = decision;
    const written = { name: startsName(policy), value: JSON.stringify(starts), expiresAt: countedUntil(starts) };
    if (await control.put(written, entry)) return { action: 'counted', at: now };
    await pause(tries, ports);
  }
  return { action: 'wait', untilAt: clock.now(), reason: 'rate-limit' };
}

/** A start that cannot be taken back counts as one: the limit holds all the same. */
async function takeBackStart(policy: RateLimitPolicy, at: number, ports: HoldPorts): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const entry = await ports.control.read(startsName(policy));
    const starts = startsIn(entry);
    if (!entry || !starts) return;
    if (await ports.control.put({ ...entry, value: JSON.stringify(withoutStart(starts, at)) }, entry)) return;
    await pause(tries, ports);
  }
}

async function pause(tries: number, { clock }: HoldPorts): Promise<void> {
  if (tries > 0) await clock.waitUntil(clock.now() + TRY_AGAIN_MS * tries);
}
