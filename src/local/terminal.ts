import pc from 'picocolors';
import type { JobRow } from '../domain/job';
import type { Run, RunState } from '../domain/run';
import type { Journal } from '../ports';

export type TerminalMode = 'lines' | 'json' | 'quiet';

/** Notes that a person at the terminal wants to see; the rest appears with `--json` only. */
const NOTES_SHOWN = new Set([
  'job-deleted',
  'tick-failed',
  'job-not-dispatched',
  'message-left',
  'notice-left',
  'not-notified',
  'late-result-dropped',
  'dead-letters-sent-again',
  'example-skipped',
  'clock-set-back',
  'disk-full',
  'disk-has-room',
]);

const GATHERED_MS = 100;

type Paint = (text: string) => string;

/** Shows each transition in one line. Occurrences of one job that are sent together share a line. */
export class Terminal implements Journal {
  readonly #mode: TerminalMode;
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  readonly #colours: ReturnType<typeof pc.createColors>;
  readonly #soon: (flush: () => void) => void;
  readonly #gathered = new Map<string, Run[]>();

  constructor(options: {
    mode: TerminalMode;
    hasColour: boolean;
    write: (line: string) => void;
    now: () => number;
    /** when what was skipped together is shown; default: a moment later */
    soon?: (flush: () => void) => void;
  }) {
    this.#soon = options.soon ?? ((flush) => void setTimeout(flush, GATHERED_MS).unref());
    this.#mode = options.mode;
    this.#write = options.write;
    this.#now = options.now;
    this.#colours = pc.createColors(options.hasColour);
  }

  transition(run: Run, job: JobRow | undefined): void {
    if (this.#mode === 'quiet') return;
    if (this.#mode === 'json') {
      const { jobId, runId, state, sequence, attempt, latenessMs, reason } = run;
      return this.#json('transition', { jobId, runId, state, sequence, attempt, latenessMs, reason });
    }
    const name = job?.name ?? run.jobId;
    if (run.state === 'SCHEDULED') return this.#gather(run, name, queueMicrotask);
    if (run.state === 'SKIPPED') return this.#gather(run, name, this.#soon);
    this.#line(run.state, name, this.#detailsOf(run));
  }

  note(what: string, details: Record<string, string | number | boolean | undefined>): void {
    if (this.#mode === 'quiet') return;
    if (this.#mode === 'json') return this.#json(what, details);
    if (!NOTES_SHOWN.has(what)) return;
    const text = Object.entries(details)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${key} ${String(value)}`)
      .join(', ');
    this.#write(`${this.#time()}  ${this.#colours.dim(`${what}  ${text}`)}`);
  }

  /** What the code itself printed. */
  output(functionName: string, line: string): void {
    if (this.#mode === 'quiet') return;
    if (this.#mode === 'json') return this.#json('output', { functionName, line });
    this.#write(`${this.#time()}  ${this.#colours.dim(`${functionName} |`)} ${line}`);
  }

  /** Lines that would come in dozens: what is sent together, and what is let go together. */
  #gather(run: Run, name: string, flushSoon: (flush: () => void) => void) {
    const key = `${run.state} ${name} ${run.reason}`;
    const gathered = this.#gathered.get(key);
    if (gathered) {
      gathered.push(run);
      return;
    }
    const runs = [run];
    this.#gathered.set(key, runs);
    flushSoon(() => {
      this.#gathered.delete(key);
      this.#line(run.state, name, runs.length === 1 ? this.#detailsOf(run) : this.#detailsOfMany(runs));
    });
  }

  #detailsOfMany(runs: readonly Run[]): string {
    const instants = runs.map(({ nominalAt }) => nominalAt).sort((a, b) => a - b);
    const [first, last] = [this.#clock(instants[0]!), this.#clock(instants.at(-1)!)];
    const reason = runs[0]!.reason;
    return `${runs.length} runs${reason === undefined ? '' : ` (${reason})`}, from ${first} to ${last}`;
  }

  #detailsOf(run: Run): string {
    switch (run.state) {
      case 'SCHEDULED':
        return `for ${this.#clock(run.nominalAt)}`;
      case 'STARTED':
        return `attempt ${run.attempt}, ${run.latenessMs ?? 0} ms after it was due`;
      case 'RELEASED':
        return `${run.reason}, again at ${this.#clock(run.dueAt)}${causeOf(run)}`;
      case 'DONE':
        return `attempt ${run.attempt}, took ${(run.finishedAt ?? 0) - (run.startedAt ?? 0)} ms`;
      case 'FAILED':
      case 'SKIPPED':
      case 'CANCELLED': {
        const others = run.alsoCovers ? `, and ${run.alsoCovers} more before it` : '';
        return `${run.reason ?? ''}, was due ${this.#clock(run.nominalAt)}${others}${causeOf(run)}`;
      }
    }
  }

  #line(state: RunState, name: string, details: string) {
    this.#write(`${this.#time()}  ${this.#paint(state)(state.padEnd(9))}  ${name}  ${this.#colours.dim(details)}`);
  }

  #paint(state: RunState): Paint {
    const { blue, cyan, dim, green, magenta, red, yellow } = this.#colours;
    const paints: Record<RunState, Paint> = {
      SCHEDULED: dim,
      STARTED: cyan,
      RELEASED: yellow,
      DONE: green,
      FAILED: red,
      SKIPPED: blue,
      CANCELLED: magenta,
    };
    return paints[state];
  }

  #time(): string {
    return this.#colours.dim(this.#clock(this.#now()));
  }

  #clock(at: number): string {
    return clockText(at, this.#now());
  }

  #json(event: string, details: object) {
    this.#write(JSON.stringify({ at: new Date(this.#now()).toISOString(), event, ...details }));
  }
}

/** The first line of what went wrong. */
function causeOf({ error }: Run): string {
  return error === undefined ? '' : `: ${error.message.split('\n', 1)[0]}`;
}

/** Local time of day, as people at this machine read their clock; with the date when it is another day. */
function clockText(at: number, now: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const ms = String(date.getMilliseconds()).padStart(3, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
