import { isAbsolute, resolve } from 'node:path';
import { parseFunctionArn } from '../../domain/arn';
import type { InvokeOutcome, Invoker } from '../../ports';
import { HandlerSourceError, isUnchanged, readHandler, type HandlerCode } from './handler-code';
import { findHandlerFile, HandlerNotFoundError, handlerNames } from './handler-files';
import { failed, HandlerEnvironment } from './invoker-environment';
import type { LogLine } from './invoker-log';
import { Reaper } from './invoker-reaper';

export interface LocalInvokerOptions {
  /** One file a function: NAME.ts, .js, .mjs or .cjs with a default-exported function. */
  handlersDirectory: string;
  /** Attempts side by side, each in a process of its own; default 32. */
  maxWorkers?: number;
  /** How long a call may wait for its turn beyond that before it is held back; default 5,000. */
  maxWaitMs?: number;
  /** A process without work ends after this; default 60,000. */
  idleMs?: number;
  /** The heap of one handler; default 512. */
  memoryMb?: number;
  /** Environment variables of the handlers, beside those of the system's own; asked whenever a process starts. */
  variables?: () => Readonly<Record<string, string>>;
  /** Every line that handlers print, and the stacks of their errors; default: to standard output. */
  onLog?: (line: string, from: LogLine) => void;
}

type Call = Parameters<Invoker['invoke']>[0];

/** A process that was killed is gone within milliseconds; one that the kernel does not let go is not waited for longer. */
const LONGEST_CLOSE_MS = 2_000;

const CLOSED: InvokeOutcome = { kind: 'held-back', reason: 'service-error', message: 'the local invoker is closed' };

/** Runs the handlers of a folder as Lambda runs functions: a process per attempt, kept warm and used again. */
export class LocalInvoker implements Invoker {
  readonly #directory: string;
  readonly #maxWorkers: number;
  readonly #maxWaitMs: number;
  readonly #idleMs: number;
  readonly #memoryMb: number;
  readonly #variables: () => Readonly<Record<string, string>>;
  readonly #onLog: (line: string, from: LogLine) => void;

  readonly #codes = new Map<string, HandlerCode>();
  readonly #reading = new Map<string, Promise<HandlerCode>>();
  readonly #environments = new Set<HandlerEnvironment>();
  /** the longest idle first */
  readonly #idle: HandlerEnvironment[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #closed = false;
  #sweep: NodeJS.Timeout | undefined;
  #reaper: Reaper | undefined;

  constructor(options: LocalInvokerOptions) {
    const { handlersDirectory } = options;
    this.#directory = isAbsolute(handlersDirectory) ? handlersDirectory : resolve(handlersDirectory);
    this.#maxWorkers = options.maxWorkers ?? 32;
    this.#maxWaitMs = options.maxWaitMs ?? 5_000;
    this.#idleMs = options.idleMs ?? 60_000;
    this.#memoryMb = options.memoryMb ?? 512;
    this.#variables = options.variables ?? (() => ({}));
    this.#onLog = options.onLog ?? ((line) => process.stdout.write(line + '\n'));
  }

  /**
   * Names of the functions in the folder, sorted.
   * @throws HandlersFolderError when it cannot be read
   */
  functions(): string[] {
    return handlerNames(this.#directory);
  }

  /** Starts a process for this function, so that its next attempt finds it warm. What is wrong with it is said then. */
  async prewarm(functionName: string): Promise<void> {
    const warming = this.#inTurn(async () => {
      const environment = await this.#environment(functionName);
      if (environment instanceof HandlerEnvironment) this.#release(environment);
    });
    await warming.catch(() => {});
  }

  async invoke(call: Call): Promise<InvokeOutcome> {
    try {
      return await this.#inTurn(() => this.#attempt(call));
    } catch (error) {
      return outcomeOf(error);
    }
  }

  /** Ends all processes, within 2 s; attempts that are still in them are held back. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sweep);
    for (const turn of this.#waiting.splice(0)) turn();
    const environments = [...this.#environments];
    for (const environment of environments) this.#end(environment);
    this.#reaper?.end();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => (timer = setTimeout(resolve, LONGEST_CLOSE_MS)));
    await Promise.race([Promise.all(environments.map(({ ended }) => ended)), tooLong]);
    clearTimeout(timer);
  }

  async #attempt({ functionArn, event, timeoutMs }: Call): Promise<InvokeOutcome> {
    const arn = parseFunctionArn(functionArn);
    if (!arn) return malformed(functionArn);
    const { name: functionName, qualifier: functionVersion = '$LATEST' } = arn;
    const environment = await this.#environment(functionName);
    if (!(environment instanceof HandlerEnvironment)) return environment;
    const outcome = await environment.invoke({ functionArn, functionVersion, event, timeoutMs });
    this.#release(environment);
    return outcome;
  }

  /** A warm environment or a new one, or why there is none. */
  async #environment(functionName: string): Promise<HandlerEnvironment | InvokeOutcome> {
    const known = this.#codes.get(functionName);
    const code = known && isUnchanged(known) ? known : await this.#read(functionName);
    if (this.#closed) return CLOSED;
    const warm = this.#idle.findLastIndex((environment) => environment.code === code && !environment.spoilt);
    const [environment] = warm < 0 ? [] : this.#idle.splice(warm, 1);
    return environment ?? this.#start(functionName, code);
  }

  async #start(functionName: string, code: HandlerCode): Promise<HandlerEnvironment | InvokeOutcome> {
    if (this.#environments.size >= this.#maxWorkers) this.#end(this.#idle[0]);
    const environment = new HandlerEnvironment(code, {
      functionName,
      memoryMb: this.#memoryMb,
      variables: this.#variables(),
      onLog: this.#onLog,
    });
    this.#environments.add(environment);
    void environment.ended.then(() => this.#end(environment));
    this.#reaper ??= new Reaper();
    this.#reaper.watch(environment.pid);
    const failure = await environment.load();
    if (failure === undefined) return environment;
    this.#end(environment);
    return failure;
  }

  async #read(functionName: string): Promise<HandlerCode> {
    const begun = this.#reading.get(functionName);
    if (begun !== undefined) return begun;
    const reading = this.#readFresh(functionName).finally(() => this.#reading.delete(functionName));
    this.#reading.set(functionName, reading);
    return reading;
  }

  async #readFresh(functionName: string): Promise<HandlerCode> {
    const outdated = this.#codes.get(functionName);
    this.#codes.delete(functionName);
    for (const environment of this.#idle.filter(({ code }) => code === outdated)) this.#end(environment);
    const code = await readHandler(findHandlerFile(this.#directory, functionName));
    this.#codes.set(functionName, code);
    return code;
  }

  #release(environment: HandlerEnvironment): void {
    if (environment.spoilt || this.#closed) {
      this.#end(environment);
      return;
    }
    environment.idleSince = Date.now();
    this.#idle.push(environment);
    this.#sweep ??= setTimeout(() => this.#endIdle(), this.#idleMs).unref();
  }

  #endIdle(): void {
    const before = Date.now() - this.#idleMs;
    for (const environment of this.#idle.filter((one) => one.spoilt || one.idleSince <= before)) this.#end(environment);
    const [next] = this.#idle;
    this.#sweep = next && setTimeout(() => this.#endIdle(), Math.max(1, next.idleSince - before)).unref();
  }

  #end(environment: HandlerEnvironment | undefined): void {
    if (environment === undefined || !this.#environments.delete(environment)) return;
    const place = this.#idle.indexOf(environment);
    if (place >= 0) this.#idle.splice(place, 1);
    environment.end(CLOSED);
    this.#reaper?.forget(environment.pid);
  }

  /** First come, first served; `timeoutMs` of a call does not count while it waits. */
  async #inTurn<Result>(work: () => Promise<Result | InvokeOutcome>): Promise<Result | InvokeOutcome> {
    if (this.#running < this.#maxWorkers) this.#running += 1;
    else if (!(await this.#turn())) return this.#busy();
    try {
      return this.#closed ? CLOSED : await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Answers whether a finished attempt handed its place over in time. */
  async #turn(): Promise<boolean> {
    return new Promise((resolve) => {
      const turn = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        resolve(false);
      }, this.#maxWaitMs);
      this.#waiting.push(turn);
    });
  }

  #busy(): InvokeOutcome {
    const message = `${this.#maxWorkers} attempts have been running for ${this.#maxWaitMs} ms: no place for another`;
    return { kind: 'held-back', reason: 'throttled', message };
  }
}

function malformed(functionArn: string): InvokeOutcome {
  const message = `not the ARN of a Lambda function: ${JSON.stringify(functionArn)}; write arn:aws:lambda:REGION:ACCOUNT:function:NAME`;
  return { kind: 'refused', reason: 'malformed-arn', message };
}

function outcomeOf(error: unknown): InvokeOutcome {
  if (error instanceof HandlerNotFoundError) {
    return { kind: 'refused', reason: 'function-not-found', message: error.message };
  }
  if (error instanceof HandlerSourceError) return failed(error.type, error.message);
  return { kind: 'held-back', reason: 'service-error', message: String(error) };
}
