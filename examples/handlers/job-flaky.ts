/** Fails twice, then succeeds: an error that is thrown is a failed attempt, and the job's retry policy says when the next one is. */
interface JobEvent {
  /** stays the same through all attempts, so that work done before can be recognised */
  runId: string;
  /** counts from 1 */
  attempt: number;
}

export default async function flaky(event: JobEvent) {
  if (event.attempt <= 2) throw new Error(`attempt ${event.attempt} fails on purpose`);
  return { succeededAtAttempt: event.attempt };
}
