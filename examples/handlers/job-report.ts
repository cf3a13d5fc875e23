/** Summarises the payload that its job was created with. What a handler returns is kept in the record of the run. */
interface JobEvent {
  jobId: string;
  /** the instant that the schedule names, ISO 8601 UTC */
  nominalAt: string;
  /** any JSON: a handler looks before it trusts */
  payload: unknown;
}

export default async function report({ jobId, nominalAt, payload }: JobEvent) {
  const fields = typeof payload === 'object' && payload !== null ? Object.keys(payload) : [];
  console.log(`report for ${nominalAt}: ${fields.length} fields`);
  return { jobId, fields, bytes: Buffer.byteLength(JSON.stringify(payload)) };
}
