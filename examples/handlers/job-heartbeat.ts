/** Runs each second and has nothing to do: what matters is that it was called, and when. */
interface JobEvent {
  /** the earliest instant this attempt may start, ISO 8601 UTC */
  dueAt: string;
}

export default async function heartbeat(event: JobEvent) {
  return { late: `${Date.now() - Date.parse(event.dueAt)} ms` };
}
