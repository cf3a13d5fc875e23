import { scheduledRun } from '../domain/activation';
import type { Callbacks, Group, Tally } from '../domain/group';
import { codeIdOf, guidFrom } from '../domain/guid';
import type { Job, JobRow } from '../domain/job';
import { LIMITS } from '../domain/limits';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import { DEFAULT_RETRY } from '../domain/retry-policy';
import type { Run } from '../domain/run';
import { announce } from './announce';
import { firstActivation } from './dispatch';
import type { FollowUpPorts } from './follow-up-ports';
import { sendActivations } from './send-activations';

export type CallbackPorts = Omit<FollowUpPorts, 'groups' | 'runs'>;

export interface CallbackCause {
  tally: Tally;
  /** the run that failed first, where that is the cause */
  run?: Run;
}

/** The job that a group's callback is: the same for the same one, so that it comes once. */
export function callbackJobIdOf(groupId: string, which: keyof Callbacks, percent?: number): string {
  return guidFrom('callback', groupId, which, ...(which === 'progress' ? [String(percent)] : []));
}

/**
 * Starts the code that a group calls, as a job of its own, with retries and a place among the failed ones; once in the group's
 * life. `cause` is only asked for where it has not been started yet.
 */
export async function startCallback(
  group: Group,
  which: keyof Callbacks,
  cause: () => Promise<CallbackCause>,
  ports: CallbackPorts,
  percent?: number,
): Promise<void> {
  const functionArn = group.callbacks[which];
  if (functionArn === undefined) return;
  const jobId = callbackJobIdOf(group.groupId, which, percent);
  const [standing] = await ports.jobs.readRows([jobId]);
  // Longer than anything that may happen to the group until it is looked for next.
  const expiresAt = group.expiresAt + ports.settings.failedRetentionMs;
  if (standing && !isFence(standing)) return keepUntil(expiresAt, standing, ports);

  const now = ports.clock.now();
  const generation = ports.ids.guid();
  const job: Job = {
    jobId,
    revision: 1,
    state: 'ACTIVE',
    generations: [{ id: generation, startedAt: now }],
    lifeId: generation,
    name: `${group.name ?? group.groupId}: ${which}`.slice(0, LIMITS.nameCharacters),
    tags: [],
    functionArn,
    codeId: codeIdOf(functionArn),
    schedule: { kind: 'once', at: now, timezone: 'UTC' },
    retry: DEFAULT_RETRY,
    misfire: DEFAULT_MISFIRE,
    timeoutSeconds: LIMITS.timeoutSeconds,
    createdAt: now,
    subscribedStates: [],
    expiresAt,
    payload: JSON.stringify(payloadOf(group, which, await cause())),
  };
  await ports.code.put({ codeId: job.codeId, kind: 'job', functionArn });
  await put(job, standing, ports);
}

/** What was called is not called again for as long as the group lives. */
export async function keepCallbacks(group: Group, ports: CallbackPorts): Promise<void> {
  const ids = (['then', 'catch', 'finally'] as const).map((which) => callbackJobIdOf(group.groupId, which));
  const expiresAt = group.expiresAt + ports.settings.failedRetentionMs;
  for (const row of await ports.jobs.readRows(ids)) await keepUntil(expiresAt, row, ports);
}

/** The message first, as for every job that is due at once. A message whose job was given up meanwhile is not waited for: the due index leads to it. */
async function put(job: Job, fence: JobRow | undefined, ports: CallbackPorts): Promise<void> {
  const activation = firstActivation(job, { nominalAt: job.createdAt, dueAt: job.createdAt });
  if (fence) {
    await ports.jobs.put({ ...job, revision: fence.revision + 1, dueAt: job.createdAt }, fence);
    return;
  }
  await sendActivations([{ activation, deliverAt: activation.dueAt }], ports);
  // Where another was faster, this message belongs to no generation, and is dropped.
  if (!(await ports.jobs.put(job))) return;
  const run = scheduledRun(activation, ports.settings.retentionMs);
  ports.journal.transition(run, job);
  await announce([run], job, ports);
}

/** The tombstone of a message that waited too long for its job. */
function isFence({ state, generations }: JobRow): boolean {
  return state === 'DELETED' && generations.length === 0;
}

async function keepUntil(expiresAt: number, row: JobRow, { jobs }: CallbackPorts): Promise<void> {
  if ((row.expiresAt ?? Infinity) >= expiresAt) return;
  // Lost to another write, it is done the next time.
  await jobs.update({ ...row, revision: row.revision + 1, expiresAt }, row);
}

const REASONS = {
  progress: 'progress',
  catch: 'first-failure',
  then: 'all-done',
  finally: 'all-over',
} as const satisfies Record<keyof Callbacks, string>;

function payloadOf(group: Group, which: keyof Callbacks, { tally, run }: CallbackCause): object {
  const { groupId, kind, name, state } = group;
  return {
    [`${kind}Id`]: groupId,
    ...(name === undefined ? {} : { name }),
    state,
    ...tally,
    reason: REASONS[which],
    ...(run === undefined ? {} : { jobId: run.jobId, runId: run.runId, error: run.error }),
  };
}
