/** What Escapement calls a job with; `payload` is the job's own JSON. */
interface JobEvent {
  jobId: string;
  runId: string;
  attempt: number;
  payload: unknown;
}

export async function handler({ jobId, runId, attempt }: JobEvent) {
  console.log(`hello from ${jobId} run ${runId} attempt ${attempt}`);
  return { hello: jobId };
}
