import type { Run } from '../domain/run';
import type { Ports } from '../ports';

/** Writes a run as `RunStore.put` does, and keeps beside it the attempts that its row has no place for. */
export async function putRun(
  run: Run,
  seen: Run | undefined,
  { runs }: Pick<Ports, 'runs' | 'control'>,
): Promise<boolean> {
  return runs.put(run, seen);
}
