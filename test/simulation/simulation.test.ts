import { FAULT_KINDS } from './faults';
import { liveThroughAll } from './fleet';
import { liveThrough, type HistoryOptions } from './history';
import { shrink } from './shrink';
import { commandOf, storyOf } from './story';
import { Summary } from './summary';
import type { Asked } from './worker';

/** `npm run simulate` lives through any number of them, `npm run check:long` through five thousand. */
const HISTORIES = 240;
const CALM_HISTORIES = 60;

async function livedThrough(histories: Iterable<Asked>): Promise<Summary> {
  const summary = new Summary();
  await liveThroughAll({ histories, onLived: (lived) => summary.add(lived) });
  return summary;
}

function* histories(count: number, faults: Asked['faults']): Generator<Asked> {
  for (let seed = 1; seed <= count; seed++) yield { seed, faults };
}

/** What a person needs of a history that broke a law. */
async function toldOf({ broken }: Summary, faults: Asked['faults']): Promise<string> {
  const [first] = [...broken].sort((a, b) => a.seed - b.seed);
  if (!first) return '';
  const options = { seed: first.seed, faults };
  const smaller = await shrink(await liveThrough(options), options);
  return `${storyOf(smaller.history)}\nagain: ${commandOf(smaller.options)}`;
}

test('no law is broken in histories in which everything goes wrong that can', async () => {
  const summary = await livedThrough(histories(HISTORIES, FAULT_KINDS));
  process.stdout.write(`${summary.text}\n`);
  expect(await toldOf(summary, FAULT_KINDS)).toBe('');
  expect(summary.histories).toBe(HISTORIES);
  expect(FAULT_KINDS.filter((kind) => summary.injectedOf(kind) === 0)).toEqual([]);
}, 600_000);

test('where nothing goes wrong everything is on time besides', async () => {
  const summary = await livedThrough(histories(CALM_HISTORIES, []));
  expect(await toldOf(summary, [])).toBe('');
  expect(FAULT_KINDS.filter((kind) => summary.injectedOf(kind) > 0)).toEqual([]);
}, 600_000);

test('a history is the same each time, to the last line of its story', async () => {
  const [first, second] = [await liveThrough({ seed: 7 }), await liveThrough({ seed: 7 })];
  expect(second.witness.story).toEqual(first.witness.story);
  expect(second.counts).toEqual(first.counts);
  expect(first.injected.length).toBeGreaterThan(0);
});

test('of a history a part of the operations and a part of the faults can be lived through', async () => {
  const whole = await liveThrough({ seed: 7 });
  const [first] = whole.injected;
  const part = await liveThrough({ seed: 7, operations: [0, 1], only: [`${first!.kind}:${first!.ordinal}`] });
  expect(part.operations).toEqual(whole.operations.slice(0, 2));
  expect(part.injected.length).toBeLessThanOrEqual(1);
  expect(whole.injected.length).toBeGreaterThan(1);
});

test('the command that repeats a history names what is left of it', () => {
  const again = (options: Omit<HistoryOptions, 'seed'>) => commandOf({ seed: 7, ...options });
  expect(again({})).toBe('npm run simulate -- --seed 7');
  expect(again({ faults: FAULT_KINDS })).toBe('npm run simulate -- --seed 7');
  expect(again({ faults: [], operations: [0, 3] })).toBe('npm run simulate -- --seed 7 --faults none --operations 0,3');
  expect(again({ faults: ['twice', 'late'], only: ['twice:4', 'late:1'] })).toBe(
    'npm run simulate -- --seed 7 --faults twice,late --only twice:4,late:1',
  );
  expect(again({ only: [] })).toBe('npm run simulate -- --seed 7 --only none');
});
