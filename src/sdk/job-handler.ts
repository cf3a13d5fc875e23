import { RunCancelledError } from './errors';
import { completionOf, readRun, runUrl, type ApiOptions, type AttemptKey, type Completion } from './run-api';

/** What a handler is called with. Instants are ISO 8601 UTC. */
export interface JobEvent<Payload = unknown> extends AttemptKey {
  /** counts from 1, and goes on when a person sends a failed run again */
  attempt: number;
  /** the instant that the schedule names */
  nominalAt: string;
  /** the earliest start of this attempt */
  dueAt: string;
  /** of the chain, or the batch, that the job belongs to */
  chainId?: string;
  batchId?: string;
  /** the run before it in its chain; without `result` where that was too large to be kept */
  previous?: { jobId: string; runId: string; result?: unknown };
  payload: Payload;
}

export interface JobTools extends Completion {
  /** aborts, with a RunCancelledError, once somebody cancelled the run: whatever the handler returns then does not matter */
  signal: AbortSignal;
}

export interface HandlerOptions extends ApiOptions {
  /** how often it asks whether the run was cancelled; default 10. Without a URL of the API it never asks */
  pollSeconds?: number;
  /** resolves after so long, or when `over` aborts; default: a timer */
  wait?: (ms: number, over: AbortSignal) => Promise<void>;
}

/** A handler for Lambda, or for the local system, that hears when its run is cancelled. */
export function jobHandler<Payload = unknown, Result = unknown>(
  work: (event: JobEvent<Payload>, tools: JobTools) => Result | Promise<Result>,
  options: HandlerOptions = {},
): (event: JobEvent<Payload>) => Promise<Result> {
  return async (event) => {
    const cancelled = new AbortController();
    const over = new AbortController();
    const cancel = () => cancelled.abort(new RunCancelledError(`run ${event.runId} was cancelled`));
    const completion = completionOf(event, options);
    const tools: JobTools = {
      signal: cancelled.signal,
      async complete(result) {
        over.abort();
        await completion.complete(result);
      },
      async fail(error) {
        over.abort();
        await completion.fail(error);
      },
      async heartbeat() {
        const answer = await completion.heartbeat();
        if (answer.isCancelRequested) cancel();
        return answer;
      },
    };
    void watch(event, options, over.signal, cancel);
    try {
      return await work(event, tools);
    } finally {
      over.abort();
    }
  };
}

async function watch(event: JobEvent, options: HandlerOptions, over: AbortSignal, cancel: () => void): Promise<void> {
  const url = runUrl(event, options);
  if (url === undefined) return;
  const { pollSeconds = 10, wait = timer } = options;
  for (;;) {
    await wait(pollSeconds * 1000, over);
    if (over.aborted) return;
    // What cannot be asked now is asked again later.
    const run = await readRun(url, options, over).catch(() => undefined);
    if (over.aborted) return;
    if (run && isToStop(run, event)) return cancel();
  }
}

/** Also where the run went on without this attempt, which nobody waits for any more. */
function isToStop(run: Record<string, unknown>, event: JobEvent): boolean {
  return run['cancelRequestedAt'] !== undefined || run['state'] !== 'STARTED' || run['attempt'] !== event.attempt;
}

function timer(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timeout);
      resolve();
    };
    // It must not keep a process alive that has nothing else to do.
    const timeout = setTimeout(() => {
      over.removeEventListener('abort', end);
      resolve();
    }, ms).unref();
    over.addEventListener('abort', end, { once: true });
  });
}
