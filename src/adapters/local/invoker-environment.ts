import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import type { InvokeOutcome } from '../../ports';
import type { HandlerCode } from './handler-code';
import { LONGEST_MESSAGE, readMessage, type CodeOutcome, type Failure, type FromChild } from './invoker-channel';
import { HandlerLog, type LogLine } from './invoker-log';

export interface EnvironmentOptions {
  functionName: string;
  memoryMb: number;
  /** variables of the process, beside those of the system's own */
  variables: Readonly<Record<string, string>>;
  onLog: (line: string, from: LogLine) => void;
}

export interface EnvironmentCall {
  functionArn: string;
  functionVersion: string;
  event: string;
  timeoutMs: number;
}

/** As Lambda's own bound on the start of an environment. */
const MAX_LOAD_MS = 10_000;
/** A Node timer that is set further ahead fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/**
 * What a process said is read within this after its end. Its pipes stay open for longer when a program that it started
 * outlives it and holds them, and nobody waits for that.
 */
const PIPE_GRACE_MS = 250;
/** Who prints more than is shown is read so seldom: the flood then waits in its own process, and costs the system little. */
const FLOOD_PAUSE_MS = 20;

/** One process with one handler in it, for one attempt at a time. */
export class HandlerEnvironment {
  readonly code: HandlerCode;
  /** epoch ms since when it has had nothing to do */
  idleSince = 0;
  /** It must not be used again: it has ended, or an error that nobody caught may have left it in any state. */
  spoilt = false;
  readonly pid: number;
  /** Resolves when the process is gone and what it said has been read. */
  readonly ended: Promise<void>;

  readonly #options: EnvironmentOptions;
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #log: HandlerLog;
  #received: string[] = [];
  #receivedCharacters = 0;
  #lastWords = '';
  #isGone = false;
  /** which call is at work, or was the last; 0 is the loading */
  #call = 0;
  #conclude: ((outcome: InvokeOutcome) => void) | undefined;

  /** @throws when the machine has no process left for it */
  constructor(code: HandlerCode, options: EnvironmentOptions) {
    this.code = code;
    this.#options = options;
    const { functionName, onLog } = options;
    this.#log = new HandlerLog((line, stream, runId) =>
      onLog(line, { functionName, stream, ...(runId === undefined ? {} : { runId }) }),
    );
    // A group of its own: Ctrl-C in the terminal is for the system, which lets attempts finish; and what the handler starts ends with it.
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${options.memoryMb}`, join(__dirname, 'invoker-child.cjs')],
      {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        detached: true,
        env: { ...process.env, ...options.variables },
      },
    );
    // Without a listener it would end the system. The start is judged by the number, and a kill that fails by the time-out.
    this.#child.on('error', () => {});
    if (this.#child.pid === undefined)
      throw new Error('no process could be started: too many are open on this machine');
    this.pid = this.#child.pid;
    this.#channel = this.#child.stdio[3] as Duplex;
    this.ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
    this.#listen();
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
    this.#call += 1;
    const message = { kind: 'run', call: this.#call, functionName, memoryMb, ...call };
    return this.#ask(message, call.timeoutMs, 'the code ran');
  }

  /** Ends the process at once, whatever it does, and what it has started. An attempt in it ends with this outcome. */
  end(outcome: InvokeOutcome): void {
    this.spoilt = true;
    this.#killGroup();
    // Somebody may wait for its end, and the system must not run out of things to do before.
    this.#child.ref();
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
    child.on('exit', () => this.#afterExit());
    // Not 'exit': by now everything that it said has been read, or is not waited for.
    child.on('close', (exitCode, signal) => {
      this.#log.end();
      this.end(this.#death(exitCode, signal));
    });
    // The system may end while environments wait for work; an attempt keeps it alive by its timer.
    child.unref();
    for (const pipe of child.stdio) (pipe as { unref?: () => void } | null)?.unref?.();
  }

  #afterExit(): void {
    this.#killGroup();
    this.#isGone = true;
    this.spoilt = true;
    const { stdio } = this.#child;
    // After a long turn of the event loop the timer comes before what can be read: that has its turn first.
    const grace = setTimeout(() => setImmediate(() => stdio.forEach((pipe) => pipe?.destroy())), PIPE_GRACE_MS);
    this.#child.once('close', () => clearTimeout(grace));
  }

  #receive(chunk: string): void {
    const [head = '', ...rest] = chunk.split('\n');
    this.#received.push(head);
    this.#receivedCharacters += head.length;
    for (const next of rest) {
      const message = readMessage(this.#received.join(''));
      if (message === undefined) return this.#garbled();
      this.#hear(message);
      this.#received = [next];
      this.#receivedCharacters = next.length;
    }
    if (this.#receivedCharacters > LONGEST_MESSAGE) this.#garbled();
    this.#restAfterFlood(this.#channel);
  }

  /** Whatever comes after it cannot be told from what the handler wrote. */
  #garbled(): void {
    this.#channel.destroy();
    this.#received = [];
    this.end(failed('Runtime.ChannelError', 'the code wrote to file descriptor 3, which belongs to the system'));
  }

  #hear(message: FromChild): void {
    switch (message.kind) {
      case 'loaded':
        if (this.#call === 0) this.#conclude?.({ kind: 'returned', result: 'null' });
        break;
      case 'unloadable':
        this.#logStack(message.error);
        this.end(failed(message.error.type, message.error.message));
        break;
      case 'over':
        if (message.call !== this.#call) break;
        if (message.outcome.kind === 'failed') this.#logStack(message.outcome.error);
        this.#settle(message.outcome, message.spoilt);
        break;
      case 'leftover':
        this.spoilt = true;
        this.#logStack(message.error, message.runId);
        break;
      case 'log':
        this.#log.line(message.line, message.stream, message.runId);
        break;
    }
  }

  #settle(outcome: CodeOutcome, spoilt: boolean): void {
    const plain = outcome.kind === 'failed' ? failed(outcome.error.type, outcome.error.message) : outcome;
    if (spoilt) this.end(plain);
    else this.#conclude?.(plain);
  }

  #logStack(error: Failure, runId?: string): void {
    for (const line of error.stack?.split('\n') ?? []) this.#log.line(line, 'err', runId);
  }

  /** What does not come from the handler's own `process.stdout`: programs that it starts, and Node's last words. */
  #forward(stream: 'out' | 'err'): void {
    const pipe = stream === 'out' ? this.#child.stdout : this.#child.stderr;
    pipe?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text.slice(-4096)).slice(-4096);
      this.#log.raw(text, stream);
      this.#restAfterFlood(pipe);
    });
  }

  #restAfterFlood(pipe: Readable): void {
    if (!this.#log.isFull) return;
    pipe.pause();
    setTimeout(() => pipe.resume(), FLOOD_PAUSE_MS).unref();
  }

  #death(exitCode: number | null, signal: string | null): InvokeOutcome {
    if (this.#lastWords.includes('out of memory') || this.#lastWords.includes('Allocation failed')) {
      return failed('Runtime.OutOfMemory', `the code needed more than ${this.#options.memoryMb} MB of memory`);
    }
    return failed('Runtime.ExitError', `the code ended its process (${signal ?? `exit status ${exitCode}`})`);
  }

  #killGroup(): void {
    // The number of a process that is gone may belong to another one.
    if (this.#isGone) return;
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
