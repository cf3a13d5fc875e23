import { HandlerLog } from '../../../src/adapters/local/invoker-log';

let shown: { line: string; stream: string; runId?: string }[];
let log: HandlerLog;
beforeEach(() => {
  jest.useFakeTimers();
  shown = [];
  log = new HandlerLog((line, stream, runId) =>
    shown.push({ line, stream, ...(runId === undefined ? {} : { runId }) }),
  );
});
afterEach(() => {
  log.end();
  jest.useRealTimers();
});

const lines = () => shown.map(({ line }) => line);

test('a line that comes in pieces is shown whole', () => {
  log.raw('one\ntw', 'out');
  log.raw('o\nthr', 'out');
  log.raw('other\n', 'err');
  log.raw('ee\n', 'out');
  expect(lines()).toEqual(['one', 'two', 'other', 'three']);
});

test('a line without its end is shown when the second is over, or when the process ends', () => {
  log.raw('password: ', 'out');
  expect(lines()).toEqual([]);
  jest.advanceTimersByTime(1_000);
  expect(lines()).toEqual(['password: ']);
  log.raw('last words', 'err');
  log.end();
  expect(shown.at(-1)).toEqual({ line: 'last words', stream: 'err' });
});

test('of a flood the first 10,000 lines of each second are shown, and the characters of the rest are counted', () => {
  log.raw('x\n'.repeat(10_003), 'out');
  log.raw('and ten more characters\n', 'out');
  log.line('xyz', 'out', 'run-1');
  expect(shown).toHaveLength(10_000);
  jest.advanceTimersByTime(1_000);
  expect(shown.slice(10_000)).toEqual([{ line: '… 34 characters left out: too much in one second', stream: 'err' }]);
  log.line('again', 'out', 'run-1');
  expect(shown.at(-1)).toEqual({ line: 'again', stream: 'out', runId: 'run-1' });
});

test('long lines count by their length', () => {
  for (let said = 0; said < 5; said += 1) log.line('x'.repeat(1_000_000), 'out');
  log.end();
  expect(shown).toHaveLength(5);
  expect(lines().at(-1)).toBe('… 1,000,001 characters left out: too much in one second');
});

test('a line that never ends is shown in pieces', () => {
  log.raw('x'.repeat(300_000), 'out');
  expect(lines().join('')).toHaveLength(300_000);
});
