import { judgedOf, type Look } from './looks';
import { judge } from './report';

interface Holding {
  heapUsed?: number;
  descriptors?: number;
  processes?: number;
  jobs?: number;
  control?: number;
  fileBytes?: number;
  controlBytes?: number;
}

const MEGABYTE = 1_048_576;
const look = (atMs: number, holding: Holding): Look => ({
  atMs,
  measures: {
    heapUsed: holding.heapUsed ?? 20 * MEGABYTE,
    external: MEGABYTE,
    rss: 100 * MEGABYTE,
    descriptors: { socket: holding.descriptors ?? 40, pipe: 5 },
    processes: holding.processes ?? 4,
    resources: { Timeout: 20 },
  },
  store: {
    fileBytes: holding.fileBytes ?? 30 * MEGABYTE,
    usedBytes: { jobs: MEGABYTE, control: holding.controlBytes ?? MEGABYTE },
    entries: { jobs: holding.jobs ?? 1_000, control: holding.control ?? 100 },
  },
});
/** What grew, where something is held at each of ten looks as this says. */
const grown = (holdingAt: (index: number) => Holding, isStoreFull = true) => {
  const looks = Array.from({ length: 11 }, (_, index) => look(index * 1_000, holdingAt(index)));
  return judgedOf(looks, isStoreFull).flatMap((one) => (judge(one).fault === undefined ? [] : [one.name]));
};

test('a system that holds the same all the while is flat', () => {
  expect(grown(() => ({}))).toEqual([]);
});

test.each<[string, (index: number) => Holding]>([
  ['heap after collection', (index) => ({ heapUsed: (20 + index) * MEGABYTE })],
  ['open file descriptors', (index) => ({ descriptors: 40 + (index > 7 ? 1 : 0) + index / 5 })],
  ['entries of the store', (index) => ({ jobs: 1_000 + 50 * index })],
  ['file of the store', (index) => ({ fileBytes: (30 + 2 * index) * MEGABYTE })],
])('the %s that grows is told', (name, holdingAt) => {
  expect(grown(holdingAt)).toEqual([name]);
});

test('one more handler that stays warm, with its pipes, is no leak', () => {
  expect(grown((index) => ({ processes: 4 + index, descriptors: 40 + 3 * index }))).toEqual([]);
});

test('what is remembered for a day may fill, with the pages that it takes', () => {
  const filling = (index: number) => ({
    control: 100 + 900 * index,
    controlBytes: (1 + 3 * index) * MEGABYTE,
    fileBytes: (30 + 3 * index) * MEGABYTE,
  });
  expect(grown(filling)).toEqual([]);
});

test('a store that has not yet lost anything by its retention may fill', () => {
  const filling = (index: number) => ({ jobs: 1_000 + 100 * index, fileBytes: (30 + 2 * index) * MEGABYTE });
  expect(grown(filling, false)).toEqual([]);
});
