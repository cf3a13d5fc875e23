import type { Context, Hono } from 'hono';
import { parseInstant } from '../messages/instant';
import { given } from '../messages/job-request';
import { stringify } from '../messages/raw-json';
import { emptyBody } from '../messages/job-actions';
import { retryFailedBody } from '../messages/run-actions';
import {
  flushFailed,
  forgetFailed,
  listFailed,
  readFailed,
  retryAllFailed,
  retryFailed,
  type FailedFilter,
} from '../operations/failed-runs';
import { answeredOnce } from '../operations/under-key';
import { failedQuery, flushQuery, idempotencyKeyOf, readOptionalBody, readQuery, toPage } from './request';
import { idIn, json, route, textAnswer } from './router';
import { failedRunView, runItemView, runView } from './views';

export type FailedPorts = Parameters<typeof retryFailed>[2];

/** One request forgets so many at a time, and begins no further round after so long: an HTTP API gives up after 30 s. */
const FORGOTTEN_AT_ONCE = 200;
const LONGEST_FLUSH_MS = 10_000;

/** Runs that were given up, kept for a person to look at. */
export function failedRoutes(app: Hono, ports: FailedPorts): void {
  route(app, '/failed', { GET: (c) => list(c, ports), DELETE: (c) => flush(c, ports) });
  route(app, '/failed/retry', { POST: (c) => retryAll(c, ports) });
  route(app, '/failed/:jobId/:runId', {
    GET: async (c) => {
      const { run, job } = await readFailed(idIn(c, 'jobId'), idIn(c, 'runId'), ports);
      return json(200, failedRunView(run, job));
    },
    DELETE: async (c) => {
      await forgetFailed(idIn(c, 'jobId'), idIn(c, 'runId'), ports);
      return new Response(null, { status: 204 });
    },
  });
  route(app, '/failed/:jobId/:runId/retry', { POST: (c) => retry(c, ports) });
}

async function list(c: Context, ports: FailedPorts): Promise<Response> {
  const { limit, cursor, ...filter } = readQuery(c, failedQuery);
  const { items, ...rest } = await listFailed({ ...toPage(limit, cursor), ...filterOf(filter) }, ports);
  return json(200, { items: items.map(runItemView), ...rest });
}

async function flush(c: Context, ports: FailedPorts): Promise<Response> {
  const filter = { ...filterOf(readQuery(c, flushQuery)), limit: FORGOTTEN_AT_ONCE };
  const until = ports.clock.now() + LONGEST_FLUSH_MS;
  let forgotten = 0;
  for (;;) {
    const round = await flushFailed(filter, ports);
    forgotten += round.forgotten;
    if (!round.isMore || ports.clock.now() >= until) return json(200, { forgotten, isMore: round.isMore });
  }
}

async function retry(c: Context, ports: FailedPorts): Promise<Response> {
  const [jobId, runId] = [idIn(c, 'jobId'), idIn(c, 'runId')];
  await readOptionalBody(c, emptyBody);
  const work = async () => stringify(runView(await retryFailed(jobId, runId, ports)));
  return textAnswer(202, await once(c, { retry: [jobId, runId] }, ports, work));
}

async function retryAll(c: Context, ports: FailedPorts): Promise<Response> {
  const { limit, ...filter } = await readOptionalBody(c, retryFailedBody);
  const work = async () => stringify(await retryAllFailed({ ...filterOf(filter), limit }, ports));
  return textAnswer(200, await once(c, { retryAll: { ...filter, limit } }, ports, work));
}

/** Under the caller's key, if there is one: a repeat then starts no other series of attempts. */
function once(c: Context, content: object, ports: FailedPorts, work: () => Promise<string>): Promise<string> {
  const key = idempotencyKeyOf(c);
  return key === undefined ? work() : answeredOnce(key, content, ports, work);
}

interface FilterTexts {
  job?: string | undefined;
  since?: string | undefined;
  reason?: string | undefined;
}

function filterOf({ job, since, reason }: FilterTexts): FailedFilter {
  return given<FailedFilter>({
    jobId: job,
    since: since === undefined ? undefined : parseInstant(since),
    reason,
  });
}
