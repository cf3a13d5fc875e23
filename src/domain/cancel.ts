import { nominalAtOf, runIdOf, scheduledRun, type Activation } from './activation';
import { attemptLost, holdsLease } from './claim';
import { cancelled } from './conclude';
import { currentGeneration, type JobRow } from './job';
import { occurrence } from './occurrences';
import { allBetween } from './recurrence';
import { revise, transition, type Run, type RunOrigin } from './run';

/** A run that its trigger named may lie so far ahead: two triggers of one millisecond get instants of their own. */
const TRIGGERED_AHEAD_MS = 1_000;

/**
 * The run, which is not over, after somebody took it back: one that waits is CANCELLED, one at work goes on with the wish in its row,
 * and one whose attempt was lost is CANCELLED too.
 */
export function decideCancel(run: Run, now: number, reason: string): Run {
  if (run.state !== 'STARTED') return transition(run, 'CANCELLED', now, { reason, finishedAt: now });
  if (holdsLease(run, now)) return run.cancelRequestedAt ? run : revise(run, { cancelRequestedAt: now, reason });
  return cancelled({ ...run, reason }, now, attemptLost(run));
}

/**
 * The run of this id as it is before it has a row, if the job can have such a run: its id holds its instant, and a hash that tells
 * its origin. `definition` is what the job was under the generation that the instant belongs to, see `generationAt`.
 */
export function absentRun(
  row: JobRow,
  definition: JobRow | undefined,
  runId: string,
  now: number,
  retentionMs: number,
): Run | undefined {
  const nominalAt = nominalAtOf(runId);
  const current = currentGeneration(row)?.id;
  if (nominalAt === undefined || current === undefined) return undefined;
  const activation = (origin: RunOrigin, generation: string, dueAt: number): Activation => ({
    version: 1,
    jobId: row.jobId,
    generation,
    origin,
    nominalAt,
    dueAt,
    sequence: 1,
    ...(row.priority === undefined ? {} : { priority: row.priority }),
  });
  const isNamed = (origin: RunOrigin, generation: string) =>
    runIdOf({ ...row, nominalAt, origin, generation }) === runId;
  if (isNamed('scheduled', current)) {
    if (!definition || !mayRunAt(definition, nominalAt)) return undefined;
    const { dueAt } = occurrence(definition, nominalAt);
    return scheduledRun(activation('scheduled', generationAt(row, nominalAt), dueAt), retentionMs);
  }
  if (isNamed('manual', current)) {
    const isPossible = nominalAt >= row.createdAt && nominalAt <= now + TRIGGERED_AHEAD_MS;
    return isPossible ? scheduledRun(activation('manual', current, nominalAt), retentionMs) : undefined;
  }
  const asked = row.generations.find(({ id }) => isNamed('backfill', id));
  return asked && nominalAt <= now ? scheduledRun(activation('backfill', asked.id, now), retentionMs) : undefined;
}

/** The generation that an occurrence belongs to; of a job that has one. */
export function generationAt({ generations }: JobRow, nominalAt: number): string {
  return generations.find((_, index) => nominalAt < (generations[index + 1]?.startedAt ?? Infinity))!.id;
}

function mayRunAt({ schedule, createdAt, state, dispatchedUntil }: JobRow, nominalAt: number): boolean {
  if (schedule.kind === 'once') return schedule.at === nominalAt;
  if (nominalAt < createdAt || (state === 'COMPLETED' && nominalAt > (dispatchedUntil ?? 0))) return false;
  return allBetween(schedule, nominalAt - 1, nominalAt, 1).length === 1;
}
