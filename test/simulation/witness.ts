import type { Group, GroupPart } from '../../src/domain/group';
import type { Job } from '../../src/domain/job';
import type { Run } from '../../src/domain/run';
import type { Operation } from './plan';

/** A row as it was before and after a write. */
export interface Write<Row> {
  at: number;
  /** the process that wrote, and how far its clock is ahead */
  by: string;
  skewMs: number;
  before: Row | undefined;
  after: Row;
}

export interface RunWrite extends Write<Run> {
  /** revisions of the job that the writing process had read for its present work */
  jobRevisions: readonly number[];
}

/** One call of code, as the code saw it. */
export interface Invocation {
  functionName: string;
  /** the event's JSON text as it came */
  text: string;
  event: Record<string, unknown>;
  at: number;
  skewMs: number;
  by: string;
  endedAt: number;
  result: 'returned' | 'failed';
  /** the caller was told of an error though the code had run */
  isAnswerLost: boolean;
}

/** What a caller was told of an operation. */
export interface Answer {
  operation: Operation;
  at: number;
  kind: 'done' | 'refused' | 'unknown';
  /** what was answered, or why it was refused */
  detail?: unknown;
}

export interface StoryLine {
  at: number;
  who: string;
  what: string;
}

/** Sees everything from outside: what was written, what was called, and what callers were told. */
export class Witness {
  readonly jobs: Write<Job>[] = [];
  readonly runs: RunWrite[] = [];
  readonly groups: Write<Group>[] = [];
  readonly parts: Write<GroupPart>[] = [];
  readonly invocations: Invocation[] = [];
  readonly answers: Answer[] = [];
  readonly story: StoryLine[] = [];
  /** what broke a law, in the order in which it was found */
  readonly violations: { law: string; about: string; at: number }[] = [];
  /** calls of ports */
  calls = 0;

  tell(at: number, who: string, what: string): void {
    this.story.push({ at, who, what });
  }

  accuse(law: string, about: string, at: number): void {
    if (this.violations.length < 50) this.violations.push({ law, about, at });
  }
}
