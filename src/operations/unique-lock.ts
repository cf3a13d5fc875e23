import { ConflictError } from '../domain/errors';
import type { JobRow, UniquePolicy } from '../domain/job';
import { isFinal, type Run } from '../domain/run';
import { creationOwner, decideUnique, isLockedAtCreation, uniqueOwner } from '../domain/unique';
import type { Ports } from '../ports';
import { onlyRunOf } from './only-run';

type LockPorts = Pick<Ports, 'clock' | 'control'>;

/** A lock that changes hands more often while it is to be taken counts as held. */
const MOST_TRIES = 10;
/** A lock is given back by an end that lies so far in the past: clocks of processes differ. */
const ENDED_MS = 60_000;

const nameOf = ({ key }: UniquePolicy) => `unique:${key}`;

/** @returns the id of the job that holds the lock, or undefined once it is the owner's */
async function takeLock(
  owner: string,
  policy: UniquePolicy,
  { clock, control }: LockPorts,
  alsoOwn?: string,
): Promise<string | undefined> {
  const name = nameOf(policy);
  let holder = '';
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const entry = { name, value: owner, expiresAt: clock.now() + policy.forSeconds * 1000 };
    // Most locks are free: the condition of the write finds out at no extra cost.
    if (await control.put(entry)) return undefined;
    const held = await control.read(name);
    const decision = decideUnique(owner, held?.value, alsoOwn);
    if (decision.action === 'refuse') return decision.jobId;
    if (held && (await control.put(entry, held))) return undefined;
    holder = held?.value ?? holder;
  }
  return holder.split('/')[0];
}

/** Frees the lock, if it is this owner's. */
async function freeLock(owner: string, policy: UniquePolicy, { clock, control }: LockPorts): Promise<void> {
  const ended = { name: nameOf(policy), value: owner, expiresAt: clock.now() - ENDED_MS };
  await control.put(ended, ended);
}

function refusal(jobId: string, { key }: UniquePolicy): ConflictError {
  return new ConflictError(
    'unique.key',
    `job ${jobId} holds the unique key ${JSON.stringify(key)}; wait until it is over, or choose another key`,
  );
}

/**
 * Creates a job that nobody else with its key may run beside. What is not created gives the key back; what died on the way, the
 * end of the lock does. @throws ConflictError when another job holds the key
 */
export async function createUnderLock<Created>(
  job: JobRow,
  ports: LockPorts & Pick<Ports, 'jobs' | 'journal'>,
  create: () => Promise<Created>,
): Promise<Created> {
  const { jobId, unique, requestId } = job;
  if (!unique || !isLockedAtCreation(job)) return create();
  const holder = await takeLock(creationOwner(job), unique, ports);
  if (holder !== undefined) throw refusal(holder, unique);
  try {
    return await create();
  } catch (error) {
    // A write whose answer was lost may have made the job all the same, and a repeat of this request has the same lock.
    const isFreed = ports.jobs.readRows([jobId]).then(async ([row]) => {
      if (!row || row.requestId !== requestId) await freeLock(creationOwner(job), unique, ports);
    });
    await isFreed.catch((cause: Error) => ports.journal.note('unique-key-not-freed', { jobId, error: cause.name }));
    throw error;
  }
}

/** The lock for a run that is to begin its first attempt. @returns false when another has it */
export async function lockForFirstAttempt(
  run: Run,
  job: JobRow,
  ports: LockPorts & Pick<Ports, 'runs'>,
): Promise<boolean> {
  const isFirst = run.sequence === 2;
  if (!job.unique || !isFirst) return true;
  const owner = uniqueOwner(run, job);
  if (owner === creationOwner(job)) return true;
  // A message that comes late for a run that is over must not take the key from those who come after it.
  if (await ports.runs.read(run.jobId, run.runId)) return true;
  // An edit may have made a schedule of a one-off job that holds the key since its creation.
  const alsoOwn = isLockedAtCreation(job) ? undefined : creationOwner(job);
  return (await takeLock(owner, job.unique, ports, alsoOwn)) === undefined;
}

/** The lock for a new series of a run, before a person sends it again. @throws ConflictError when another has it */
export async function lockForSeries(run: Run, job: JobRow, ports: LockPorts): Promise<void> {
  if (!job.unique) return;
  const holder = await takeLock(uniqueOwner(run, job), job.unique, ports);
  if (holder !== undefined) throw refusal(holder, job.unique);
}

export async function freeLockOfSeries(run: Run, job: JobRow, ports: LockPorts): Promise<void> {
  if (job.unique) await freeLock(uniqueOwner(run, job), job.unique, ports);
}

export async function freeLockOf(run: Run, job: JobRow, ports: LockPorts): Promise<void> {
  const isFreed = isFinal(run.state) || (run.state === 'STARTED' && job.unique?.until === 'start');
  if (job.unique && isFreed) await freeLock(uniqueOwner(run, job), job.unique, ports);
}

/** A job that is deleted before it began gives its key back now, and not when its message finds out. */
export async function freeLockOfDeleted(job: JobRow, ports: LockPorts & Pick<Ports, 'runs'>): Promise<void> {
  const { unique } = job;
  if (!unique || !isLockedAtCreation(job)) return;
  const run = await onlyRunOf(job, ports);
  if (run?.state !== 'STARTED') await freeLock(creationOwner(job), unique, ports);
}
