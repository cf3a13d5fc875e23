import { nominalAtOf } from '../../src/domain/activation';
import { isFinal, type RunState } from '../../src/domain/run';
import { countBy, countsText, type Counts } from './counts';

/** A line of the system's `--json` output. */
export interface Line {
  event: string;
  [field: string]: unknown;
}

/** What was heard of one run. */
export interface Heard {
  readonly jobId: string;
  readonly runId: string;
  /** the latest by its sequence: lines of one run may come in another order than they were written */
  state: RunState;
  sequence: number;
  attempt: number;
  /** of every transition but the first, which whoever sends the run again may announce again */
  readonly sequences: number[];
  /** attempts that began, and calls that the code itself told of */
  starts: number;
  calls: number;
}

/** What is to become of a job's runs. Answers what is wrong yet, nothing once it is as it should be. */
export type Expectation = (runs: readonly Heard[]) => string | undefined;

/** So many runs that ended so, and no other. `attempt`: each with its so many-th. */
export function ended(count: number, state: RunState, attempt?: number): Expectation {
  return (runs) => {
    const right = runs.filter((run) => run.state === state && (attempt === undefined || run.attempt === attempt));
    if (right.length === count && runs.length === count) return undefined;
    const seen = countsText(countBy(runs.map((run) => `${run.state} at attempt ${run.attempt}`)));
    return `${count} ${state}${attempt === undefined ? '' : ` at attempt ${attempt}`} expected, and seen ${seen}`;
  };
}

/** Whatever becomes of them, as long as they end. */
export const anyEnd: Expectation = () => undefined;

/** So many runs that are DONE, one for each period, with nothing between. */
export function eachPeriod(periodMs: number, count: number): Expectation {
  return (runs) => {
    const nominal = runs.map(({ runId }) => nominalAtOf(runId)!).sort((a, b) => a - b);
    const gap = nominal.findIndex((at, index) => index > 0 && at !== nominal[index - 1]! + periodMs);
    if (gap >= 0) return `nothing between ${iso(nominal[gap - 1]!)} and ${iso(nominal[gap]!)}`;
    return ended(count, 'DONE')(runs);
  };
}

interface Waiter {
  passes: (run: Heard) => boolean;
  resolve: (run: Heard) => void;
}

/**
 * The outside's account: what was acknowledged, beside what the journal and the code itself told. Nothing here asks the system
 * anything.
 */
export class Account {
  readonly #runs = new Map<string, Heard>();
  readonly #runsOf = new Map<string, Heard[]>();
  readonly #expected = new Map<string, Expectation>();
  readonly #tokens = new Map<string, string>();
  readonly #waiters = new Map<string, Waiter[]>();
  /** by group and reason: whether it is to come, and how often it came */
  readonly #callbacks = new Map<string, { isExpected: boolean; times: number }>();
  readonly #notices = new Map<string, number>();
  /** states, each of one job or, without it, of all */
  readonly #subscriptions = new Set<string>();
  readonly #eventsExpected = new Set<string>();
  readonly #faults: string[] = [];
  readonly notes: Counts = {};

  hear(line: Line): void {
    if (line.event === 'transition') this.#hearTransition(line as unknown as Transition);
    else if (line.event === 'output') this.#hearCode(String(line['line']));
    else this.notes[line.event] = (this.notes[line.event] ?? 0) + 1;
  }

  /** The system has acknowledged this job, or a change of it after which this is what is to come of it. */
  expect(jobId: string, expectation: Expectation): void {
    this.#expected.set(jobId, expectation);
  }

  /** A chain or batch is to call back once for this reason, by a job that it makes itself. */
  expectCallback(groupId: string, reason: string): void {
    this.#callback(groupId, reason).isExpected = true;
  }

  /** Whoever is subscribed hears of each transition to this state, of this job or of all, from now on. */
  expectNotices(state: RunState, jobId?: string): void {
    this.#subscriptions.add(jobId === undefined ? state : `${state} ${jobId}`);
  }

  fault(what: string): void {
    this.#faults.push(what);
  }

  /** The first run of this job, past or to come, that passes. Rejects when `signal` aborts before. */
  async run(jobId: string, passes: (run: Heard) => boolean, signal: AbortSignal): Promise<Heard> {
    const known = this.#runsOf.get(jobId)?.find(passes);
    if (known) return known;
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(jobId) ?? [];
      this.#waiters.set(jobId, waiters);
      const giveUp = () => reject(new Error(`nothing more was heard of job ${jobId}`));
      signal.addEventListener('abort', giveUp, { once: true });
      waiters.push({
        passes,
        resolve: (run) => {
          signal.removeEventListener('abort', giveUp);
          resolve(run);
        },
      });
      if (signal.aborted) giveUp();
    });
  }

  /** The token of this attempt of a run that completes by callback. */
  tokenOf({ runId, attempt }: Heard): string | undefined {
    return this.#tokens.get(`${runId} ${attempt}`);
  }

  stateOf(runId: string): RunState | undefined {
    return this.#runs.get(runId)?.state;
  }

  /** What is not as it should be yet: most of it is only still on its way. */
  *unsettled(): Generator<string> {
    for (const [jobId, expectation] of this.#expected) {
      const wrong = expectation(this.#runsOf.get(jobId) ?? []);
      if (wrong !== undefined) yield `job ${jobId}: ${wrong}`;
    }
    for (const run of this.#runs.values()) {
      const wrong = unsettledIn(run);
      if (wrong !== undefined) yield `run ${run.runId} of job ${run.jobId}: ${wrong}`;
    }
    for (const [key, { isExpected, times }] of this.#callbacks) {
      if (times !== (isExpected ? 1 : 0)) yield `callback ${key}: came ${times} times`;
    }
    for (const id of this.#eventsExpected) if (!this.#notices.has(id)) yield `notice ${id}: did not come`;
  }

  /** What can never become right any more. */
  *faults(): Generator<string> {
    yield* this.#faults;
    const strangers = [...this.#runsOf.keys()].filter((jobId) => !this.#expected.has(jobId));
    const ofCallbacks = [...this.#callbacks.values()].reduce((sum, { times }) => sum + times, 0);
    if (strangers.length !== ofCallbacks)
      yield `${strangers.length} jobs ran that nobody asked for, and callbacks were ${ofCallbacks}: ${strangers.slice(0, 3).join(', ')}`;
  }

  totals() {
    const states: Partial<Record<RunState, number>> = {};
    let [calls, over] = [0, 0];
    for (const run of this.#runs.values()) {
      states[run.state] = (states[run.state] ?? 0) + 1;
      calls += run.calls;
      if (isFinal(run.state)) over += 1;
    }
    const notices = [...this.#notices.values()];
    return {
      acknowledged: this.#expected.size,
      runs: this.#runs.size,
      over,
      states,
      calls,
      notices: notices.length,
      noticesTwice: notices.filter((times) => times > 1).length,
    };
  }

  #hearTransition({ jobId, runId, state, sequence, attempt }: Transition): void {
    const run = this.#runs.get(runId) ?? this.#meet(jobId, runId);
    if (sequence > 1) {
      if (run.sequences.includes(sequence)) this.fault(`run ${runId} of job ${jobId} came to ${sequence} twice`);
      run.sequences.push(sequence);
    }
    if (state === 'STARTED') run.starts += 1;
    if (sequence >= run.sequence) Object.assign(run, { state, sequence, attempt });
    if (this.#isSubscribed(jobId, state)) this.#eventsExpected.add(`${runId}:${sequence}`);
    this.#tell(run);
  }

  #hearCode(line: string): void {
    const [what, id, second, lateMs, token] = line.split(' ');
    if (what === 'notice') this.#notices.set(id!, (this.#notices.get(id!) ?? 0) + 1);
    if (what === 'callback') this.#callback(id!, second!).times += 1;
    if (what !== 'called') return;
    const run = this.#runs.get(id!);
    if (!run) return this.fault(`run ${id} was called, and nobody said that it began`);
    if (Number(lateMs) < 0) this.fault(`attempt ${second} of run ${id} began ${-Number(lateMs)} ms early`);
    run.calls += 1;
    if (token) this.#tokens.set(`${id} ${second}`, token);
    this.#tell(run);
  }

  #meet(jobId: string, runId: string): Heard {
    const run: Heard = {
      jobId,
      runId,
      state: 'SCHEDULED',
      sequence: 0,
      attempt: 0,
      sequences: [],
      starts: 0,
      calls: 0,
    };
    this.#runs.set(runId, run);
    const siblings = this.#runsOf.get(jobId);
    if (siblings) siblings.push(run);
    else this.#runsOf.set(jobId, [run]);
    return run;
  }

  #tell(run: Heard): void {
    const waiters = this.#waiters.get(run.jobId);
    if (!waiters) return;
    const left = waiters.filter((waiter) => !waiter.passes(run));
    const served = waiters.filter((waiter) => !left.includes(waiter));
    if (left.length > 0) this.#waiters.set(run.jobId, left);
    else this.#waiters.delete(run.jobId);
    for (const { resolve } of served) resolve(run);
  }

  #callback(groupId: string, reason: string) {
    const key = `${groupId} ${reason}`;
    const known = this.#callbacks.get(key) ?? { isExpected: false, times: 0 };
    this.#callbacks.set(key, known);
    return known;
  }

  #isSubscribed(jobId: string, state: RunState): boolean {
    return this.#subscriptions.has(state) || this.#subscriptions.has(`${state} ${jobId}`);
  }
}

interface Transition {
  jobId: string;
  runId: string;
  state: RunState;
  sequence: number;
  attempt: number;
}

function unsettledIn({ state, sequence, sequences, starts, calls }: Heard): string | undefined {
  if (!isFinal(state)) return `is ${state} still`;
  const heard = new Set(sequences);
  for (let each = 2; each <= sequence; each++) if (!heard.has(each)) return `its transition ${each} was not told`;
  return starts === calls ? undefined : `${starts} attempts began, and its code was called ${calls} times`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
