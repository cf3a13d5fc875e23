/** Fails at first, and succeeds at its second attempt. */
export async function handler({ attempt }: { attempt: number }) {
  if (attempt === 1) throw new Error('the first attempt fails on purpose');
  return { succeededAtAttempt: attempt };
}
