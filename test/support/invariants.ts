import { isFinal, type Run } from '../../src/domain/run';
import type { World } from './world';

/** What must hold of every history once it has come to rest. Throws with what is wrong, and where. */
export async function checkAtRest(world: World): Promise<void> {
  const runs = await allRuns(world);
  const wrong: string[] = [];
  for (const run of runs) {
    if (!isFinal(run.state)) wrong.push(`run ${run.runId} of ${run.jobId} rests in ${run.state}`);
  }

  const attempts = new Set<string>();
  for (const { functionName, event, at } of world.calls) {
    if (typeof event['attempt'] !== 'number') continue;
    const attempt = `${String(event['runId'])} attempt ${event['attempt']} of ${functionName}`;
    if (attempts.has(attempt)) wrong.push(`${attempt} was invoked twice`);
    attempts.add(attempt);
    if (at < Date.parse(String(event['dueAt']))) wrong.push(`${attempt} was invoked before it was due`);
  }

  if (await world.ports.activations.receive(1).then((messages) => messages.length > 0)) {
    wrong.push('a message is left in the activation queue');
  }
  if (wrong.length > 0) throw new Error(`the history broke its promises:\n  ${wrong.join('\n  ')}`);
}

export async function allRuns(world: World): Promise<Run[]> {
  const runs: Run[] = [];
  let cursor: string | undefined;
  do {
    const page = await world.ports.runs.scan({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    runs.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return runs;
}

/** Ids of the events that a subscriber's code got, each once. */
export function eventIds(world: World, functionName: string): string[] {
  return [...new Set(world.callsOf(functionName).map(({ event }) => String(event['id'])))].sort();
}
