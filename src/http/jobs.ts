import type { Context, Hono } from 'hono';
import type { JobRequest } from '../domain/job-request';
import { messageBody } from '../messages/commands';
import { readJobChanges } from '../messages/job-changes';
import { readJobRequest } from '../messages/job-request';
import { rawAt, RawJson } from '../messages/raw-json';
import { checkJobRequest, createJob, jobIdOf, type CreateJobPorts } from '../operations/create-job';
import { deleteJob } from '../operations/delete-job';
import { editJob } from '../operations/edit-job';
import { decideStanding, listJobs, listRuns, readJob, readRun, standingOf } from '../operations/read-job';
import { underKey } from '../operations/under-key';
import type { Ports } from '../ports';
import {
  ifMatchOf,
  jobsQuery,
  prefersAsync,
  readJsonBody,
  readPage,
  readQuery,
  requestIdOf,
  toPage,
  type JsonBody,
} from './request';
import { idIn, json, route } from './router';
import { jobAnswer, jobView, runView } from './views';

export type JobPorts = CreateJobPorts &
  Pick<Ports, 'control' | 'groups'> & { commands: Pick<Ports['commands'], 'job-create' | 'notify-delete'> };

export function jobRoutes(app: Hono, ports: JobPorts): void {
  route(app, '/jobs', { GET: (c) => list(c, ports), POST: (c) => create(c, ports) });
  route(app, '/jobs/:jobId', {
    GET: async (c) => jobAnswer(200, await readJob(idIn(c, 'jobId'), ports)),
    PATCH: (c) => edit(c, ports),
    DELETE: async (c) => {
      await deleteJob(requestIdOf(c, ports.ids), idIn(c, 'jobId'), ports);
      return new Response(null, { status: 204 });
    },
  });
  route(app, '/jobs/:jobId/runs', {
    GET: async (c) => {
      const { items, ...rest } = await listRuns({ ...readPage(c), jobId: idIn(c, 'jobId') }, ports);
      return json(200, { items: items.map(runView), ...rest });
    },
  });
  route(app, '/jobs/:jobId/runs/:runId', {
    GET: async (c) => json(200, runView(await readRun(idIn(c, 'jobId'), idIn(c, 'runId'), ports))),
  });
}

async function list(c: Context, ports: JobPorts): Promise<Response> {
  const { limit, cursor, tag } = readQuery(c, jobsQuery);
  const { items, ...rest } = await listJobs({ ...toPage(limit, cursor), ...(tag === undefined ? {} : { tag }) }, ports);
  return json(200, { items: items.map(jobView), ...rest });
}

async function create(c: Context, ports: JobPorts): Promise<Response> {
  const requestId = requestIdOf(c, ports.ids);
  const body = await readJsonBody(c);
  const request = readJobRequest(body.text, body.value);
  const answer = () =>
    prefersAsync(c) ? createLater(requestId, request, body, ports) : createNow(requestId, request, ports);
  return c.req.header('idempotency-key') === undefined ? answer() : underKey(requestId, request, ports, answer);
}

async function createLater(requestId: string, request: JobRequest, body: JsonBody, ports: JobPorts) {
  checkJobRequest(request, ports);
  await ports.commands['job-create'].send([{ body: messageBody(commandOf(requestId, body)) }]);
  const accepted = { requestId, jobId: jobIdOf(requestId, request) };
  return json(202, accepted, { 'preference-applied': 'respond-async' });
}

async function createNow(requestId: string, request: JobRequest, ports: JobPorts) {
  const askedAt = ports.clock.now();
  const job = await createJob(requestId, request, ports);
  // A job made just now has no run to look at; what a repeat finds may be over long since.
  const isNew = job.createdAt >= askedAt;
  const standing = isNew ? decideStanding(job, undefined, askedAt) : await standingOf(job, ports);
  return jobAnswer(201, standing, { location: `/jobs/${job.jobId}` });
}

async function edit(c: Context, ports: JobPorts): Promise<Response> {
  const jobId = idIn(c, 'jobId');
  const ifMatch = ifMatchOf(c);
  const { text, value } = await readJsonBody(c);
  const job = await editJob(jobId, readJobChanges(text, value), ifMatch, ports);
  return jobAnswer(200, await standingOf(job, ports));
}

/** Written anew, so that blanks that fill a body to its limit do not make the message too large; the payload stays as it is. */
function commandOf(requestId: string, { text, value }: JsonBody) {
  const payload = rawAt(text, ['payload']);
  const job = { ...(value as object), payload: payload === undefined ? undefined : new RawJson(payload) };
  return { version: 1, requestId, job };
}
