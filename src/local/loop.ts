import type { TickInput, TickResult } from '../operations/tick';
import type { Clock, Journal } from '../ports';

/** The rule starts a loop so often. */
const RULE_PERIOD_MS = 60_000;
/** A loop ends by itself after so long, whatever happens. */
const LONGEST_LOOP_MS = 150_000;
/** After a tick that failed, the loop goes on so much later. */
const AFTER_FAILURE_MS = 2_000;

/**
 * What the EventBridge rule and the state machine are when deployed: each minute a loop begins, and ticks until it is
 * done. Resolves when `stopping` aborts and the tick at work is over.
 */
export async function runRule(options: {
  clock: Clock;
  tick: (input: TickInput) => Promise<TickResult>;
  journal: Journal;
  stopping: AbortSignal;
}): Promise<void> {
  const { clock, stopping } = options;
  const loops = new Set<Promise<void>>();
  for (let startAt = clock.now(); !stopping.aborted;) {
    const loop = runLoop(startAt, options).finally(() => loops.delete(loop));
    loops.add(loop);
    // After a laptop's sleep the starts that were missed are not made up for: the next loop finds all that is due.
    startAt = Math.max(startAt + RULE_PERIOD_MS, clock.now());
    await clock.waitUntil(startAt, stopping);
  }
  await Promise.all(loops);
}

async function runLoop(loopStartedAt: number, { clock, tick, journal, stopping }: Parameters<typeof runRule>[0]) {
  let isFirst = true;
  while (!stopping.aborted && clock.now() - loopStartedAt < LONGEST_LOOP_MS) {
    let wakeAt: number;
    try {
      const result = await tick({ loopStartedAt, isFirst });
      if (result.done) return;
      wakeAt = result.wakeAt;
      isFirst = false;
    } catch (error) {
      journal.note('tick-failed', { error: (error as Error).name });
      wakeAt = clock.now() + AFTER_FAILURE_MS;
    }
    await clock.waitUntil(wakeAt, stopping);
  }
}
