/** @throws RangeError naming the first id that comes twice: of two rows for one key, which is to stay? */
export function refuseDoubles(jobs: readonly { jobId: string }[]): void {
  const seen = new Set<string>();
  for (const { jobId } of jobs) {
    if (seen.has(jobId)) throw new RangeError(`job ${jobId} is to be written twice at once`);
    seen.add(jobId);
  }
}
