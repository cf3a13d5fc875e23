import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { guidFrom } from '../../src/domain/guid';
import { ask, RefusedError, type Api } from './ask-api';
import { stands } from './stands';

/** What CloudFormation is told. */
export interface Outcome {
  Status: 'SUCCESS' | 'FAILED';
  /** a job's is its id, a notification's the job's id and its own; of what was never made, none of these */
  PhysicalResourceId: string;
  Reason?: string;
}

type Definition = Record<string, unknown> & { jobId: string };
type Event<Type extends CloudFormationCustomResourceEvent['RequestType']> = Extract<
  CloudFormationCustomResourceEvent,
  { RequestType: Type }
>;

/** Marks what a failed creation left nothing of: CloudFormation asks for its deletion all the same. */
const NEVER_MADE = 'never-made/';
const LONGEST_REASON = 1_000;
/** Sent where they change, so that the API says why it cannot be. */
const UNCHANGEABLE = ['unique', 'delaySeconds'];

/** Creates, changes or deletes a job or a notification as the stack now has it. Each may be asked for twice. Never throws. */
export async function keepAsStackHasIt(event: CloudFormationCustomResourceEvent, api: Api): Promise<Outcome> {
  const before = event.RequestType === 'Create' ? `${NEVER_MADE}${event.RequestId}` : event.PhysicalResourceId;
  try {
    return { Status: 'SUCCESS', PhysicalResourceId: await idAfter(event, api) };
  } catch (error) {
    const { message } = error as Error;
    return { Status: 'FAILED', PhysicalResourceId: before, Reason: message.slice(0, LONGEST_REASON) };
  }
}

async function idAfter(event: CloudFormationCustomResourceEvent, api: Api): Promise<string> {
  const isJob = event.ResourceType === 'Custom::EscapementJob';
  switch (event.RequestType) {
    case 'Create':
      return isJob ? createJob(event, api) : subscribe(event, api);
    case 'Update': {
      const isSame = event.ResourceProperties['Definition'] === event.OldResourceProperties['Definition'];
      if (isSame) return event.PhysicalResourceId;
      return isJob ? changeJob(event, api) : subscribe(event, api);
    }
    case 'Delete':
      if (!event.PhysicalResourceId.startsWith(NEVER_MADE)) await remove(isJob, event.PhysicalResourceId, api);
      return event.PhysicalResourceId;
  }
}

function definitionIn(properties: Record<string, unknown>): Definition {
  return JSON.parse(String(properties['Definition'])) as Definition;
}

async function createJob(event: Event<'Create' | 'Update'>, api: Api): Promise<string> {
  const body = definitionIn(event.ResourceProperties);
  await ask('POST', '/jobs', { body, key: event.RequestId, accept: [201] }, api);
  return body.jobId;
}

/**
 * A refusal counts only where the job does not stand as it is wanted: when a deployment is rolled back, CloudFormation asks
 * for the change back of what was never changed, or for the job back that a new one was to replace.
 */
async function changeJob(event: Event<'Update'>, api: Api): Promise<string> {
  const now = definitionIn(event.ResourceProperties);
  const before = definitionIn(event.OldResourceProperties);
  const isReplaced = event.PhysicalResourceId !== now.jobId;
  try {
    if (!isReplaced && (await edit(now, before, api))) return now.jobId;
    return await createJob(event, api);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { status, body } = await ask('GET', `/jobs/${now.jobId}`, { accept: [200, 404] }, api);
    if (status === 200 && stands(body, now, isReplaced ? {} : before)) return now.jobId;
    throw error;
  }
}

/** What the stack no longer says goes back to its default. @returns false when somebody has deleted the job meanwhile */
async function edit(now: Definition, before: Definition, api: Api): Promise<boolean> {
  const gone = Object.keys(before).filter((field) => !(field in now));
  const same = UNCHANGEABLE.filter((field) => JSON.stringify(now[field]) === JSON.stringify(before[field]));
  const kept = new Set(['jobId', ...same]);
  const body = {
    ...Object.fromEntries(gone.map((field) => [field, null])),
    ...Object.fromEntries(Object.entries(now).filter(([field]) => !kept.has(field))),
  };
  const { status } = await ask('PATCH', `/jobs/${now.jobId}`, { body, accept: [200, 404] }, api);
  return status !== 404;
}

/**
 * What a resource of a stack says has one id, so that a change that is rolled back finds the notification that it had. The
 * API remembers a request for a day, also when its notification is gone since: then another one is made.
 */
async function subscribe(event: Event<'Create' | 'Update'>, api: Api): Promise<string> {
  const { StackId, LogicalResourceId, RequestId, ResourceProperties } = event;
  const { jobId, ...body } = definitionIn(ResourceProperties);
  const path = `/jobs/${jobId}/notifications`;
  const idUnder = async (key: string) =>
    (await ask('POST', path, { body, key, accept: [201] }, api)).body['notifyId'] as string;
  const words = [StackId, LogicalResourceId, String(ResourceProperties['Definition'])];
  const notifyId = await idUnder(guidFrom('job-resource', ...words));
  const { items } = (await ask('GET', path, { accept: [200] }, api)).body as { items: { notifyId: string }[] };
  const isThere = items.some((item) => item.notifyId === notifyId);
  return `${jobId}/${isThere ? notifyId : await idUnder(RequestId)}`;
}

/** What is gone already is as it should be. */
async function remove(isJob: boolean, id: string, api: Api): Promise<void> {
  const [jobId, notifyId] = id.split('/');
  const path = isJob ? `/jobs/${jobId}` : `/jobs/${jobId}/notifications/${notifyId}`;
  await ask('DELETE', path, { accept: [204, 404] }, api);
}
