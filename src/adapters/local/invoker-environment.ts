import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { InvokeOutcome } from '../../ports';
import type { HandlerCode } from './handler-code';

export interface LogLine {
  functionName: string;
  /** the run that wrote it; absent for what was written while loading or by a program that the handler started */
  runId?: string;
  stream: 'out' | 'err';
}

export interface EnvironmentOptions {
  functionName: string;
  memoryMb: number;
  onLog: (line: string, from: LogLine) => void;
}

export interface EnvironmentCall {
  functionArn: string;
  functionVersion: string;
  event: string;
  timeoutMs: number;
}

type Failure = { type: string; message: string; stack?: string };
type CodeOutcome = { kind: 'returned'; result: string } | { kind: 'failed'; error: Failure };

/** What the child says, one JSON text a line. */
type FromChild =
  | { kind: 'loaded' }
  | { kind: 'unloadable'; error: Failure }
  | { kind: 'over'; outcome: CodeOutcome; spoilt: boolean }
  | { kind: 'leftover'; runId?: string; error: Failure }
  | { kind: 'log'; stream: 'out' | 'err'; runId?: string; line: string };

/** As Lambda's own bound on the start of an environment. */
const MAX_LOAD_MS = 10_000;
/** A Node timer that is set further ahead fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One process with one handler in it, for one attempt at a time. */
export class HandlerEnvironment {
  readonly code: HandlerCode;
  /** epoch ms since when it has had nothing to do */
  idleSince = 0;
  /** It must not be used again: it has ended, or an error that nobody caught may have left it in any state. */
  spoilt = false;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;

  readonly #options: EnvironmentOptions;
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  #received: string[] = [];
  #lastWords = '';
  #gone = false;
  #conclude: ((outcome: InvokeOutcome) => void) | undefined;

  constructor(code: HandlerCode, options: EnvironmentOptions) {
    this.code = code;
    this.#options = options;
    // A group of its own: Ctrl-C in the terminal is for the system, which lets attempts finish; and what the handler starts ends with it.
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${options.memoryMb}`, join(__dirname, 'invoker-child.cjs')],
      { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true },
    );
    this.#channel = this.#child.stdio[3] as Duplex;
    this.ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
    this.#listen();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Answers how loading failed, or undefined when the handler is ready. */
  async load(): Promise<InvokeOutcome | undefined> {
    const { file, text } = this.code;
    const outcome = await this.#ask({ kind: 'load', file, text }, MAX_LOAD_MS, 'loading the handler took');
    return outcome.kind === 'returned' ? undefined : outcome;
  }

  /** The time counts from here: the handler is loaded. */
  async invoke(call: EnvironmentCall): Promise<InvokeOutcome> {
    const { functionName, memoryMb } = this.#options;
    return this.#ask({ kind: 'run', functionName, memoryMb, ...call }, call.timeoutMs, 'the code ran');
  }

  /** Ends the process at once, whatever it does, and what it has started. An attempt in it ends with this outcome. */
  end(outcome: InvokeOutcome): void {
    this.spoilt = true;
    this.#killGroup();
    this.#conclude?.(outcome);
  }

  #ask(message: object, limitMs: number, what: string): Promise<InvokeOutcome> {
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.end(failed('Timeout', `${what} longer than ${limitMs / 1000} s`)),
        Math.min(limitMs, MAX_TIMER_MS),
      );
      this.#conclude = (outcome) => {
        this.#conclude = undefined;
        clearTimeout(timer);
        resolve(outcome);
      };
      this.#channel.write(JSON.stringify(message) + '\n');
    });
  }

  #listen(): void {
    const child = this.#child;
    this.#channel.setEncoding('utf8').on('data', (chunk: string) => this.#receive(chunk));
    // A write to a process that has just died; its end is reported by 'close'.
    this.#channel.on('error', () => {});
    for (const stream of ['out', 'err'] as const) this.#forward(stream);
    child.on('error', (error) => this.end({ kind: 'held-back', reason: 'service-error', message: error.message }));
    child.on('exit', () => this.#killGroup());
    // Not 'exit': by now everything that it said has been read.
    child.on('close', (exitCode, signal) => {
      this.#gone = true;
      this.end(this.#death(exitCode, signal));
    });
    // The system may end while environments wait for work; an attempt keeps it alive by its timer.
    child.unref();
    for (const pipe of child.stdio) (pipe as { unref?: () => void } | null)?.unref?.();
  }

  #receive(chunk: string): void {
    const [head = '', ...rest] = chunk.split('\n');
    this.#received.push(head);
    for (const next of rest) {
      this.#hear(JSON.parse(this.#received.join('')) as FromChild);
      this.#received = [next];
    }
  }

  #hear(message: FromChild): void {
    switch (message.kind) {
      case 'loaded':
        this.#conclude?.({ kind: 'returned', result: 'null' });
        break;
      case 'unloadable':
        this.#logStack(message.error);
        this.end(failed(message.error.type, message.error.message));
        break;
      case 'over':
        if (message.outcome.kind === 'failed') this.#logStack(message.outcome.error);
        this.#settle(message.outcome, message.spoilt);
        break;
      case 'leftover':
        this.spoilt = true;
        this.#logStack(message.error, message.runId);
        break;
      case 'log':
        this.#log(message.line, message.stream, message.runId);
        break;
    }
  }

  #settle(outcome: CodeOutcome, spoilt: boolean): void {
    const plain = outcome.kind === 'failed' ? failed(outcome.error.type, outcome.error.message) : outcome;
    if (spoilt) this.end(plain);
    else this.#conclude?.(plain);
  }

  #logStack(error: Failure, runId?: string): void {
    for (const line of error.stack?.split('\n') ?? []) this.#log(line, 'err', runId);
  }

  #log(line: string, stream: 'out' | 'err', runId?: string): void {
    const { functionName, onLog } = this.#options;
    onLog(line, { functionName, stream, ...(runId === undefined ? {} : { runId }) });
  }

  /** What does not come from the handler's own `process.stdout`: programs that it starts, and Node's last words. */
  #forward(stream: 'out' | 'err'): void {
    const pipe = stream === 'out' ? this.#child.stdout : this.#child.stderr;
    pipe?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-4096);
      for (const line of text.replace(/\n$/, '').split('\n')) this.#log(line, stream);
    });
  }

  #death(exitCode: number | null, signal: string | null): InvokeOutcome {
    if (this.#lastWords.includes('out of memory') || this.#lastWords.includes('Allocation failed')) {
      return failed('Runtime.OutOfMemory', `the code needed more than ${this.#options.memoryMb} MB of memory`);
    }
    return failed('Runtime.ExitError', `the code ended its process (${signal ?? `exit status ${exitCode}`})`);
  }

  #killGroup(): void {
    // The number of a process that is gone may belong to another one.
    if (this.pid === undefined || this.#gone) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Nobody of the group is left.
    }
  }
}

export function failed(type: string, message: string): InvokeOutcome {
  return { kind: 'failed', error: { type, message } };
}
