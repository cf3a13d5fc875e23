import { Account, ended } from './account';
import { faultsOf, summaryText, verdictText, type Soaked } from './verdict';

const soaked = (changes: Partial<Soaked> = {}): Soaked => ({
  account: new Account(),
  unsettled: [],
  verdicts: [{ row: ['heap', '1', '1', '+0', '+10.0 %', 'flat'] }],
  leftovers: { faults: [], control: { unique: { count: 2, hours: 1 } }, messages: { 'job-activation': 3 } },
  lastLook: {
    atMs: 1,
    measures: {
      heapUsed: 1,
      external: 1,
      rss: 3_145_728,
      descriptors: { socket: 2 },
      processes: 1,
      resources: { Timeout: 1 },
    },
    store: { fileBytes: 2_097_152, usedBytes: { jobs: 1_048_576 }, entries: { jobs: 4 } },
  },
  played: { chain: 1 },
  requests: { count: 9, slowestMs: 12.3 },
  replies: 5,
  exitCode: 0,
  errors: '',
  ...changes,
});
const noting = (...names: string[]) => {
  const account = new Account();
  for (const event of names) account.hear({ event });
  return account;
};

test('where all is well nothing is told but that', () => {
  const account = noting('swept', 'job-deleted', 'activation-dropped', 'late-result-dropped');
  expect(faultsOf(soaked({ account }))).toEqual([]);
  expect(verdictText([])).toBe('Nothing was lost, and nothing grew.');
});

test.each<[string, Partial<Soaked>, string]>([
  ['a job that did not come to its end', { unsettled: ['job a: 1 DONE expected'] }, 'job a: 1 DONE expected'],
  ['what grew', { verdicts: [{ row: [], fault: 'heap grew' }] }, 'heap grew'],
  ['what is left over in the store', { leftovers: { faults: ['a row'], control: {}, messages: {} } }, 'a row'],
  [
    'a note of what must not happen',
    { account: noting('tick-failed', 'tick-failed') },
    'the journal notes tick-failed: 2',
  ],
  [
    'a message in a dead-letter queue',
    { leftovers: { faults: [], control: {}, messages: { 'notify-dead': 1 } } },
    'messages lie in notify-dead: 1',
  ],
  ['a system that did not stop by itself', { exitCode: null }, 'the system ended with null'],
  ['anything on standard error', { errors: 'boom' }, 'the system said on standard error: boom'],
])('%s is a fault', (_, changes, fault) => {
  expect(faultsOf(soaked(changes))).toEqual([fault]);
});

test('what the account holds for wrong is a fault', () => {
  const account = new Account();
  account.fault('POST /jobs was not answered');
  expect(faultsOf(soaked({ account }))).toEqual(['POST /jobs was not answered']);
});

test('the verdict is one sentence after the first faults, however many there are', () => {
  expect(verdictText(['a', 'b'])).toBe('✗ a\n✗ b\n\nSomething was lost or grew: a, and 1 more.');
  const many = verdictText(Array.from({ length: 1_500 }, (_, index) => `fault ${index}`)).split('\n');
  expect(many).toHaveLength(22);
  expect(many.at(-1)).toBe('Something was lost or grew: fault 0, and 1,499 more.');
});

test('the summary shows every figure', () => {
  const account = new Account();
  account.expect('a', ended(1, 'DONE'));
  const text = summaryText(soaked({ account }));
  for (const shown of [
    /^over the last half .*\nheap +1 +1 /,
    /jobs +1 acknowledged; 0 runs: nothing/,
    /requests +9, the slowest 12 ms; 5 replies/,
    /handles +2 socket; 1 Timeout/,
    /store +2\.00 MB, 1\.00 MB in use: 4 jobs/,
    /control +2 unique \(1 h\)/,
    /messages left +3 job-activation/,
  ])
    expect(text).toMatch(shown);
});
