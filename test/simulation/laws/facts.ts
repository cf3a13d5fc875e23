import { currentGeneration, type Job } from '../../../src/domain/job';
import type { Run } from '../../../src/domain/run';
import type { Cloud } from '../cloud';
import type { RunWrite, Witness, Write } from '../witness';

/** Clocks of processes differ by so much at most, one way. */
export const SKEW_MS = 2_000;
/** A lease counts as ended so long after its end. */
export const LEASE_MARGIN_MS = 5_000;

/** What a history left behind, in the order and groups in which the laws look at it. */
export class Facts {
  readonly witness: Witness;
  readonly cloud: Cloud;
  /** no fault was injected at all */
  readonly isCalm: boolean;
  /** writes of each run, in their order */
  readonly runWrites: ReadonlyMap<string, RunWrite[]>;
  readonly jobWrites: ReadonlyMap<string, Write<Job>[]>;
  /** a job as it was under a generation: as it was first written with it */
  readonly #definitions = new Map<string, Job>();

  constructor(cloud: Cloud) {
    this.cloud = cloud;
    this.witness = cloud.witness;
    this.isCalm = cloud.faults.injected.length === 0;
    this.runWrites = grouped(this.witness.runs, ({ after }) => keyOf(after));
    this.jobWrites = grouped(this.witness.jobs, ({ after }) => after.jobId);
    for (const { after } of this.witness.jobs) {
      const generation = currentGeneration(after)?.id;
      if (generation !== undefined && !this.#definitions.has(generation)) this.#definitions.set(generation, after);
    }
  }

  /** Every run, as it is at the end. */
  get runs(): Run[] {
    return [...this.runWrites.values()].map((writes) => writes.at(-1)!.after);
  }

  jobOf({ generation }: Pick<Run, 'generation'>): Job | undefined {
    return this.#definitions.get(generation);
  }

  jobAt(jobId: string, revision: number): Job | undefined {
    return this.jobWrites.get(jobId)?.findLast(({ after }) => after.revision === revision)?.after;
  }

  /** The state of a run at an instant: what the last write up to it left. */
  runAt(key: string, at: number): Run | undefined {
    return this.runWrites.get(key)?.findLast((write) => write.at <= at)?.after;
  }

  accuse(law: string, about: string, at = this.cloud.time.now): void {
    this.witness.accuse(law, about, at);
  }
}

export function keyOf({ jobId, runId }: Pick<Run, 'jobId' | 'runId'>): string {
  return `${jobId} ${runId}`;
}

export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
