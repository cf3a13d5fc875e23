import { hasReason, isKeptFailed, isSentAgain } from '../../src/domain/failed';
import { failed, startSeries } from '../../src/domain/conclude';
import { aStartedRun, DAY, NOON } from '../support/builders';

const run = failed(aStartedRun(), NOON, 'out-of-attempts', { type: 'TypeError', message: 'no' }, 90 * DAY);

test('a failed run is kept as long as the setting says, also where nothing has removed it yet', () => {
  expect(isKeptFailed(run, NOON + 90 * DAY - 1, 90 * DAY)).toBe(true);
  expect(isKeptFailed(run, NOON + 90 * DAY, 90 * DAY)).toBe(false);
});

test('a run that is forgotten, or sent again, is not among the failed ones', () => {
  const { failedAt: _, ...forgotten } = run;
  expect(isKeptFailed(forgotten, NOON, 90 * DAY)).toBe(false);
  expect(isKeptFailed(startSeries(run, NOON), NOON, 90 * DAY)).toBe(false);
});

test('a failed run is found by its reason and by the type of its error', () => {
  const found = ['out-of-attempts', 'TypeError', undefined].map((reason) => hasReason(run, reason));
  expect(found).toEqual([true, true, true]);
  expect(hasReason(run, 'Error')).toBe(false);
});

test('a run is on its way again from the moment that a person sends it until that series is over', () => {
  const again = startSeries(run, NOON);
  expect([run, again, { ...again, state: 'STARTED' as const }].map(isSentAgain)).toEqual([false, true, true]);
  expect(isSentAgain({ ...again, state: 'DONE' })).toBe(false);
});
