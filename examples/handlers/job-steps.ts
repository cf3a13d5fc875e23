import { setTimeout as wait } from 'node:timers/promises';
import { jobHandler, NonRetriableError } from '../../src/sdk';

/** Takes a second for each step, and stops between two of them once its run is cancelled. `{ "steps": 60 }` is its payload. */
export default jobHandler<{ steps?: unknown } | null>(async ({ payload }, { signal }) => {
  const steps = payload?.steps ?? 60;
  // Another attempt would get the same payload.
  if (typeof steps !== 'number') throw new NonRetriableError('steps must be a number');
  for (let step = 1; step <= steps; step++) {
    console.log(`step ${step} of ${steps}`);
    await wait(1000, undefined, { signal });
  }
  return { steps };
});
