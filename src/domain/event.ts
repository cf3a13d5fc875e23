import type { Run } from './run';

/** What a subscriber gets: CloudEvents 1.0 in its JSON form. Instants in `data` are ISO 8601 UTC. */
export interface RunEvent {
  specversion: '1.0';
  /** `<runId>:<sequence>`: the same for a repeat of the same transition */
  id: string;
  source: string;
  subject: string;
  type: string;
  time: string;
  datacontenttype: 'application/json';
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

export function iso(at: number): string {
  return new Date(at).toISOString();
}
