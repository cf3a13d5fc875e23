import { countBy, countsText, whole } from './counts';
import { judge, megabytes, tableText, tenths } from './report';

const line = (from: number, to: number) =>
  Array.from({ length: 11 }, (_, index) => ({ atMs: index * 1_000, value: from + ((to - from) * index) / 10 }));

test('what stayed within its allowance is flat, with its figures', () => {
  const allowed = { fraction: 0.1, amount: 0 };
  expect(judge({ name: 'heap', points: line(100, 100), allowed, show: whole })).toEqual({
    row: ['heap', '100', '100', '+0 (+0.0 %)', '+10.0 %', 'flat'],
  });
});

test('what grew is told in a sentence', () => {
  const allowed = { fraction: 0.1, amount: 1 };
  expect(judge({ name: 'heap', points: line(0, 100), allowed, show: whole })).toEqual({
    row: ['heap', '50', '100', '+50 (+100.0 %)', '+10.0 % or +1', 'grew'],
    fault: 'heap grew over the last half, from 50 to 100',
  });
});

test('what has no allowance is shown, and is no fault', () => {
  expect(judge({ name: 'store', points: line(0, 100), allowed: undefined, show: whole })).toEqual({
    row: ['store', '50', '100', '+50 (+100.0 %)', 'anything', 'shown only'],
  });
});

test('what fell is shown with its sign', () => {
  const { row, fault } = judge({ name: 'x', points: line(100, 0), allowed: { fraction: 0, amount: 0 }, show: tenths });
  expect([row[3], row[4], fault]).toEqual(['−50.0 (−100.0 %)', 'nothing', undefined]);
});

test('numbers are written for people', () => {
  expect([megabytes(1_572_864), whole(12_345.6), tenths(1.25)]).toEqual(['1.50 MB', '12,346', '1.3']);
  expect(countsText(countBy(['a', 'b', 'a']))).toBe('2 a, 1 b');
  expect(countsText({})).toBe('nothing');
});

test('a table has its columns under one another', () => {
  expect(
    tableText([
      ['a', 'long head', ''],
      ['longer', 'b', 'c'],
    ]),
  ).toBe('a       long head\nlonger  b          c');
});
