import { guidFrom } from './guid';
import type { RunState } from './run-state';

export const GROUP_KINDS = ['chain', 'batch'] as const;
export type GroupKind = (typeof GROUP_KINDS)[number];

export type GroupState = 'RUNNING' | 'DONE' | 'FAILED' | 'CANCELLED';

/** Code that a group calls, each as a job of its own: ARNs. */
export interface Callbacks {
  /** everything is DONE, or what failed was allowed to */
  then?: string;
  /** the first failure */
  catch?: string;
  /** everything is over, whatever came of it */
  finally?: string;
  /** at most once for each percent */
  progress?: string;
}

/**
 * The head of a chain or batch. What became of its jobs stands in its parts, so that no row is written by all of them; the
 * head only hears of a part when nothing in it is pending any more, or something is again. Instants are epoch ms.
 */
export interface Group {
  groupId: string;
  kind: GroupKind;
  /** counts the writes of this row; every write is conditional on the revision it saw */
  revision: number;
  /** counts the changes of state: 1 is RUNNING */
  sequence: number;
  state: GroupState;
  name?: string;
  callbacks: Callbacks;
  /** failures do not make the whole FAILED */
  allowFailures?: boolean;
  /** the parts by their ids, in their order: the revision of the part that the head last heard of, negative while something in it was pending */
  parts: Readonly<Record<string, number>>;
  createdAt: number;
  finishedAt?: number;
  /** a person took it back: what has not begun is not started any more */
  cancelledAt?: number;
  /** a failure that was not allowed: what has not begun is not started any more */
  stoppedAt?: number;
  /** the latest percent that `progress` was called for */
  percent?: number;
  requestDigest: string;
  expiresAt: number;
}

/** What becomes of a job of a group, in one character: pending, done, failed, skipped, cancelled. */
export type MemberState = 'P' | 'D' | 'F' | 'S' | 'C';

/**
 * Some jobs of a group. A chain within a batch lies whole in one part. Everything that is written here is the state at the
 * highest sequence of the run that was seen, so that an outcome that comes twice, or late, changes nothing.
 */
export interface GroupPart {
  groupId: string;
  partId: string;
  /** counts the writes of this row; every write is conditional on the revision it saw */
  revision: number;
  /** a MemberState for each job */
  states: string;
  /** how many jobs follow one after another, from each first of them; absent: 1 each */
  lengths?: readonly number[];
  /** ids of the jobs that have one of their caller's own, by index */
  jobIds?: Readonly<Record<string, string>>;
  /** where a job failed, or was sent again: the sequence of its run then, by index */
  sequences?: Readonly<Record<string, number>>;
  /** the nominal instant of a job's run where it is not that of the group's creation, by index: it was sent again after it was skipped */
  nominalAts?: Readonly<Record<string, number>>;
  /** where progress is called: among so many parts the percents are shared out, by the number that the part's id ends with */
  progressParts?: number;
  expiresAt: number;
}

/** The jobs of a part so many; a row of it stays within one write unit. */
export const PART_JOBS = 100;

/** The state of each job of a whole group, counted. `percent` is rounded down; of an empty group it is 100. */
export interface Tally {
  total: number;
  pending: number;
  done: number;
  failed: number;
  skipped: number;
  cancelled: number;
  percent: number;
}

export function groupIdOf(kind: GroupKind, requestId: string): string {
  return guidFrom(kind, requestId);
}

/** The id of a job of a group that has none of its caller's own. */
export function memberJobIdOf(part: GroupPart, index: number): string {
  return part.jobIds?.[index] ?? guidFrom('member', part.groupId, part.partId, String(index));
}

export function memberStateOf(state: RunState): MemberState {
  switch (state) {
    case 'DONE':
      return 'D';
    case 'FAILED':
      return 'F';
    case 'SKIPPED':
      return 'S';
    case 'CANCELLED':
      return 'C';
    case 'SCHEDULED':
    case 'STARTED':
    case 'RELEASED':
      return 'P';
  }
}

export function tallyOf(parts: readonly Pick<GroupPart, 'states'>[]): Tally {
  const count = { P: 0, D: 0, F: 0, S: 0, C: 0 };
  for (const { states } of parts) for (const state of states) count[state as MemberState]++;
  const total = parts.reduce((sum, { states }) => sum + states.length, 0);
  return {
    total,
    pending: count.P,
    done: count.D,
    failed: count.F,
    skipped: count.S,
    cancelled: count.C,
    percent: total === 0 ? 100 : Math.floor((100 * (total - count.P)) / total),
  };
}
