import { walk, type Definition, type Walk } from '../support/asl-walker';
import { HandClock } from '../support/hand-clock';
import { describeLoopsAtWork } from './loops-at-work.facts';

const START = Date.UTC(2027, 4, 4, 12, 0, 0, 250);

interface Tick {
  /** seconds since the loop's start, 0.25 s after a whole second */
  afterSeconds: number;
  payload: unknown;
}

/** Walks for ten minutes, each answer taking no time, and tells what the scheduler was asked, when, and how long the loop lived. */
async function walkWith(
  definition: Definition,
  scheduler: (tick: number, clock: HandClock) => unknown,
): Promise<Walk & { ticks: Tick[]; livedSeconds: number }> {
  const clock = new HandClock(START);
  const ticks: Tick[] = [];
  let endedAt = 0;
  const walking = walk(definition, {
    clock,
    invoke: async (payload) => {
      ticks.push({ afterSeconds: (clock.now() - START) / 1000, payload });
      return scheduler(ticks.length, clock);
    },
  }).then((result) => {
    endedAt = clock.now();
    return result;
  });
  await clock.advance(600_000);
  return { ...(await walking), ticks, livedSeconds: (endedAt - START) / 1000 };
}

const over = { isFirst: false, done: true, reason: 'nothing-due' };
const wakeAfter = (seconds: number) => ({
  isFirst: false,
  done: false,
  wakeAt: new Date(START - 250 + seconds * 1000).toISOString(),
});
const named = (name: string) => Object.assign(new Error('by a test'), { name });

/** What the state machine of the template does, whoever made it. */
export function describeTickLoop(definitionOf: () => Definition): void {
  const startedAt = new Date(START).toISOString();
  const secondsOf = (ticks: readonly Tick[]) => ticks.map(({ afterSeconds }) => afterSeconds);

  test('a loop with nothing due ticks once and ends', async () => {
    const { status, ticks, path, livedSeconds } = await walkWith(definitionOf(), () => over);
    expect(status).toBe('SUCCEEDED');
    expect(path).toEqual(['Begin', 'Tick', 'Is the loop over?', 'Over']);
    expect(ticks).toEqual([{ afterSeconds: 0, payload: { startedAt, isFirst: true } }]);
    expect(livedSeconds).toBe(0);
  });

  test('a loop ticks again when the tick before said so, and knows its own start and its first tick', async () => {
    const { status, ticks } = await walkWith(definitionOf(), (tick) => (tick < 3 ? wakeAfter(tick * 10) : over));
    expect(status).toBe('SUCCEEDED');
    expect(ticks).toEqual([
      { afterSeconds: 0, payload: { startedAt, isFirst: true } },
      { afterSeconds: 9.75, payload: { startedAt, isFirst: false } },
      { afterSeconds: 19.75, payload: { startedAt, isFirst: false } },
    ]);
  });

  test('the fraction of an instant to wait for is cut off', async () => {
    const { ticks } = await walkWith(definitionOf(), (tick) => (tick < 2 ? wakeAfter(10.9) : over));
    expect(secondsOf(ticks)).toEqual([0, 9.75]);
  });

  test('a failing tick is waited for and done again, as the first one if it was', async () => {
    const { status, ticks } = await walkWith(definitionOf(), (tick) => {
      if (tick === 1 || tick === 3) throw new Error('by a test');
      return tick < 5 ? wakeAfter(tick * 10) : over;
    });
    expect(status).toBe('SUCCEEDED');
    expect(ticks).toEqual([
      { afterSeconds: 0, payload: { startedAt, isFirst: true } },
      { afterSeconds: 2, payload: { startedAt, isFirst: true } },
      { afterSeconds: 19.75, payload: { startedAt, isFirst: false } },
      { afterSeconds: 21.75, payload: { startedAt, isFirst: false } },
      { afterSeconds: 39.75, payload: { startedAt, isFirst: false } },
    ]);
  });

  test('a hiccup of Lambda is tried again at once, and is no more than a failing tick when it lasts', async () => {
    const { status, ticks } = await walkWith(definitionOf(), (tick) => {
      if (tick <= 3) throw named('Lambda.TooManyRequestsException');
      return over;
    });
    expect(status).toBe('SUCCEEDED');
    expect(secondsOf(ticks)).toEqual([0, 1, 3, 5]);
  });

  test('a tick that hangs is given up after a minute, and the loop goes on', async () => {
    const { status, ticks } = await walkWith(definitionOf(), async (tick, clock) => {
      if (tick === 1) await clock.waitUntil(START + 300_000);
      return over;
    });
    expect(status).toBe('SUCCEEDED');
    expect(secondsOf(ticks)).toEqual([0, 62]);
  });

  test('a loop whose every tick fails goes on to its end, and ends by itself after 150 s', async () => {
    const { status, ticks, livedSeconds } = await walkWith(definitionOf(), () => {
      throw new Error('by a test');
    });
    expect(status).toBe('TIMED_OUT');
    expect(livedSeconds).toBe(150);
    expect(ticks).toHaveLength(75);
  });

  test('a loop that is never told to end does so after 150 s', async () => {
    const { status, ticks, livedSeconds } = await walkWith(definitionOf(), (tick) => wakeAfter(tick * 60));
    expect(status).toBe('TIMED_OUT');
    expect(livedSeconds).toBe(150);
    expect(secondsOf(ticks)).toEqual([0, 59.75, 119.75]);
  });

  describeLoopsAtWork(definitionOf);
}
