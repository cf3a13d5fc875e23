import { readEnv, runnerEnv, type Env } from '../../lambdas/env';

const right = {
  SHARD_COUNT: '4',
  TICK_SECONDS: '10',
  RETENTION_SECONDS: '2592000',
  FAILED_RETENTION_SECONDS: '7776000',
  ALLOWED_FUNCTION_PATTERNS: 'job-*,notify-*',
  METRICS_STACK_NAME: 'Escapement-prod',
  JOBS_TABLE_NAME: 'jobs',
  RUNS_TABLE_NAME: 'runs',
  CODE_TABLE_NAME: 'code',
  CONTROL_TABLE_NAME: 'control',
  GROUPS_TABLE_NAME: 'groups',
  JOB_ACTIVATION_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/111122223333/job-activation',
  JOB_ACTIVATION_HIGH_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/111122223333/job-activation-high',
  NOTIFY_QUEUE_URL: 'http://127.0.0.1:4566/000000000000/notify',
};

test('a right environment is read into values, and nothing else of it is', () => {
  const env: Env<typeof runnerEnv> = readEnv(runnerEnv, { ...right, AWS_REGION: 'eu-west-1' });
  expect(env).toEqual({
    ...right,
    SHARD_COUNT: 4,
    TICK_SECONDS: 10,
    RETENTION_SECONDS: 2_592_000,
    FAILED_RETENTION_SECONDS: 7_776_000,
    ALLOWED_FUNCTION_PATTERNS: ['job-*', 'notify-*'],
  });
});

test('metrics that are off have no name', () => {
  expect(readEnv(runnerEnv, { ...right, METRICS_STACK_NAME: 'off' }).METRICS_STACK_NAME).toBe(false);
});

test('a wrong environment is told with all its faults at once', () => {
  const { RUNS_TABLE_NAME: _, ...rest } = right;
  const wrong = { ...rest, SHARD_COUNT: '0', JOBS_TABLE_NAME: '', NOTIFY_QUEUE_URL: 'notify' };
  expect(() => readEnv(runnerEnv, wrong)).toThrow(
    [
      'the environment of this function is wrong:',
      'SHARD_COUNT is "0"; it must be a whole number from 1',
      'JOBS_TABLE_NAME is ""; it must be a text',
      'RUNS_TABLE_NAME is missing; it must be a text',
      'NOTIFY_QUEUE_URL is "notify"; it must be a URL',
    ].join('\n  '),
  );
});

test.each([
  ['SHARD_COUNT', '4.5'],
  ['TICK_SECONDS', '1e3'],
  ['TICK_SECONDS', ' 10'],
  ['RETENTION_SECONDS', '-1'],
  ['ALLOWED_FUNCTION_PATTERNS', 'a,,b'],
  ['ALLOWED_FUNCTION_PATTERNS', 'a, b'],
  ['NOTIFY_QUEUE_URL', 'ftp://queue'],
])('%s is not read from %j', (name, value) => {
  expect(() => readEnv(runnerEnv, { ...right, [name]: value })).toThrow(
    `${name} is ${JSON.stringify(value)}; it must be`,
  );
});

test('a handler that finds no environment fails when it is loaded, and names each variable', () => {
  expect(() => jest.requireActual('../../lambdas/runner/handler') as unknown).toThrow(
    new RegExp(
      Object.keys(runnerEnv)
        .map((name) => `${name} is missing`)
        .join('[^]*'),
    ),
  );
});
