import { stands } from '../../lambdas/job-resource/stands';

const standing = {
  jobId: 'nightly',
  tags: ['reports'],
  payload: { order: 7, of: 'shop' },
  retry: {
    maxAttempts: 5,
    backoff: { kind: 'fixed', seconds: 10 },
    jitter: 'full',
    retryUntil: '2027-06-01T09:00:00.000Z',
  },
  overlap: 'skip',
};

test.each([
  ['defaults that nobody wrote do not count', { retry: { maxAttempts: 5 } }, {}, true],
  ['a value that differs counts', { retry: { maxAttempts: 4 } }, {}, false],
  ['a field that does not stand counts', { timezone: 'UTC' }, {}, false],
  ['a payload counts as a whole', { payload: { order: 7 } }, {}, false],
  ['a list counts as a whole', { tags: [] }, {}, false],
  ['an object is not a text', { overlap: { kind: 'skip' } }, {}, false],
  ['what was written and is no longer must be gone', { jobId: 'nightly' }, { overlap: 'skip' }, false],
  ['what was written in vain is gone', { jobId: 'nightly' }, { overlap: 'allow', priority: 'high' }, true],
  ['also within a field', { retry: { maxAttempts: 5 } }, { retry: { retryUntil: '2027-06-01T09:00:00.000Z' } }, false],
])('%s', (_fact, now, before, expected) => {
  expect(stands(standing, now, before)).toBe(expected);
});

test('nothing stands where there is no job', () => {
  expect(stands(undefined, { jobId: 'nightly' })).toBe(false);
});
