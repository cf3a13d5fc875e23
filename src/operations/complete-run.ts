import type { Run, RunError } from '../domain/run';
import type { RunnerPorts } from './attempt';

type CompletePorts = Omit<RunnerPorts, 'invoker'>;

/** What ends an attempt that completes by callback. `result` is JSON text. */
export type Completion = { kind: 'returned'; result: string } | { kind: 'failed'; error: RunError };

/**
 * Ends the attempt that this token names, as if its code had returned or thrown. Twice is once.
 * @throws NotFoundError; ConflictError when the token names no attempt at work
 */
export async function completeRun(
  _jobId: string,
  _runId: string,
  _token: string,
  _completion: Completion,
  _ports: CompletePorts,
): Promise<Run> {
  throw new Error('not yet');
}

/** A sign of life: the attempt goes on until `leaseUntil`, epoch ms, at least. @throws as `completeRun` */
export async function heartbeat(
  _jobId: string,
  _runId: string,
  _token: string,
  _ports: CompletePorts,
): Promise<{ leaseUntil: number; isCancelRequested: boolean }> {
  throw new Error('not yet');
}
