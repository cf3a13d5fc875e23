import { scheduledRun, type Activation } from '../domain/activation';
import type { JobRow } from '../domain/job';
import { memberJobIdOf, type GroupPart } from '../domain/group';
import { nominalAtIn } from '../domain/group-part';
import { transition, type Run, type RunKey } from '../domain/run';
import type { Ports } from '../ports';
import { announce, type AnnouncePorts } from './announce';
import { firstActivation } from './dispatch';
import { sendActivations, type ActivationPorts } from './send-activations';

export type MemberPorts = Pick<Ports, 'jobs' | 'runs' | 'journal' | 'settings'> & ActivationPorts & AnnouncePorts;

/** A job whose turn in its group has come, at the instant `at`; a delay of its own counts from then. Epoch ms. */
export interface Turn {
  job: JobRow;
  nominalAt: number;
  at: number;
  previous?: RunKey;
}

/** The rows of these jobs of a part; a job whose row is gone is left out. */
export async function memberRows(
  part: GroupPart,
  indexes: readonly number[],
  { jobs }: Pick<Ports, 'jobs'>,
): Promise<Map<number, JobRow>> {
  const ids = indexes.map((index) => memberJobIdOf(part, index));
  const rows = new Map((await jobs.readRows(ids)).map((row) => [row.jobId, row]));
  return new Map(
    indexes.flatMap((index, nth) => {
      const row = rows.get(ids[nth]!);
      return row ? [[index, row] as const] : [];
    }),
  );
}

/** Puts these on their way. Sending one twice does no harm: claims decide. */
export async function sendTurns(turns: readonly Turn[], ports: MemberPorts): Promise<void> {
  if (turns.length === 0) return;
  const sent = turns.map((turn) => ({ job: turn.job, activation: activationFor(turn) }));
  await sendActivations(
    sent.map(({ activation }) => ({ activation, deliverAt: activation.dueAt })),
    ports,
  );
  const scheduled = sent.map(({ job, activation }) => ({
    job,
    run: scheduledRun(activation, ports.settings.retentionMs),
  }));
  for (const { run, job } of scheduled) ports.journal.transition(run, job);
  await announceAll(scheduled, ports);
}

/** The earliest start of the job, epoch ms. */
export function dueAtOf({ job: { schedule }, at }: Turn): number {
  const delaySeconds = schedule.kind === 'once' ? (schedule.delaySeconds ?? 0) : 0;
  return at + Math.round(delaySeconds * 1000);
}

function activationFor(turn: Turn): Activation {
  const { job, nominalAt, previous } = turn;
  return { ...activationAt(job, nominalAt, dueAtOf(turn)), ...(previous === undefined ? {} : { previous }) };
}

/** `isQueued`: a job of a group waits for its turn, and is no misfire for that. */
function activationAt(job: JobRow, nominalAt: number, dueAt: number): Activation {
  return { ...firstActivation(job, { nominalAt, dueAt }), isQueued: true };
}

/**
 * Records that the turn of these jobs does not come, where nothing is known of their runs yet.
 * @returns those whose run was there already, and is not SKIPPED
 */
export async function recordSkipped(
  part: GroupPart,
  indexes: readonly number[],
  { reason, groupCreatedAt }: { reason: string; groupCreatedAt: number },
  ports: MemberPorts & Pick<Ports, 'clock'>,
): Promise<number[]> {
  if (indexes.length === 0) return [];
  const now = ports.clock.now();
  const rows = await memberRows(part, indexes, ports);
  const recorded = await Promise.all(
    [...rows].map(async ([index, job]) => {
      const absent = scheduledRun(
        activationAt(job, nominalAtIn(part, index, groupCreatedAt), now),
        ports.settings.retentionMs,
      );
      const run = transition(absent, 'SKIPPED', now, { reason, finishedAt: now });
      if (await ports.runs.put(run)) {
        ports.journal.transition(run, job);
        return { index, job, run };
      }
      return { index, job, run: await ports.runs.read(job.jobId, run.runId) };
    }),
  );
  const isSkipped = (one: (typeof recorded)[number]): one is { index: number; job: JobRow; run: Run } =>
    one.run?.state === 'SKIPPED';
  await announceAll(recorded.filter(isSkipped), ports);
  return recorded.filter((one) => !isSkipped(one)).map(({ index }) => index);
}

/** Those of jobs that somebody subscribed to one by one, all others at once. */
async function announceAll(transitions: readonly { run: Run; job: JobRow }[], ports: AnnouncePorts): Promise<void> {
  const isHeard = ({ job }: { job: JobRow }) => job.subscribedStates.length > 0;
  for (const { run, job } of transitions.filter(isHeard)) await announce([run], job, ports);
  const others = transitions.filter((one) => !isHeard(one)).map(({ run }) => run);
  await announce(others, undefined, ports);
}
