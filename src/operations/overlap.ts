import type { Activation } from '../domain/activation';
import type { JobRow } from '../domain/job';
import { decideOverlap, type Place } from '../domain/overlap';
import { transition, type Run } from '../domain/run';
import { parseActivation } from '../messages/activation';
import { runIdOf } from '../domain/activation';
import type { ControlEntry, Ports } from '../ports';
import { releaseHolds } from './holds';
import { announce, type AnnouncePorts } from './announce';
import { sendReminder } from './reminders';
import { sendActivations, type ActivationPorts } from './send-activations';

export type OverlapPorts = Pick<Ports, 'clock' | 'runs' | 'control' | 'journal'> & ActivationPorts & AnnouncePorts;

/** Places are taken over from runs that are over, not freed: an entry only has to outlive any run. */
const KEPT_MS = 400 * 86_400_000;
/** A queued run looks so often whether its place is free, should nobody call it. */
const QUEUED_INTERVAL_MS = 20_000;
const MOST_TRIES = 10;

/** Of this life of the job: what a deleted job of the same id left behind holds no place of the new one. */
const placeOf = ({ jobId, lifeId }: JobRow) => `overlap:${jobId}:${lifeId}`;
const nextOf = ({ jobId, lifeId }: JobRow) => `overlap-next:${jobId}:${lifeId}`;

/**
 * Takes the job's one place for the first attempt of this run, as its overlap policy has it. "queue": the run waits, and its
 * message is under way again.
 */
export async function takePlace(
  run: Run,
  job: JobRow,
  activation: Activation,
  ports: OverlapPorts,
): Promise<'begin' | 'skip' | 'queue'> {
  const { clock, control } = ports;
  const { jobId, runId, nominalAt } = run;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const entry = await control.read(placeOf(job));
    const place = entry && (JSON.parse(entry.value) as Place);
    const now = clock.now();
    const decision = decideOverlap({
      policy: job.overlap ?? 'allow',
      runId,
      nominalAt,
      place,
      holder: place && place.runId !== runId ? await ports.runs.read(jobId, place.runId) : undefined,
      next: job.overlap === 'queue-one' ? await whoWaits(job, ports) : undefined,
      now,
    });
    switch (decision.action) {
      case 'begin': {
        if (decision.reason === 'place-held') return 'begin';
        const taken: Place = { runId, nominalAt, takenAt: now };
        if (await control.put({ name: placeOf(job), value: JSON.stringify(taken), expiresAt: now + KEPT_MS }, entry)) {
          return 'begin';
        }
        continue;
      }
      case 'skip':
        return 'skip';
      case 'queue': {
        const waiting: Activation = { ...activation, isQueued: true };
        if (!(await writeNext(job, waiting, ports))) continue;
        await sendActivations([{ activation: waiting, deliverAt: now + QUEUED_INTERVAL_MS }], ports);
        return 'queue';
      }
      case 'cancel-holder': {
        // Whoever wrote what stands there may have died before anybody heard of it.
        await announce([decision.holder], job, ports);
        if (decision.holder.indexDueAt !== undefined) await sendReminder(decision.holder, ports);
        const cancelled = transition(decision.holder, 'CANCELLED', now, { reason: 'overlap', finishedAt: now });
        if (!(await ports.runs.put(cancelled, decision.holder))) continue;
        ports.journal.transition(cancelled, job);
        await announce([cancelled], job, ports);
        await releaseHolds(cancelled, job, ports);
        continue;
      }
    }
  }
  throw new Error(`the place of job ${jobId} changed hands ${MOST_TRIES} times while run ${runId} was to take it`);
}

/** A run is over: whoever waits for its place is called at once. */
export async function callNext(job: JobRow, ports: OverlapPorts): Promise<void> {
  if (job.overlap !== 'queue-one') return;
  const waiting = await whoWaits(job, ports);
  if (!waiting?.isWaiting) return;
  await sendActivations([{ activation: waiting.activation, deliverAt: ports.clock.now() }], ports);
}

async function whoWaits(job: JobRow, { control, runs }: OverlapPorts) {
  const entry = await control.read(nextOf(job));
  const activation = entry && parseActivation(entry.value);
  if (!activation) return undefined;
  const runId = runIdOf(activation);
  return { runId, activation, isWaiting: (await runs.read(job.jobId, runId)) === undefined };
}

async function writeNext(job: JobRow, waiting: Activation, { clock, control }: OverlapPorts): Promise<boolean> {
  const seen: ControlEntry | undefined = await control.read(nextOf(job));
  const value = JSON.stringify(waiting);
  if (seen?.value === value) return true;
  return control.put({ name: nextOf(job), value, expiresAt: clock.now() + KEPT_MS }, seen);
}
