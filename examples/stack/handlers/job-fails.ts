/** Fails always: what is given up is kept among the failed runs. */
export async function handler() {
  throw new Error('this job fails on purpose');
}
