import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundles, HANDLERS, LIMITS_KB, type Bundle } from '../support/bundles';

let all: Bundle[];
beforeAll(async () => {
  all = await bundles();
}, 60_000);

const bundleOf = (handler: string) => all.find((one) => one.handler === handler)!;
const clientsIn = ({ inputs }: Bundle) =>
  [...new Set(inputs.flatMap((path) => /@aws-sdk\/(client-[a-z-]+)\//.exec(path)?.[1] ?? []))].sort();

test('there is a bundle of every function', () => {
  expect(HANDLERS).toEqual(expect.arrayContaining(['api', 'scheduler', 'runner', 'notifier']));
});

test.each(HANDLERS)('the bundle of %s is within its limit', (handler) => {
  expect(bundleOf(handler).code.byteLength / 1000).toBeLessThanOrEqual(LIMITS_KB(handler));
});

/** Functions that read what comes from outside; all others read only what we wrote ourselves. */
const PARSING = ['api', 'job-creator', 'job-deleter', 'notification-creator', 'notification-deleter'];

test.each(HANDLERS)('%s carries the validation library only if it reads input from outside', (handler) => {
  const carries = bundleOf(handler).inputs.some((path) => path.includes('node_modules/zod/'));
  expect(carries).toBe(PARSING.includes(handler));
});

test('only the functions that call others carry the client of Lambda, and none a client that nothing here uses', () => {
  const both = ['client-dynamodb', 'client-sqs'];
  for (const bundle of all) {
    const calls = ['runner', 'notifier', 'job-resource'].includes(bundle.handler) ? ['client-lambda'] : [];
    const clients = bundle.handler === 'job-resource' ? calls : [...both, ...calls].sort();
    expect({ [bundle.handler]: clientsIn(bundle) }).toEqual({ [bundle.handler]: clients });
  }
});

test('a bundle signs with the credentials of its environment, the session token included', () => {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bundle-'));
  writeFileSync(join(folder, 'notifier.js'), bundleOf('notifier').code);
  const notice = { version: 1, jobId: 'report', lifeId: 'g1', state: 'DONE', event: { id: 'e1' } };
  const attributes = { ApproximateReceiveCount: '1', SentTimestamp: '1796083871477' };
  const record = { messageId: 'm1', receiptHandle: 'r1', body: JSON.stringify(notice), attributes, eventSourceARN: '' };
  // No request leaves the machine: the first one is shown instead, and the process ends.
  const script = `
    require('node:https').request = ({ host, headers }) => {
      require('node:fs').writeSync(1, JSON.stringify({ host, headers }));
      process.exit(0);
    };
    require('./notifier.js').handler({ Records: [${JSON.stringify(record)}] });`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'the-session-token',
      NOTIFICATIONS_TABLE_NAME: 'notifications',
      CODE_TABLE_NAME: 'code',
      NOTIFY_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/111122223333/notify',
    },
  });
  rmSync(folder, { recursive: true });
  expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringContaining('{') as string });
  const { host, headers } = JSON.parse(stdout) as { host: string; headers: Record<string, string> };
  expect(host).toBe('dynamodb.eu-west-1.amazonaws.com');
  expect(headers['authorization']).toContain('Credential=AKIDEXAMPLE/');
  expect(headers['x-amz-security-token']).toBe('the-session-token');
});
