import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import type { Invoker } from '../../src/ports';

/** What CloudFormation is told. */
export interface Outcome {
  Status: 'SUCCESS' | 'FAILED';
  /** a job's is its id, a notification's the job's id and its own; of what was never made, none of these */
  PhysicalResourceId: string;
  Reason?: string;
}

interface Api {
  invoker: Invoker;
  apiFunctionArn: string;
}

interface Answer {
  status: number;
  body: { jobId?: string; notifyId?: string; detail?: string; errors?: { field: string; message: string }[] };
}

type Definition = Record<string, unknown> & { jobId: string };

/** Marks what a failed creation left nothing of: CloudFormation asks for its deletion all the same. */
const NEVER_MADE = 'never-made/';
const LONGEST_REASON = 1_000;
const TIMEOUT_MS = 30_000;
/** Nothing that an edit can take away. */
const KEPT = new Set(['jobId', 'target', 'unique', 'delaySeconds', 'schedule', 'payload']);

class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Creates, changes or deletes a job or a notification as the stack now has it. Each may be asked for twice. Never throws. */
export async function keepAsStackHasIt(event: CloudFormationCustomResourceEvent, api: Api): Promise<Outcome> {
  const before = event.RequestType === 'Create' ? `${NEVER_MADE}${event.RequestId}` : event.PhysicalResourceId;
  try {
    const isJob = event.ResourceType === 'Custom::EscapementJob';
    if (event.RequestType === 'Delete') {
      if (!before.startsWith(NEVER_MADE)) await remove(isJob, before, api);
      return { Status: 'SUCCESS', PhysicalResourceId: before };
    }
    const definition = definitionIn(event.ResourceProperties);
    const key = event.RequestId;
    if (!isJob) return { Status: 'SUCCESS', PhysicalResourceId: await subscribe(definition, key, api) };
    if (event.RequestType === 'Update' && before === definition.jobId) {
      const wasThere = await edit(definition, definitionIn(event.OldResourceProperties), api);
      if (wasThere) return { Status: 'SUCCESS', PhysicalResourceId: before };
    }
    await ask('POST', '/jobs', definition, api, { key, accept: [201] });
    return { Status: 'SUCCESS', PhysicalResourceId: definition.jobId };
  } catch (error) {
    const { message } = error as Error;
    return { Status: 'FAILED', PhysicalResourceId: before, Reason: message.slice(0, LONGEST_REASON) };
  }
}

function definitionIn(properties: Record<string, unknown>): Definition {
  return JSON.parse(String(properties['Definition'])) as Definition;
}

/** What the stack no longer says goes back to its default. @returns false when somebody has deleted the job meanwhile */
async function edit(now: Definition, before: Definition, api: Api): Promise<boolean> {
  const { jobId, unique: _unique, delaySeconds: _delay, ...fields } = now;
  const gone = Object.keys(before).filter((field) => !(field in now) && !KEPT.has(field));
  const changes = {
    ...Object.fromEntries(gone.map((field) => [field, null])),
    ...('payload' in before && !('payload' in now) ? { payload: null } : {}),
    ...fields,
  };
  const { status } = await ask('PATCH', `/jobs/${jobId}`, changes, api, { accept: [200, 404] });
  return status !== 404;
}

async function subscribe({ jobId, ...notification }: Definition, key: string, api: Api): Promise<string> {
  const path = `/jobs/${jobId}/notifications`;
  const { body } = await ask('POST', path, notification, api, { key, accept: [201] });
  return `${jobId}/${body.notifyId ?? ''}`;
}

/** What is gone already is as it should be. */
async function remove(isJob: boolean, id: string, api: Api): Promise<void> {
  const [jobId, notifyId] = id.split('/');
  const path = isJob ? `/jobs/${jobId}` : `/jobs/${jobId}/notifications/${notifyId}`;
  await ask('DELETE', path, undefined, api, { accept: [204, 404] });
}

/** Calls the API's function as API Gateway does. @throws RefusedError with what was wrong, in the API's words */
async function ask(
  method: string,
  path: string,
  body: object | undefined,
  { invoker, apiFunctionArn }: Api,
  { key, accept }: { key?: string; accept: readonly number[] },
): Promise<Answer> {
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: {
      host: 'job-resource',
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    requestContext: { http: { method, path }, domainName: 'job-resource' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
  const call = { functionArn: apiFunctionArn, event: JSON.stringify(event), timeoutMs: TIMEOUT_MS };
  const outcome = await invoker.invoke(call);
  if (outcome.kind !== 'returned') throw new RefusedError(`the API did not answer ${method} ${path}: ${outcome.kind}`);
  const { statusCode, body: text = '' } = JSON.parse(outcome.result) as { statusCode: number; body?: string };
  const answer: Answer = { status: statusCode, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  if (accept.includes(statusCode)) return answer;
  const { detail = `${method} ${path} was answered ${statusCode}`, errors = [] } = answer.body;
  throw new RefusedError([detail, ...errors.map(({ field, message }) => `${field} ${message}`)].join(' '));
}
