import { runActivations } from '../../src/operations/run-activation';
import type { Ports } from '../../src/ports';
import { MINUTE } from './builders';
import { CrashError, doomedProcess } from './crashing-ports';
import { checkAtRest } from './invariants';
import { World, type Code } from './world';

export interface Story {
  code: Record<string, Code>;
  /** how long after the crash the world is looked at, in ms */
  rest?: number;
  arrange?: (world: World) => Promise<void>;
  /** what the process does that dies in the middle */
  act: (world: World, ports: Ports) => Promise<unknown>;
  /** what its caller does who got no answer */
  again?: (world: World) => Promise<unknown>;
  check: (world: World, history: { wasAcknowledged: boolean }) => Promise<void>;
}

/** Lives through the story once for each call that `act` makes: the process dies before it, and after it. */
export async function dieEverywhere(story: Story): Promise<number> {
  let histories = 0;
  for (const when of ['before', 'after'] as const) {
    for (let crashAt = 1; ; crashAt++) {
      const world = await World.open({ code: story.code });
      const doomed = doomedProcess(world.ports, crashAt, when);
      try {
        await story.arrange?.(world);
        await world.untilOver(story.act(world, doomed.ports)).catch((error: unknown) => {
          if (!(error instanceof CrashError)) throw error;
        });
        if (doomed.hasCrashed()) await story.again?.(world);
        world.start();
        await world.clock.advance(story.rest ?? 5 * MINUTE);
        await story.check(world, { wasAcknowledged: !doomed.hasCrashed() || story.again !== undefined });
        await checkAtRest(world);
      } catch (error) {
        const place = doomed.hasCrashed()
          ? `${when} call ${crashAt} (${doomed.calls[crashAt - 1]})`
          : 'without a crash';
        throw new Error(`died ${place}: ${(error as Error).message}`, { cause: error });
      } finally {
        await world.close();
      }
      histories++;
      if (!doomed.hasCrashed()) break;
    }
  }
  return histories;
}

/** Takes what is visible now and carries it as the runner does, through ports that may die. */
export const runVisible = async (world: World, ports: Ports) => {
  const messages = await world.ports.activations.receive(10);
  const left = await runActivations(messages, ports);
  const done = messages.filter(({ messageId }) => !left.includes(messageId));
  await ports.activations.remove(done.map(({ receipt }) => receipt));
};
