import { scheduledRunIdOf } from '../../src/domain/activation';
import type { RunState } from '../../src/domain/run';
import { NOON, SECOND } from '../support/builders';
import { Account, anyEnd, eachPeriod, ended, type Expectation } from './account';

let account: Account;
const idOf = (jobId: string, at = NOON) => scheduledRunIdOf(jobId, at);
const become = (jobId: string, state: RunState, sequence: number, attempt = 1, at = NOON) =>
  account.hear({ event: 'transition', jobId, runId: idOf(jobId, at), state, sequence, attempt });
const say = (line: string) => account.hear({ event: 'output', functionName: 'soak-job', line });
const call = (jobId: string, attempt = 1, rest = '0 ', at = NOON) =>
  say(`called ${idOf(jobId, at)} ${attempt} ${rest}`);
const runOnce = (jobId: string, at = NOON) => {
  become(jobId, 'SCHEDULED', 1, 0, at);
  become(jobId, 'STARTED', 2, 1, at);
  call(jobId, 1, '0 ', at);
  become(jobId, 'DONE', 3, 1, at);
};
const unsettled = () => [...account.unsettled()];
const faults = () => [...account.faults()];
const expectations = (expectation: Expectation) => {
  account.expect('a', expectation);
  return unsettled();
};
beforeEach(() => {
  account = new Account();
});

test('a job that was acknowledged and came to its end leaves nothing to say', () => {
  account.expect('a', ended(1, 'DONE', 1));
  expect(unsettled()).toEqual(['job a: 1 DONE at attempt 1 expected, and seen nothing']);
  runOnce('a');
  expect(unsettled()).toEqual([]);
  expect(faults()).toEqual([]);
  expect(account.totals()).toMatchObject({ acknowledged: 1, runs: 1, over: 1, states: { DONE: 1 }, calls: 1 });
});

test('a second run, another end or another attempt than the one expected is told', () => {
  runOnce('a');
  expect(expectations(ended(1, 'FAILED'))).toEqual(['job a: 1 FAILED expected, and seen 1 DONE at attempt 1']);
  expect(expectations(ended(1, 'DONE', 2))).toEqual([expect.stringContaining('1 DONE at attempt 2 expected')]);
  runOnce('a', NOON + SECOND);
  expect(expectations(ended(1, 'DONE'))).toEqual([expect.stringContaining('2 DONE at attempt 1')]);
  account = new Account();
  runOnce('a');
  become('a', 'SKIPPED', 2, 0, NOON + SECOND);
  expect(expectations(ended(1, 'DONE'))).toEqual([expect.stringContaining('1 SKIPPED at attempt 0')]);
});

test('a run that is not over, or of which something was not told, is told', () => {
  account.expect('a', anyEnd);
  become('a', 'STARTED', 2);
  expect(unsettled()).toEqual([`run ${idOf('a')} of job a: is STARTED still`]);
  become('a', 'DONE', 4);
  call('a');
  expect(unsettled()).toEqual([`run ${idOf('a')} of job a: its transition 3 was not told`]);
});

test('lines of a run may come in another order than they were written', () => {
  account.expect('a', ended(1, 'DONE', 1));
  become('a', 'DONE', 3);
  become('a', 'STARTED', 2);
  call('a');
  expect([unsettled(), faults()]).toEqual([[], []]);
  expect(account.stateOf(idOf('a'))).toBe('DONE');
});

test('an attempt whose code was not called, or called twice, is told', () => {
  account.expect('a', anyEnd);
  become('a', 'STARTED', 2);
  become('a', 'DONE', 3);
  expect(unsettled()).toEqual([expect.stringContaining('1 attempts began, and its code was called 0 times')]);
  call('a');
  expect(unsettled()).toEqual([]);
  call('a');
  expect(unsettled()).toEqual([expect.stringContaining('called 2 times')]);
});

test('a transition that came twice is a fault, but for the first, which is announced anew by whoever sends again', () => {
  account.expect('a', anyEnd);
  become('a', 'SCHEDULED', 1);
  become('a', 'SCHEDULED', 1);
  become('a', 'STARTED', 2);
  expect(faults()).toEqual([]);
  become('a', 'STARTED', 2);
  expect(faults()).toEqual([`run ${idOf('a')} of job a came to 2 twice`]);
});

test('an attempt that began early, and a call of which no attempt began, are faults', () => {
  account.expect('a', anyEnd);
  call('a');
  expect(faults()).toEqual([`run ${idOf('a')} was called, and nobody said that it began`]);
  become('a', 'STARTED', 2);
  call('a', 1, '-3 ');
  expect(faults()).toContain(`attempt 1 of run ${idOf('a')} began 3 ms early`);
});

test('a period without a run is told, wherever it is', () => {
  const expectation = eachPeriod(SECOND, 4);
  for (const second of [0, 1, 3]) runOnce('a', NOON + second * SECOND);
  expect(expectations(expectation)).toEqual([expect.stringMatching(/nothing between \S+:01.000Z and \S+:03.000Z/)]);
  runOnce('a', NOON + 2 * SECOND);
  expect(expectations(expectation)).toEqual([]);
  expect(expectations(eachPeriod(SECOND, 5))).toEqual(['job a: 5 DONE expected, and seen 4 DONE at attempt 1']);
});

test('a job that nobody asked for is a fault, unless it is the callback of a group', () => {
  runOnce('stranger');
  expect(faults()).toEqual(['1 jobs ran that nobody asked for, and callbacks were 0: stranger']);
  account.expectCallback('g', 'all-done');
  expect(unsettled()).toEqual(['callback g all-done: came 0 times']);
  say('callback g all-done');
  expect([unsettled(), faults()]).toEqual([[], []]);
  say('callback g all-done');
  expect(unsettled()).toEqual(['callback g all-done: came 2 times']);
});

test('a callback that nobody expects is told', () => {
  say('callback g all-over');
  expect(unsettled()).toEqual(['callback g all-over: came 1 times']);
});

test('news of a state that somebody subscribed to has to come, and of no other', () => {
  account.expect('a', anyEnd);
  account.expect('b', anyEnd);
  account.expectNotices('DONE', 'a');
  account.expectNotices('FAILED');
  for (const jobId of ['a', 'b']) runOnce(jobId);
  expect(unsettled()).toEqual([`notice ${idOf('a')}:3: did not come`]);
  say(`notice ${idOf('a')}:3`);
  expect(unsettled()).toEqual([]);
  become('b', 'FAILED', 2, 0, NOON + SECOND);
  expect(unsettled()).toEqual([`notice ${idOf('b', NOON + SECOND)}:2: did not come`]);
  say(`notice ${idOf('a')}:3`);
  expect(account.totals()).toMatchObject({ notices: 1, noticesTwice: 1 });
});

test('who waits for a run gets it whether it passed already or is to come, and is told when nothing comes', async () => {
  const off = new AbortController();
  const waiting = account.run('a', ({ state }) => state === 'DONE', off.signal);
  runOnce('a');
  expect((await waiting).runId).toBe(idOf('a'));
  expect((await account.run('a', ({ calls }) => calls === 1, off.signal)).runId).toBe(idOf('a'));
  const never = account.run('b', () => true, off.signal);
  off.abort();
  await expect(never).rejects.toThrow('nothing more was heard of job b');
  await expect(account.run('b', () => true, off.signal)).rejects.toThrow('job b');
});

test('the token of an attempt that completes by callback is kept with the attempt', async () => {
  become('a', 'STARTED', 2);
  call('a', 1, '0 secret');
  const run = await account.run('a', () => true, new AbortController().signal);
  expect(account.tokenOf(run)).toBe('secret');
  become('a', 'STARTED', 4, 2);
  expect(account.tokenOf(run)).toBeUndefined();
});

test('notes of the journal are counted by their name', () => {
  account.hear({ event: 'swept' });
  account.hear({ event: 'swept' });
  expect(account.notes).toEqual({ swept: 2 });
});
