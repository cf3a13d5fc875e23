import type { Context, Hono } from 'hono';
import { parseInstant } from '../messages/instant';
import { backfillBody, emptyBody, pauseBody } from '../messages/job-actions';
import { checked } from '../messages/rules';
import { pauseJob, resumeJob } from '../operations/pause-job';
import { readJob } from '../operations/read-job';
import { backfillJob, triggerJob } from '../operations/trigger-job';
import { answeredOnce } from '../operations/under-key';
import type { Ports } from '../ports';
import { idempotencyKeyOf, readJsonBody, readOptionalBody, requestIdOf } from './request';
import { idIn, json, route } from './router';
import { jobAnswer } from './views';

type ActionPorts = Parameters<typeof pauseJob>[2] & Parameters<typeof triggerJob>[2] & Pick<Ports, 'ids' | 'groups'>;

/** What a person does to a job beside editing it. */
export function jobActionRoutes(app: Hono, ports: ActionPorts): void {
  route(app, '/jobs/:jobId/pause', { POST: (c) => pause(c, ports) });
  route(app, '/jobs/:jobId/resume', { POST: (c) => resume(c, ports) });
  route(app, '/jobs/:jobId/trigger', { POST: (c) => trigger(c, ports) });
  route(app, '/jobs/:jobId/backfill', { POST: (c) => backfill(c, ports) });
}

async function pause(c: Context, ports: ActionPorts): Promise<Response> {
  const jobId = idIn(c, 'jobId');
  const { reason, by } = await readOptionalBody(c, pauseBody);
  const remark = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
  await once(c, { pause: [jobId, remark] }, ports, async () => {
    await pauseJob(jobId, remark, ports);
    return null;
  });
  return jobAnswer(200, await readJob(jobId, ports));
}

async function resume(c: Context, ports: ActionPorts): Promise<Response> {
  const jobId = idIn(c, 'jobId');
  await readOptionalBody(c, emptyBody);
  await once(c, { resume: jobId }, ports, async () => {
    await resumeJob(jobId, ports);
    return null;
  });
  return jobAnswer(200, await readJob(jobId, ports));
}

async function trigger(c: Context, ports: ActionPorts): Promise<Response> {
  const jobId = idIn(c, 'jobId');
  const requestId = requestIdOf(c, ports.ids);
  await readOptionalBody(c, emptyBody);
  const { runId } = await triggerJob(requestId, jobId, ports);
  return json(202, { runId }, { location: `/jobs/${jobId}/runs/${runId}` });
}

async function backfill(c: Context, ports: ActionPorts): Promise<Response> {
  const jobId = idIn(c, 'jobId');
  const { from, to } = checked(backfillBody, (await readJsonBody(c)).value);
  const range = { fromAt: parseInstant(from)!, toAt: parseInstant(to)! };
  const { runIds } = await once(c, { backfill: [jobId, range] }, ports, () => backfillJob(jobId, range, ports));
  return json(202, { count: runIds.length, runIds });
}

/** Under the caller's key, if there is one: a repeat that comes late undoes nothing that was done since. */
function once<Answer>(c: Context, content: object, ports: ActionPorts, work: () => Promise<Answer>): Promise<Answer> {
  const key = idempotencyKeyOf(c);
  return key === undefined ? work() : answeredOnce(key, content, ports, work);
}
