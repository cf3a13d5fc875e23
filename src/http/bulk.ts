import type { Context, Hono } from 'hono';
import { LIMITS } from '../domain/limits';
import { readBulk } from '../messages/bulk-request';
import type { CreateJobPorts } from '../operations/create-job';
import { createJobs } from '../operations/create-jobs';
import { underKey } from '../operations/under-key';
import type { Ports } from '../ports';
import { noteFault, problemOf } from './problem';
import { idempotencyKeyOf, readJsonBody, requestIdOf } from './request';
import { json } from './router';

export type BulkPorts = CreateJobPorts & Pick<Ports, 'control'>;

/** An answer for a thousand entries must fit into what a Lambda function may answer: so many of an entry's errors are told. */
const MOST_ERRORS_TOLD = 5;

/** Only this method: any other is about a job whose id is "bulk". */
export function bulkRoutes(app: Hono, ports: BulkPorts): void {
  app.post('/jobs/bulk', (c) => bulk(c, ports));
}

async function bulk(c: Context, ports: BulkPorts): Promise<Response> {
  const key = idempotencyKeyOf(c);
  const requestId = requestIdOf(c, ports.ids);
  const { text, value } = await readJsonBody(c, LIMITS.manyJobsBodyBytes);
  const entries = readBulk(text, value);
  const work = () => createJobs(requestId, entries, ports);
  // Where some were refused the same key may come again with those corrected: what was created stays as it is.
  const isWhole = (settled: Awaited<ReturnType<typeof work>>) => settled.every(({ status }) => status === 'fulfilled');
  const settled = key === undefined ? await work() : await underKey(key, contentOf(entries), ports, work, isWhole);

  const results = settled.map((one, index) =>
    one.status === 'fulfilled'
      ? { index, status: 201, jobId: one.value.jobId, location: `/jobs/${one.value.jobId}` }
      : { index, ...refusalOf(one.reason, c, ports) },
  );
  const failed = settled.filter(({ status }) => status === 'rejected').length;
  return json(200, { created: settled.length - failed, failed, results });
}

function refusalOf(reason: unknown, c: Context, { journal }: Pick<Ports, 'journal'>) {
  const problem = problemOf(reason);
  if (!problem) {
    noteFault(reason, c, journal);
    const message =
      'could not be created through a fault on our side; it may be sent again with the same Idempotency-Key';
    return { status: 500, errors: [{ field: 'body', message }] };
  }
  const { status, errors = [{ field: 'body', message: problem.message }] } = problem;
  // The key of the whole request is good; it is this entry that it was used for with another content.
  return { status: status === 422 ? 409 : status, errors: errors.slice(0, MOST_ERRORS_TOLD) };
}

/** Errors as what they say: as objects they would all look alike. */
function contentOf(entries: readonly unknown[]) {
  return { bulk: entries.map((entry) => (entry instanceof Error ? entry.message : entry)) };
}
