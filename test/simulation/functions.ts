import type { InvokeOutcome, Invoker } from '../../src/ports';
import type { Cloud } from './cloud';

/** What a job's payload tells its code to do. */
export interface CodePlan {
  /** how long a call takes, ms */
  ms: number;
  /** so many attempts end otherwise than by returning */
  fails: number;
  how: 'error' | 'final' | 'snooze';
  /** for completion by callback: what the code's partner does, and after how long; absent: nothing */
  completes?: { afterMs: number; as: 'returned' | 'failed'; beatsEveryMs?: number };
  /** adds so many jobs to its batch from inside */
  adds?: number;
}

export interface Completed {
  jobId: string;
  runId: string;
  token: string;
  completes: NonNullable<CodePlan['completes']>;
}

/** The users' functions. They live in processes of their own: what calls them may die while they go on. */
export class Functions implements Invoker {
  readonly #cloud: Cloud;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  invoke({ functionArn, event: text, timeoutMs }: { functionArn: string; event: string; timeoutMs: number }) {
    const { time, faults, witness, actor } = this.#cloud;
    const by = actor!;
    const functionName = functionArn.split(':').at(-1)!;
    const event = JSON.parse(text) as Record<string, unknown>;
    if (faults.strikes('invoke', 0.03, time.now, `${functionName} is throttled`)) {
      return this.#later<InvokeOutcome>(20, { kind: 'held-back', reason: 'throttled', message: 'Rate Exceeded.' });
    }
    if (faults.strikes('invoke', 0.01, time.now, `${functionName} is not reached`)) {
      return this.#later<InvokeOutcome>(200, { kind: 'held-back', reason: 'service-error', message: 'no connection' });
    }
    const plan = planOf(event);
    const isBroken = faults.strikes('invoke', 0.03, time.now, `${functionName} breaks`);
    const isTimeout = plan.ms > timeoutMs;
    const failure = isBroken ? { type: 'Broken', message: 'it broke' } : this.#failureOf(event, plan);
    const isAnswerLost = faults.strikes('invoke', 0.01, time.now, `the answer of ${functionName} is lost`);
    const ms = Math.min(plan.ms, timeoutMs);
    witness.invocations.push({
      functionName,
      text,
      event,
      at: time.now,
      skewMs: by.skewMs,
      by: by.name,
      endedAt: time.now + ms,
      result: failure || isTimeout ? 'failed' : 'returned',
      isAnswerLost,
    });
    const what =
      typeof event['attempt'] === 'number'
        ? `${String(event['runId'])} attempt ${event['attempt']}`
        : String(event['id']);
    by.tell(`calls ${functionName} for ${what}`);
    if (!failure && !isTimeout) this.#actInside(event, plan, ms);
    if (isAnswerLost) {
      return this.#later<InvokeOutcome>(ms, { kind: 'held-back', reason: 'service-error', message: 'socket hang up' });
    }
    if (isTimeout) {
      const error = { type: 'Timeout', message: `it took longer than ${timeoutMs} ms` };
      return this.#later<InvokeOutcome>(ms, { kind: 'failed', error });
    }
    if (failure) return this.#later<InvokeOutcome>(ms, { kind: 'failed', error: failure });
    return this.#later<InvokeOutcome>(ms, { kind: 'returned', result: resultOf(event) });
  }

  #failureOf({ attempt }: Record<string, unknown>, { fails, how }: CodePlan) {
    if (typeof attempt !== 'number' || attempt > fails) return undefined;
    if (how === 'final') return { type: 'NonRetriableError', message: 'never again' };
    if (how === 'error') return { type: 'Error', message: `attempt ${attempt} fails` };
    // It comes again under the same number: every other call asks for that.
    return this.#cloud.isOddCall() ? { type: 'RetryAfterError', message: '7' } : undefined;
  }

  #actInside(event: Record<string, unknown>, { completes, adds }: CodePlan, ms: number): void {
    const { jobId, runId, token, batchId } = event as Record<string, string | undefined>;
    if (completes && token !== undefined) {
      this.#cloud.time.after(ms + completes.afterMs, () =>
        this.#cloud.onCompletion({ jobId: jobId!, runId: runId!, token, completes }),
      );
    }
    if (adds !== undefined && batchId !== undefined) {
      this.#cloud.time.after(ms / 2, () => this.#cloud.onAddition(batchId, `${runId}-adds`, adds));
    }
  }

  #later<Value>(ms: number, value: Value): Promise<Value> {
    return new Promise((resolve) => this.#cloud.time.after(Math.max(1, ms), () => resolve(value)));
  }
}

/** What the call of an event returns. */
export function resultOf({ runId }: Record<string, unknown>): string {
  return JSON.stringify({ did: runId ?? null });
}

function planOf({ payload }: Record<string, unknown>): CodePlan {
  const plan = (payload as { plan?: CodePlan } | null | undefined)?.plan;
  return plan ?? { ms: 40, fails: 0, how: 'error' };
}
