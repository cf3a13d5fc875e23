import type { Context, Hono } from 'hono';
import { iso } from '../domain/event';
import { given } from '../messages/job-request';
import { rawAt } from '../messages/raw-json';
import { checked } from '../messages/rules';
import { cancelBody, completeBody, failBody, heartbeatBody } from '../messages/run-actions';
import { cancelRun } from '../operations/cancel-run';
import { completeRun, heartbeat } from '../operations/complete-run';
import { readJsonBody, readOptionalBody } from './request';
import { idIn, json, route } from './router';
import { runView } from './views';

export type RunActionPorts = Parameters<typeof cancelRun>[3] & Parameters<typeof completeRun>[4];

/** What ends a run from outside. Each does no harm when it comes twice. */
export function runActionRoutes(app: Hono, ports: RunActionPorts): void {
  route(app, '/jobs/:jobId/runs/:runId/cancel', { POST: (c) => cancel(c, ports) });
  route(app, '/jobs/:jobId/runs/:runId/complete', { POST: (c) => complete(c, ports) });
  route(app, '/jobs/:jobId/runs/:runId/fail', { POST: (c) => fail(c, ports) });
  route(app, '/jobs/:jobId/runs/:runId/heartbeat', { POST: (c) => beat(c, ports) });
}

async function cancel(c: Context, ports: RunActionPorts): Promise<Response> {
  const [jobId, runId] = [idIn(c, 'jobId'), idIn(c, 'runId')];
  const remark = await readOptionalBody(c, cancelBody);
  return json(200, runView(await cancelRun(jobId, runId, given<{ reason?: string; by?: string }>(remark), ports)));
}

async function complete(c: Context, ports: RunActionPorts): Promise<Response> {
  const [jobId, runId] = [idIn(c, 'jobId'), idIn(c, 'runId')];
  const { text, value } = await readJsonBody(c);
  const { token } = checked(completeBody, value);
  const result = rawAt(text, ['result']) ?? 'null';
  return json(200, runView(await completeRun(jobId, runId, token, { kind: 'returned', result }, ports)));
}

async function fail(c: Context, ports: RunActionPorts): Promise<Response> {
  const [jobId, runId] = [idIn(c, 'jobId'), idIn(c, 'runId')];
  const { token, error } = checked(failBody, (await readJsonBody(c)).value);
  return json(200, runView(await completeRun(jobId, runId, token, { kind: 'failed', error }, ports)));
}

async function beat(c: Context, ports: RunActionPorts): Promise<Response> {
  const [jobId, runId] = [idIn(c, 'jobId'), idIn(c, 'runId')];
  const { token } = checked(heartbeatBody, (await readJsonBody(c)).value);
  const { leaseUntil, isCancelRequested } = await heartbeat(jobId, runId, token, ports);
  return json(200, { leaseUntil: iso(leaseUntil), isCancelRequested });
}
