import { fitAttempts } from '../domain/attempts';
import type { Run } from '../domain/run';
import type { Ports } from '../ports';
import { keepBeside } from './attempts-beside';

/** Writes a run as `RunStore.put` does, and before that, beside it, the attempts that its row has no place for. */
export async function putRun(
  run: Run,
  seen: Run | undefined,
  ports: Pick<Ports, 'runs' | 'control' | 'settings'>,
): Promise<boolean> {
  const { run: fitting, pages } = fitAttempts(run);
  await keepBeside(fitting, pages, ports);
  return ports.runs.put(fitting, seen);
}
