import type { Group, Tally } from './group';
import type { Run } from './run';

/** What a subscriber gets: CloudEvents 1.0 in its JSON form. Instants in `data` are ISO 8601 UTC. */
interface CloudEvent {
  specversion: '1.0';
  /** `<runId or groupId>:<sequence>`: the same for a repeat of the same transition */
  id: string;
  source: string;
  subject: string;
  type: string;
  time: string;
  datacontenttype: 'application/json';
}

export interface GroupEvent extends CloudEvent {
  data: { chainId?: string; batchId?: string; name?: string; state: string; sequence: number } & Partial<Tally>;
}

export interface RunEvent extends CloudEvent {
  data: {
    jobId: string;
    runId: string;
    state: string;
    sequence: number;
    attempt: number;
    origin: string;
    nominalAt: string;
    dueAt: string;
    startedAt?: string;
    finishedAt?: string;
    latenessMs?: number;
    alsoCovers?: number;
    reason?: string;
    error?: { type: string; message: string };
  };
}

/** The event of a run's latest transition, as it stands in this row. */
export function eventOf(run: Run): RunEvent {
  return {
    specversion: '1.0',
    id: `${run.runId}:${run.sequence}`,
    source: `/jobs/${run.jobId}`,
    subject: run.runId,
    type: `escapement.run.${run.state.toLowerCase()}`,
    time: iso(run.changedAt),
    datacontenttype: 'application/json',
    data: {
      jobId: run.jobId,
      runId: run.runId,
      state: run.state,
      sequence: run.sequence,
      attempt: run.attempt,
      origin: run.origin,
      nominalAt: iso(run.nominalAt),
      dueAt: iso(run.dueAt),
      ...(run.startedAt === undefined ? {} : { startedAt: iso(run.startedAt) }),
      ...(run.finishedAt === undefined ? {} : { finishedAt: iso(run.finishedAt) }),
      ...(run.latenessMs === undefined ? {} : { latenessMs: run.latenessMs }),
      ...(run.alsoCovers === undefined ? {} : { alsoCovers: run.alsoCovers }),
      ...(run.reason === undefined ? {} : { reason: run.reason }),
      ...(run.error === undefined ? {} : { error: run.error }),
    },
  };
}

/** The event of a group's latest change of state. */
export function groupEventOf(group: Group, at: number, tally?: Tally): GroupEvent {
  const { groupId, kind, state, sequence, name } = group;
  return {
    specversion: '1.0',
    id: `${groupId}:${sequence}`,
    source: `/${kind === 'chain' ? 'chains' : 'batches'}/${groupId}`,
    subject: groupId,
    type: `escapement.${kind}.${state.toLowerCase()}`,
    time: iso(at),
    datacontenttype: 'application/json',
    data: {
      [`${kind}Id`]: groupId,
      ...(name === undefined ? {} : { name }),
      state,
      sequence,
      ...tally,
    },
  };
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}
