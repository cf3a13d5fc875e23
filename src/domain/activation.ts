import { createHash } from 'node:crypto';
import type { Priority } from './job';
import type { Run, RunKey, RunOrigin } from './run';

/** The message that asks a runner to start the next attempt of a run. Instants are epoch ms. */
export interface Activation {
  version: 1;
  jobId: string;
  generation: string;
  origin: RunOrigin;
  nominalAt: number;
  /** the earliest start of the attempt */
  dueAt: number;
  /** the sequence that the run had when this was sent: 1 means that it most likely has no row yet */
  sequence: number;
  /** since when this message is sent again because the job's row is not there yet */
  waitingSince?: number;
  /** it waited for others to end, and is no misfire for that */
  isQueued?: boolean;
  /** times that it was held back by a limit */
  waits?: number;
  /** absent: normal */
  priority?: Priority;
  /** the run before it in its chain */
  previous?: RunKey;
  /** times that it came back from the dead-letter queue */
  returns?: number;
}

/**
 * The same for the same occurrence, so that a repeat is recognised; begins with the nominal instant, so that it sorts.
 * A scheduled run's id carries no generation: an edit does not run an occurrence a second time. A backfill's does: it is asked
 * for under one definition, and may be asked for again under the next.
 */
export function runIdOf({ jobId, nominalAt, origin, generation }: Occasion): string {
  const words = [jobId, nominalAt, origin, ...(origin === 'backfill' ? [generation] : [])];
  const hash = createHash('sha256').update(words.join('\n')).digest('hex');
  return `${new Date(nominalAt).toISOString().replace(/[-:.]/g, '')}-${hash.slice(0, 16)}`;
}

const RUN_ID = /^(\d{4}|\+\d{6})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[0-9a-f]{16}$/;

/** The instant that a run's id begins with, epoch ms; undefined for what is no such id. */
export function nominalAtOf(runId: string): number | undefined {
  const match = RUN_ID.exec(runId);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, ms] = match;
  const nominalAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(nominalAt) ? undefined : nominalAt;
}

type Occasion = Pick<Activation, 'jobId' | 'nominalAt' | 'origin' | 'generation'>;

/** The id of the run that the schedule itself starts at this instant. */
export function scheduledRunIdOf(jobId: string, nominalAt: number): string {
  return runIdOf({ jobId, nominalAt, origin: 'scheduled', generation: '' });
}

/** The run before it has a row: sequence 1 by definition. `retentionMs` counts from the due instant. */
export function scheduledRun(activation: Activation, retentionMs: number): Run {
  const { jobId, generation, origin, nominalAt, dueAt, priority, previous } = activation;
  return {
    jobId,
    runId: runIdOf(activation),
    revision: 0,
    sequence: 1,
    state: 'SCHEDULED',
    generation,
    origin,
    nominalAt,
    dueAt,
    attempt: 0,
    changedAt: dueAt,
    attempts: [],
    ...(priority === undefined ? {} : { priority }),
    ...(previous === undefined ? {} : { previous }),
    expiresAt: dueAt + retentionMs,
  };
}

/** The message that asks for the next attempt of a run that waits. */
export function activationOf(run: Run): Activation {
  const { jobId, generation, origin, nominalAt, dueAt, sequence, priority, previous } = run;
  return {
    version: 1,
    jobId,
    generation,
    origin,
    nominalAt,
    dueAt,
    sequence,
    ...(priority === undefined ? {} : { priority }),
    ...(previous === undefined ? {} : { previous }),
  };
}
