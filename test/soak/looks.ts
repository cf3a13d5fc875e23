import { sumOf, whole } from './counts';
import type { Measures } from './measures';
import { megabytes, tenths, type Judged } from './report';
import type { StoreSize } from './store-size';
import type { Point } from './trend';

/** One look at what the system holds. */
export interface Look {
  atMs: number;
  measures: Measures;
  store: StoreSize;
}

/** Its output, its errors and its channel. How many handlers are warm follows the load, and is bounded by the attempts side by side. */
const DESCRIPTORS_PER_PROCESS = 3;
const MEGABYTE = 1_048_576;

/**
 * What must be flat. `isStoreFull`: for the last half the store has lost by its retention what it got. The control table is apart:
 * what answers a repeated request is remembered for a day, however short the retention, so that here it only fills.
 */
export function judgedOf(looks: readonly Look[], isStoreFull: boolean): Judged[] {
  const points = (valueOf: (look: Look) => number): Point[] =>
    looks.map((look) => ({ atMs: look.atMs, value: valueOf(look) }));
  return [
    {
      name: 'heap after collection',
      points: points(({ measures }) => measures.heapUsed),
      allowed: { fraction: 0.1, amount: 0 },
      show: megabytes,
    },
    {
      name: 'buffers beside the heap',
      points: points(({ measures }) => measures.external),
      allowed: { fraction: 0.1, amount: MEGABYTE },
      show: megabytes,
    },
    {
      name: 'open file descriptors',
      points: points(({ measures }) => sumOf(measures.descriptors) - DESCRIPTORS_PER_PROCESS * measures.processes),
      allowed: { fraction: 0, amount: 0.5 },
      show: tenths,
    },
    {
      name: 'timers and handles',
      points: points(({ measures }) => sumOf(measures.resources)),
      allowed: { fraction: 0.1, amount: 10 },
      show: tenths,
    },
    {
      name: 'entries of the store',
      points: points(entriesOf),
      allowed: isStoreFull ? { fraction: 0.1, amount: 50 } : undefined,
      show: whole,
    },
    {
      name: 'file of the store',
      points: points(({ store }) => store.fileBytes - (store.usedBytes['control'] ?? 0)),
      allowed: isStoreFull ? { fraction: 0.1, amount: MEGABYTE } : undefined,
      show: megabytes,
    },
    { name: 'processes', points: points(({ measures }) => measures.processes), allowed: undefined, show: tenths },
    { name: 'resident memory', points: points(({ measures }) => measures.rss), allowed: undefined, show: megabytes },
    {
      name: 'remembered for a day',
      points: points(({ store }) => store.entries['control'] ?? 0),
      allowed: undefined,
      show: whole,
    },
  ];
}

export function entriesOf({ store }: Pick<Look, 'store'>): number {
  return sumOf(store.entries) - (store.entries['control'] ?? 0);
}
