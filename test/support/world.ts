import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '../../src/adapters/local/database';
import { parseFunctionArn } from '../../src/domain/arn';
import type { JobRequest } from '../../src/domain/job-request';
import { DEFAULT_MISFIRE } from '../../src/domain/misfire';
import { DEFAULT_RETRY } from '../../src/domain/retry-policy';
import type { Run, RunState } from '../../src/domain/run';
import { startEngine, type Engine } from '../../src/local/engine';
import { localPorts } from '../../src/local/ports';
import type { Clock, Invoker, InvokeOutcome, Ports, Settings } from '../../src/ports';
import { functionArn, NOON, RETENTION_MS } from './builders';
import { HandClock } from './hand-clock';

/** What a test's code sees of its call. */
export interface Call {
  functionName: string;
  /** the JSON text as it came */
  text: string;
  event: Record<string, unknown>;
  at: number;
}

/** The code behind a function name: what it returns, or throws, is the outcome. */
export type Code = (call: Call, clock: Clock) => unknown;

/** Stores in the place of the local ones. */
export interface OtherStores {
  stores: Pick<Ports, 'jobs' | 'runs' | 'notifications' | 'code' | 'control' | 'groups'>;
  /** is a request under way? Time does not move while it is */
  isBusy(): boolean;
  close(): void;
}

export interface WorldOptions {
  /** epoch ms; default NOON */
  startAt?: number;
  code?: Record<string, Code>;
  /** default: the local stores */
  openStores?: (clock: Clock, settings: Settings) => Promise<OtherStores>;
}

const SETTINGS: Settings = {
  shards: 4,
  tickSeconds: 10,
  retentionMs: RETENTION_MS,
  failedRetentionMs: RETENTION_MS,
  allowedFunctions: ['*'],
};

/** The whole system on its local adapters and a hand-moved clock, with code that lives in the test. */
export class World {
  readonly clock: HandClock;
  readonly ports: Ports;
  readonly calls: Call[] = [];
  readonly transitions: { runId: string; jobId: string; state: RunState; sequence: number; at: number; run: Run }[] =
    [];
  readonly notes: { what: string; details: object }[] = [];
  readonly code: Record<string, Code>;
  readonly takeOver: () => Promise<unknown>;
  readonly sweepExpired: () => Promise<void>;
  readonly #database: Database;
  readonly #directory: string;
  readonly #others: OtherStores | undefined;
  readonly #engines = new Set<Engine>();

  private constructor(
    database: Database,
    directory: string,
    clock: HandClock,
    code: Record<string, Code>,
    others: OtherStores | undefined,
  ) {
    this.#database = database;
    this.#directory = directory;
    this.#others = others;
    this.clock = clock;
    this.code = code;
    let drawn = 0;
    const local = localPorts(database, {
      clock,
      ids: { guid: () => `guid-${String((drawn += 1)).padStart(6, '0')}` },
      random: { next: () => 0.5 },
      invoker: this.#invoker(),
      journal: {
        transition: (run) => {
          const { runId, jobId, state, sequence } = run;
          this.transitions.push({ runId, jobId, state, sequence, at: clock.now(), run });
        },
        note: (what, details) => this.notes.push({ what, details }),
      },
      settings: SETTINGS,
    });
    this.ports = { ...local.ports, ...others?.stores };
    this.takeOver = local.takeOver;
    this.sweepExpired = local.sweepExpired;
  }

  static async open({ startAt = NOON, code = {}, openStores }: WorldOptions = {}): Promise<World> {
    const directory = mkdtempSync(join(tmpdir(), 'escapement-world-'));
    const database = await openDatabase(directory, { survivesPowerLoss: false });
    const clock = new HandClock(startAt);
    clock.holdWhile(() => database.isBusy);
    const others = await openStores?.(clock, SETTINGS);
    if (others) clock.holdWhile(() => others.isBusy());
    return new World(database, directory, clock, code, others);
  }

  /** Starts the loop and the consumers, as a process of the local system does. */
  start(ports: Ports = this.ports): Engine {
    const engine = startEngine({ ports, concurrency: 50, removeExpired: this.sweepExpired });
    this.#engines.add(engine);
    return engine;
  }

  /** Lets time pass, a second a step, until this is over: for what waits on the clock on its way. */
  async untilOver<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => (isOver = true);
    work.then(end, end);
    for (let seconds = 0; seconds < 3_600; seconds++) {
      await this.clock.settle();
      if (isOver) return work;
      await this.clock.advance(1_000);
    }
    throw new Error('still at work after an hour on the hand-moved clock');
  }

  async stop(engine: Engine): Promise<void> {
    this.#engines.delete(engine);
    await this.untilOver(engine.stop());
  }

  async close(): Promise<void> {
    for (const engine of this.#engines) await this.stop(engine);
    this.#others?.close();
    await this.#database.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Every run of a job, the earliest first. */
  async runsOf(jobId: string): Promise<Run[]> {
    const runs: Run[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.ports.runs.list({ jobId, limit: 100, ...(cursor === undefined ? {} : { cursor }) });
      runs.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return runs.reverse();
  }

  callsOf(functionName: string): Call[] {
    return this.calls.filter((call) => call.functionName === functionName);
  }

  #invoker(): Invoker {
    return {
      invoke: async ({ functionArn: arn, event, timeoutMs }): Promise<InvokeOutcome> => {
        const { name } = parseFunctionArn(arn)!;
        const code = this.code[name];
        if (!code) return { kind: 'refused', reason: 'function-not-found', message: `no function ${name}` };
        const call: Call = {
          functionName: name,
          text: event,
          event: JSON.parse(event) as Record<string, unknown>,
          at: this.clock.now(),
        };
        this.calls.push(call);
        const over = new AbortController();
        const late = this.clock.waitUntil(this.clock.now() + timeoutMs, over.signal).then((): InvokeOutcome => ({
          kind: 'failed',
          error: { type: 'Timeout', message: `after ${timeoutMs} ms` },
        }));
        const outcome = await Promise.race([outcomeOf(code, call, this.clock), late]);
        over.abort();
        return outcome;
      },
    };
  }
}

async function outcomeOf(code: Code, call: Call, clock: Clock): Promise<InvokeOutcome> {
  try {
    return { kind: 'returned', result: JSON.stringify(await code(call, clock)) ?? 'null' };
  } catch (error) {
    const { name, message } = error as Error;
    return { kind: 'failed', error: { type: name, message } };
  }
}

/** A request to create a job, with the defaults filled in as the parser of requests does. */
export function aRequest(changes: Partial<JobRequest> & { code?: string } = {}): JobRequest {
  const { code = 'job-report', ...rest } = changes;
  return {
    tags: [],
    functionArn: functionArn(code),
    schedule: { kind: 'immediate' },
    payload: 'null',
    retry: DEFAULT_RETRY,
    misfire: DEFAULT_MISFIRE,
    timeoutSeconds: 840,
    ...rest,
  };
}

export const rate = (expression: string): JobRequest['schedule'] => ({
  kind: 'expression',
  expression,
  timezone: 'UTC',
});
