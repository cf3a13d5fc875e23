import type { Context, Hono } from 'hono';
import type { GroupKind } from '../domain/group';
import { LIMITS } from '../domain/limits';
import { readAddedJobs, readBatch, readChain } from '../messages/group-request';
import { emptyBody } from '../messages/job-actions';
import { stringify } from '../messages/raw-json';
import { cancelGroup, retryGroup } from '../operations/change-group';
import { addToBatch, createGroup, type GroupPorts, type GroupStanding } from '../operations/create-group';
import { listGroups, listMembers, readGroup } from '../operations/read-group';
import { answeredOnce, underKey } from '../operations/under-key';
import type { Page, PageQuery } from '../ports';
import { idempotencyKeyOf, readJsonBody, readOptionalBody, readPage, requestIdOf } from './request';
import { idIn, json, route, textAnswer } from './router';
import { groupView, memberView } from './views';

const PATHS = { chain: '/chains', batch: '/batches' } as const satisfies Record<GroupKind, string>;

/** Chains and batches. */
export function groupRoutes(app: Hono, ports: GroupPorts): void {
  for (const kind of ['chain', 'batch'] as const) {
    const one = `${PATHS[kind]}/:${kind}Id`;
    route(app, PATHS[kind], { GET: (c) => list(c, kind, ports), POST: (c) => create(c, kind, ports) });
    route(app, one, { GET: (c) => read(c, kind, ports) });
    route(app, `${one}/cancel`, { POST: (c) => cancel(c, kind, ports) });
    route(app, `${one}/retry`, { POST: (c) => retry(c, kind, ports) });
  }
  route(app, '/batches/:batchId/jobs', { GET: (c) => listJobs(c, ports), POST: (c) => add(c, ports) });
}

async function create(c: Context, kind: GroupKind, ports: GroupPorts): Promise<Response> {
  const requestId = requestIdOf(c, ports.ids);
  const { text, value } = await readJsonBody(c, LIMITS.manyJobsBodyBytes);
  const request = kind === 'chain' ? readChain(text, value) : readBatch(text, value);
  // The id derives from the request's, so that the same key with another content meets the first group of it.
  const standing = await createGroup(kind, requestId, request, ports);
  return json(201, groupView(standing), { location: `${PATHS[kind]}/${standing.group.groupId}` });
}

async function list(c: Context, kind: GroupKind, ports: GroupPorts): Promise<Response> {
  const { items, ...rest } = await listGroups({ ...readPage(c), kind }, ports);
  return json(200, { items: items.map(groupView), ...rest });
}

/** A chain comes with its jobs, which are few. */
async function read(c: Context, kind: GroupKind, ports: GroupPorts): Promise<Response> {
  const groupId = idIn(c, `${kind}Id`);
  const standing = await readGroup(kind, groupId, ports);
  if (kind === 'batch') return json(200, groupView(standing));
  const { items } = await membersOf({ kind, groupId, limit: LIMITS.chainJobs }, ports);
  return json(200, { ...groupView(standing), jobs: items });
}

async function listJobs(c: Context, ports: GroupPorts): Promise<Response> {
  const groupId = idIn(c, 'batchId');
  return json(200, await membersOf({ ...readPage(c), kind: 'batch', groupId }, ports));
}

async function membersOf(
  query: PageQuery & { kind: GroupKind; groupId: string },
  ports: GroupPorts,
): Promise<Page<object>> {
  const { items, ...rest } = await listMembers(query, ports);
  const runs = await Promise.all(items.map(({ jobId, runId }) => ports.runs.read(jobId, runId)));
  return { items: items.map((member, index) => memberView(member, runs[index])), ...rest };
}

async function add(c: Context, ports: GroupPorts): Promise<Response> {
  const batchId = idIn(c, 'batchId');
  const key = idempotencyKeyOf(c);
  const requestId = requestIdOf(c, ports.ids);
  const { text, value } = await readJsonBody(c, LIMITS.manyJobsBodyBytes);
  const members = readAddedJobs(text, value);
  const work = () => addToBatch(batchId, requestId, members, ports);
  return groupAnswer(key === undefined ? await work() : await underKey(key, { batchId, members }, ports, work));
}

async function cancel(c: Context, kind: GroupKind, ports: GroupPorts): Promise<Response> {
  const groupId = idIn(c, `${kind}Id`);
  await readOptionalBody(c, emptyBody);
  return groupAnswer(await cancelGroup(kind, groupId, ports));
}

async function retry(c: Context, kind: GroupKind, ports: GroupPorts): Promise<Response> {
  const groupId = idIn(c, `${kind}Id`);
  const key = idempotencyKeyOf(c);
  await readOptionalBody(c, emptyBody);
  const work = async () => stringify(groupView(await retryGroup(kind, groupId, ports)));
  return textAnswer(200, key === undefined ? await work() : await answeredOnce(key, { retry: groupId }, ports, work));
}

function groupAnswer(standing: GroupStanding): Response {
  return json(200, groupView(standing));
}
