import fc from 'fast-check';
import { hasGrown, trendOfLastHalf, type Point } from './trend';

/** A look each second for `seconds`. */
const series = (valueAt: (second: number) => number, seconds = 60): Point[] =>
  Array.from({ length: seconds + 1 }, (_, second) => ({ atMs: second * 1_000, value: valueAt(second) }));
const TENTH = { fraction: 0.1, amount: 0 };

test('what stays as it is has not grown', () => {
  const trend = trendOfLastHalf(series(() => 100));
  expect(trend).toEqual({ atHalf: 100, atEnd: 100, growth: 0, growthFraction: 0 });
  expect(hasGrown(trend, TENTH)).toBe(false);
});

test('what rises in the first half and rests in the last has not grown', () => {
  expect(hasGrown(trendOfLastHalf(series((second) => Math.min(second, 30))), TENTH)).toBe(false);
});

test('a steady leak has grown once it is more than the allowance', () => {
  const leak = (perSecond: number) => trendOfLastHalf(series((second) => 100 + Math.max(0, second - 30) * perSecond));
  expect(leak(0.5).growth).toBeCloseTo(15);
  expect(hasGrown(leak(0.5), TENTH)).toBe(true);
  expect(hasGrown(leak(0.3), TENTH)).toBe(false);
});

test('a leak shows through a saw of the same height', () => {
  const saw = (second: number) => (second % 7) * 3;
  expect(hasGrown(trendOfLastHalf(series((second) => 100 + saw(second))), TENTH)).toBe(false);
  expect(hasGrown(trendOfLastHalf(series((second) => 100 + saw(second) + Math.max(0, second - 30))), TENTH)).toBe(true);
});

test('a few spikes at the very end are no growth, and a few dips hide none', () => {
  expect(hasGrown(trendOfLastHalf(series((second) => (second > 57 ? 500 : 100))), TENTH)).toBe(false);
  expect(hasGrown(trendOfLastHalf(series((second) => (second > 57 ? 0 : 100 + second))), TENTH)).toBe(true);
});

test('what falls has not grown', () => {
  expect(hasGrown(trendOfLastHalf(series((second) => 100 - second)), TENTH)).toBe(false);
});

test('an amount is allowed where the fraction of a small number is less', () => {
  const oneMore = trendOfLastHalf(series((second) => 2 + second / 30));
  expect(hasGrown(oneMore, { fraction: 0.1, amount: 2 })).toBe(false);
  expect(hasGrown(oneMore, { fraction: 0.1, amount: 0.5 })).toBe(true);
});

test('what was not measured is not taken for flat', () => {
  expect(hasGrown(trendOfLastHalf(series(() => NaN)), TENTH)).toBe(true);
});

test('too few looks are refused: they would always look flat', () => {
  expect(() => trendOfLastHalf(series(() => 1, 5))).toThrow('3 looks in the last half: at least 4');
  expect(() => trendOfLastHalf([])).toThrow('0 looks');
});

test('any line is found, whatever its slope, and whenever its looks were', () => {
  const moments = fc.uniqueArray(fc.integer({ min: 0, max: 600_000 }), { minLength: 40, maxLength: 60 });
  fc.assert(
    fc.property(moments, fc.integer({ min: -50, max: 50 }), (drawn, perMinute) => {
      const points = [0, ...drawn, 600_000]
        .sort((a, b) => a - b)
        .map((atMs) => ({ atMs, value: 1_000 + (perMinute * atMs) / 60_000 }));
      const late = points.filter(({ atMs }) => atMs >= 300_000);
      fc.pre(late.length >= 4);
      expect(trendOfLastHalf(points).growth).toBeCloseTo(perMinute * 5, 3);
    }),
  );
});
