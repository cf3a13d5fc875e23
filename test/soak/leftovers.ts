import type { JobRow } from '../../src/domain/job';
import { OF_ALL } from '../../src/domain/notification';
import type { Run, RunState } from '../../src/domain/run';
import type { ControlEntry } from '../../src/ports';
import { countBy } from './counts';
import { readStore, type StoreTables } from './read-store';

export interface Leftovers {
  /** what is wrong, in sentences */
  faults: string[];
  /** control entries by the first word of their name, and how long one of them is kept yet at most, in hours */
  control: Record<string, { count: number; hours: number }>;
  /** messages by queue */
  messages: Record<string, number>;
}

interface Looked {
  directory: string;
  /** epoch ms */
  now: number;
  /** what was past its retention by then should have been removed, epoch ms */
  overdueBefore: number;
  /** what the outside heard of a run last */
  stateOf: (runId: string) => RunState | undefined;
}

/** A unique key is given back by an end that lies so far in the past: see `src/operations/unique-lock.ts`. */
const ENDED_BEFORE_MS = 60_000;
const WITH_AN_END = ['jobs', 'runs', 'control', 'definitions', 'groups', 'group-parts'];

/** Looks through the whole store of a system that has stopped. */
export async function lookThrough({ directory, now, overdueBefore, stateOf }: Looked): Promise<Leftovers> {
  return readStore(directory, (tables) => {
    const faults = new Faults();
    lookForOverdue(tables, overdueBefore, faults);
    const jobs = new Map(rowsOf<JobRow>(tables, 'jobs').map(({ row }) => [row.jobId, row]));
    const runs = new Map(rowsOf<Run>(tables, 'runs').map(({ row }) => [textOf([row.jobId, row.runId]), row]));
    lookForOrphans(tables, jobs, runs, faults);
    lookAtIndexes(tables, jobs, runs, faults);
    for (const { jobId, runId, state } of runs.values()) {
      const heard = stateOf(runId);
      faults.addIf(heard !== state, `a run is ${state} in the store, and was heard of as ${heard}`, [jobId, runId]);
    }
    return {
      faults: faults.all(),
      control: controlKinds(tables, now),
      messages: countBy(keysOf(tables, 'message-states').map(([queue]) => String(queue))),
    };
  });
}

function lookForOverdue(tables: StoreTables, overdueBefore: number, faults: Faults): void {
  for (const name of WITH_AN_END) {
    const before = name === 'control' ? overdueBefore - ENDED_BEFORE_MS : overdueBefore;
    for (const { key, row } of rowsOf<{ expiresAt?: number }>(tables, name))
      faults.addIf((row.expiresAt ?? Infinity) < before, `a row of ${name} is past its retention`, key);
  }
}

function lookForOrphans(
  tables: StoreTables,
  jobs: ReadonlyMap<string, JobRow>,
  runs: ReadonlyMap<string, Run>,
  faults: Faults,
): void {
  const withRuns = new Set([...runs.values()].map(({ jobId }) => jobId));
  for (const key of keysOf(tables, 'definitions')) {
    const [jobId] = key as [string];
    faults.addIf(!jobs.has(jobId) && !withRuns.has(jobId), 'a former definition has neither job nor run any more', key);
  }
  for (const name of ['payloads', 'notifications'])
    for (const key of keysOf(tables, name)) {
      const [jobId] = key as [string];
      faults.addIf(jobId !== OF_ALL.jobId && !jobs.has(jobId), `a row of ${name} has no job any more`, key);
    }
  const states = new Set(keysOf(tables, 'message-states').map(textOf));
  const bodies = keysOf(tables, 'message-bodies');
  for (const body of bodies) faults.addIf(!states.has(textOf(body)), 'a message has no state', body);
  faults.addIf(states.size > bodies.length, 'there are more states of messages than bodies', [states.size]);
}

function lookAtIndexes(
  tables: StoreTables,
  jobs: ReadonlyMap<string, JobRow>,
  runs: ReadonlyMap<string, Run>,
  faults: Faults,
): void {
  for (const key of keysOf(tables, 'jobs-due')) {
    const [, dueAt, jobId] = key as [number, number, string];
    faults.addIf(jobs.get(jobId)?.dueAt !== dueAt, 'an entry of jobs-due is not when its job is due', key);
  }
  for (const key of keysOf(tables, 'runs-due')) {
    const [, dueAt, ...ids] = key;
    faults.addIf(runs.get(textOf(ids))?.indexDueAt !== dueAt, 'an entry of runs-due is not when its run is due', key);
  }
  for (const key of keysOf(tables, 'runs-failed')) {
    const [failedAt, ...ids] = key;
    faults.addIf(runs.get(textOf(ids))?.failedAt !== failedAt, 'an entry of runs-failed has no such failed run', key);
  }
  for (const key of keysOf(tables, 'runs-started'))
    faults.addIf(runs.get(textOf(key))?.state !== 'STARTED', 'an entry of runs-started has no run at work', key);
}

function controlKinds(tables: StoreTables, now: number): Leftovers['control'] {
  const kinds: Leftovers['control'] = {};
  for (const { row } of rowsOf<ControlEntry>(tables, 'control')) {
    const kind = (kinds[row.name.split(':')[0]!] ??= { count: 0, hours: 0 });
    kind.count += 1;
    kind.hours = Math.max(kind.hours, Math.ceil((row.expiresAt - now) / 3_600_000));
  }
  return kinds;
}

/** The same thing said of a thousand rows is one sentence. */
class Faults {
  readonly #found = new Map<string, { count: number; first: string }>();

  addIf(isWrong: boolean, what: string, key: readonly unknown[]): void {
    if (!isWrong) return;
    const known = this.#found.get(what) ?? { count: 0, first: textOf(key) };
    known.count += 1;
    this.#found.set(what, known);
  }

  all(): string[] {
    return [...this.#found].map(([what, { count, first }]) => `${what}: ${count}, the first ${first}`);
  }
}

/** Keys of one part as a list, like the others. */
function keysOf({ names, table }: StoreTables, name: string): (string | number)[][] {
  if (!names.includes(name)) return [];
  return [...table(name).getKeys()].map((key) => (Array.isArray(key) ? key : [key]));
}

function rowsOf<Row>({ names, table }: StoreTables, name: string): { key: (string | number)[]; row: Row }[] {
  if (!names.includes(name)) return [];
  return [...table(name).getRange()].map(({ key, value }) => ({
    key: Array.isArray(key) ? key : [key],
    row: JSON.parse(value) as Row,
  }));
}

function textOf(key: readonly unknown[]): string {
  return JSON.stringify(key);
}
