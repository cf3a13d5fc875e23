import fc from 'fast-check';
import { LIMITS } from '../../src/domain/limits';
import { functionArn } from '../support/builders';
import { treeOf, type Tree } from './json-tree';
import { mutated, oddText, written, type Written } from './odd-json';

/** A request before the ids and the token of a world are put into it, see `filledIn`. */
export interface OddRequest {
  method: string;
  path: string;
  query: string;
  headers: Readonly<Record<string, string>>;
  body: Written | undefined;
}

interface Route {
  method: string;
  path: string;
  bodies?: readonly unknown[];
  query?: readonly string[];
}

const target = { functionArn: functionArn('job-report') };
const notifyTarget = { functionArn: functionArn('notify-me') };
const JUNE = '2027-06-01T09:00:00Z';

export const recurring = {
  jobId: 'made',
  name: 'nightly report',
  tags: ['reports', 'é'],
  target,
  schedule: 'cron(0 3 * * ? *)',
  timezone: 'Europe/London',
  dst: { gap: 'run-after', overlap: 'both' },
  start: JUNE,
  end: '2028-06-01T09:00:00+01:00',
  maxRuns: 10,
  overlap: 'queue-one',
  jitterSeconds: 30,
  misfire: { policy: 'run-all', graceSeconds: 5 },
  payload: { id: 7, text: 'x', list: [1, [2]] },
};
const oneOff = {
  target,
  delaySeconds: 1.5,
  payload: [1],
  retry: {
    maxAttempts: 2,
    backoff: { kind: 'exponential', initialSeconds: 0.5, factor: 1.5, maxSeconds: 3 },
    jitter: 'full',
    retryUntil: JUNE,
  },
  timeoutSeconds: 5,
  priority: 'high',
  unique: { key: 'k', forSeconds: 60, until: 'start' },
  concurrency: { key: 'k', limit: 2 },
  rateLimit: { key: 'k', limit: 5, perSeconds: 1 },
};
export const awaited = { target, completion: 'callback', heartbeatSeconds: 60, payload: null };
const retries = (backoff: object) => ({ target, retry: { maxAttempts: 3, backoff } });
export const JOBS = [
  recurring,
  oneOff,
  awaited,
  { target },
  { target, schedule: 'at(2027-05-04T12:00:30)', timezone: 'Asia/Kolkata' },
  { target, schedule: 'rate(10 seconds)', misfire: { policy: 'skip' } },
  retries({ kind: 'fixed', seconds: 0.001 }),
  retries({ kind: 'list', seconds: [0, 0.25, 1] }),
];
const member = { target, delaySeconds: 1, payload: { a: 1 }, tags: ['t'] };
const chain = { name: 'a chain', jobs: [member, { target, jobId: 'second' }], catch: target };
const batch = {
  name: 'a batch',
  jobs: [member, [{ target }, { target, jobId: 'inner' }]],
  then: target,
  catch: target,
  finally: target,
  progress: target,
  allowFailures: true,
};
const changes = {
  name: null,
  tags: ['x'],
  target,
  schedule: 'rate(5 minutes)',
  timezone: null,
  dst: null,
  start: JUNE,
  maxRuns: 3,
  overlap: 'skip',
  payload: { changed: 1 },
  retry: null,
  misfire: { policy: 'skip', graceSeconds: 1 },
  timeoutSeconds: 7,
  priority: 'normal',
  concurrency: { key: 'c', limit: 1 },
  rateLimit: null,
};
const remark = { reason: 'the database moves', by: 'ops' };
const PAGES = ['', 'limit=1', 'limit=1&cursor=:jobsCursor', 'cursor=:runsCursor&limit=100', 'tag=t&limit=2'];

export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/jobs', bodies: JOBS },
  { method: 'POST', path: '/jobs', bodies: JOBS },
  { method: 'POST', path: '/jobs/bulk', bodies: [{ jobs: JOBS }, { jobs: [{ target }] }] },
  { method: 'GET', path: '/jobs', query: PAGES },
  { method: 'GET', path: '/jobs/:jobId' },
  { method: 'PATCH', path: '/jobs/:jobId', bodies: [changes, { name: 'new' }, { payload: [2] }] },
  { method: 'DELETE', path: '/jobs/hourly' },
  { method: 'GET', path: '/jobs/:jobId/runs', query: PAGES },
  { method: 'GET', path: '/jobs/:jobId/runs/:runId' },
  { method: 'POST', path: '/jobs/:jobId/pause', bodies: [remark, {}] },
  { method: 'POST', path: '/jobs/:jobId/resume', bodies: [{}] },
  { method: 'POST', path: '/jobs/:jobId/trigger', bodies: [{}] },
  {
    method: 'POST',
    path: '/jobs/:jobId/backfill',
    bodies: [{ from: '2027-05-04T09:00:00Z', to: '2027-05-04T11:30:00Z' }],
  },
  { method: 'POST', path: '/jobs/:jobId/runs/:runId/cancel', bodies: [remark] },
  {
    method: 'POST',
    path: '/jobs/awaited/runs/:awaitedRunId/complete',
    bodies: [{ token: ':token', result: { rows: 9 } }, { token: 'x' }],
  },
  {
    method: 'POST',
    path: '/jobs/awaited/runs/:awaitedRunId/fail',
    bodies: [{ token: ':token', error: { type: 'RetryAfterError', message: '30' } }],
  },
  { method: 'POST', path: '/jobs/awaited/runs/:awaitedRunId/heartbeat', bodies: [{ token: ':token' }] },
  { method: 'GET', path: '/failed', query: ['', 'job=failed', `since=${JUNE}`, 'reason=non-retriable&limit=1'] },
  { method: 'DELETE', path: '/failed', query: ['job=failed', 'since=2027-06-01T09:00:00%2B01:00', 'reason=x'] },
  {
    method: 'POST',
    path: '/failed/retry',
    bodies: [{ job: 'failed', since: JUNE, reason: 'non-retriable', limit: 5 }],
  },
  { method: 'GET', path: '/failed/failed/:failedRunId' },
  { method: 'DELETE', path: '/failed/:jobId/:runId' },
  { method: 'POST', path: '/failed/failed/:failedRunId/retry', bodies: [{}] },
  { method: 'POST', path: '/chains', bodies: [chain] },
  { method: 'GET', path: '/chains', query: PAGES },
  { method: 'GET', path: '/chains/:chainId' },
  { method: 'POST', path: '/chains/:chainId/retry', bodies: [{}] },
  { method: 'POST', path: '/chains/:chainId/cancel', bodies: [{}] },
  { method: 'POST', path: '/batches', bodies: [batch, { jobs: [] }] },
  { method: 'GET', path: '/batches', query: PAGES },
  { method: 'GET', path: '/batches/:batchId' },
  { method: 'GET', path: '/batches/:batchId/jobs', query: PAGES },
  { method: 'POST', path: '/batches/:batchId/jobs', bodies: [{ jobs: [member, [{ target }]] }] },
  { method: 'POST', path: '/batches/:batchId/cancel', bodies: [{}] },
  { method: 'POST', path: '/batches/:batchId/retry', bodies: [{}] },
  { method: 'POST', path: '/jobs/:jobId/notifications', bodies: [{ state: 'DONE', target: notifyTarget }] },
  { method: 'POST', path: '/jobs/*/notifications', bodies: [{ state: 'FAILED', target: notifyTarget }] },
  { method: 'GET', path: '/jobs/:jobId/notifications' },
  { method: 'DELETE', path: '/jobs/:jobId/notifications/:notifyId' },
  {
    method: 'GET',
    path: '/schedules/preview',
    query: [
      'expression=rate(1+day)&timezone=Europe/London&from=2027-06-01T09:00:00Z&anchor=2027-01-01T00:00:00Z&count=3',
      'expression=30+2+*+*+*&timezone=America/New_York&dstGap=run-after&dstOverlap=both&count=1000',
    ],
  },
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/queues/:reply', query: ['', 'max=1'] },
  { method: 'POST', path: '/queues/job-create', bodies: [{ version: 1, requestId: 'r-1', job: recurring }] },
  { method: 'POST', path: '/queues/job-delete', bodies: [{ version: 1, requestId: 'r-2', jobId: 'made' }] },
];

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'get', 'X'];

const oddSegment = fc.oneof(
  fc.constantFrom(
    '%',
    '%zz',
    '%00',
    '%ff',
    '%ED%A0%80',
    '%2F',
    '..',
    '.',
    '*',
    '**',
    ':jobId',
    '',
    '__proto__',
    'bulk',
  ),
  fc.constantFrom('absent', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(4_000), 'a b', '+', '%F0%9F%98%80', 'ſ'),
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
);

/** One segment of the path is another one, or there is one more. */
const oddPath = (path: string) =>
  fc.tuple(fc.nat(9), oddSegment, fc.boolean()).map(([place, segment, isMore]) => {
    const segments = path.split('/').slice(1);
    segments.splice(place % (segments.length + 1), isMore ? 0 : 1, segment);
    return `/${segments.join('/')}`;
  });

const LIST_NAMES = [
  'limit',
  'cursor',
  'tag',
  'job',
  'since',
  'reason',
  'max',
  'expression',
  'count',
  'from',
  '__proto__',
  'x',
];

/** Not a cursor that any list gave out, but much like one. */
export const oddCursor = fc.oneof(
  fc.constantFrom('', 'x', ':jobsCursor', ':runsCursor', ':jobsCursor=', ':jobsCursor%00', `${'A'.repeat(5_000)}`),
  fc
    .tuple(
      fc.constantFrom('jobs', 'runs', 'failed', 'groups', 'x'),
      fc.array(fc.oneof(oddText, fc.double(), fc.constant(null)), { maxLength: 3 }),
    )
    .map(([list, key]) => Buffer.from(JSON.stringify([list, ...key])).toString('base64url')),
  fc.tuple(fc.nat(99), fc.constantFrom('A', '_', '-', '.', '%20')).map(([at, letter]) => `:jobsCursor@${at}${letter}`),
);

const oddQuery = (query: string) =>
  fc
    .tuple(
      fc.constantFrom(...LIST_NAMES),
      fc.oneof(
        oddText.map((text) => encodeURIComponent(text.toWellFormed())),
        oddCursor,
      ),
      fc.nat(2),
    )
    .map(([name, value, where]) => {
      const more = `${name}=${value}`;
      return where === 0 ? more : where === 1 ? `${query}&${more}` : `${more}&${query}`;
    });

/** What a header may hold: fetch takes latin1 without line ends, trimmed. */
const headerText = oddText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim());

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  headerText.map((text) => ({ 'idempotency-key': text })),
  fc.constantFrom('k1', 'k2', 'k'.repeat(128)).map((key) => ({ 'idempotency-key': key })),
  fc.constantFrom('respond-async', 'RESPOND-ASYNC; wait=5, x', 'wait=1', ',,;').map((prefer) => ({ prefer })),
  fc
    .constantFrom('text/plain', '', ';', 'application/json;charset=utf-16', 'application/x+json', 'multipart/form-data')
    .map((type) => ({ 'content-type': type })),
  fc
    .constantFrom('0', '-1', '1e9', 'x', '99999999999999999999', '', '5')
    .map((length) => ({ 'content-length': length })),
  fc.constantFrom('gzip', 'chunked', 'identity').map((coding) => ({ 'content-encoding': coding })),
  fc.constantFrom('*', '"x"', 'W/"x"', '"a", "b"', 'x', '"', '"a",,,', '').map((match) => ({ 'if-match': match })),
  headerText.map((text) => ({ 'if-match': `"${text}"` })),
  fc.constantFrom('localhost', '127.0.0.1:99999999', 'evil.example', '[::1]', '').map((host) => ({ host })),
  fc.constantFrom('null', 'http://localhost', 'x').map((origin) => ({ origin })),
  headerText.map((text) => ({ 'x-any': text, accept: text, 'x-http-method-override': 'DELETE' })),
);

export const oddRequest: fc.Arbitrary<OddRequest> = fc.constantFrom(...ROUTES).chain((route) => {
  const { method, path, bodies, query = [''] } = route;
  const trees = (bodies ?? [{}, []]).map(treeOf) as [Tree, ...Tree[]];
  const request = fc.record({
    method: mostly(12, fc.constant(method), fc.constantFrom(...METHODS)),
    path: mostly(8, fc.constant(path), oddPath(path)),
    query: mostly(4, fc.constantFrom(...query), fc.constantFrom(...query).chain(oddQuery)),
    headers: mostly(3, fc.constant({}), oddHeaders),
    body: bodies ? written(mutated(trees)) : mostly(9, fc.constant(undefined), written(mutated(trees))),
  });
  return request.map((one) => Object.assign(one, { [fc.toStringMethod]: () => shownRequest(one) }));
});

/** As a counterexample shows it, and the corpus keeps it. */
function shownRequest({ method, path, query, headers, body }: OddRequest): string {
  return JSON.stringify({
    method,
    path,
    query,
    headers,
    ...(body ? { body: Buffer.from(body.bytes).toString('latin1') } : {}),
  });
}

function mostly<T>(weight: number, usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

/** Bodies of about the most that each route takes: too many to draw, too slow to mutate. */
export const LARGE_BODIES: readonly [method: string, path: string, body: string][] = [
  ['/jobs', LIMITS.bodyBytes],
  ['/batches', LIMITS.manyJobsBodyBytes],
].flatMap(([path, most]) =>
  [0, 1].flatMap((more) => {
    const bytes = (most as number) + more;
    return [
      ' '.repeat(bytes),
      '['.repeat(bytes),
      `"${'x'.repeat(bytes - 2)}"`,
      `"${'x'.repeat(bytes - 1)}`,
      `"${'\\n'.repeat(bytes / 2 - 1)}`,
      '1'.repeat(bytes),
      `{"jobs":[${'1,'.repeat((bytes - 13) / 2)}1]}`,
      '{"a":'.repeat(bytes / 5),
      '\n'.repeat(bytes - 1) + 'x',
    ].map((body): [string, string, string] => ['POST', path as string, body]);
  }),
);
