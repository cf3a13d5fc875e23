import fc from 'fast-check';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { gatewayHandler } from '../../lambdas/api/gateway-handler';
import { keepAsStackHasIt } from '../../lambdas/job-resource/keep';
import { createApp } from '../../src/http/app';
import type { InvokeOutcome } from '../../src/ports';
import { httpEvent } from '../lambdas/recorded-events';
import { runs } from '../support/property-runs';
import { check } from './check';
import { Inputs } from './inputs';
import { textOf, treeOf, type Tree } from './json-tree';
import { mutated } from './odd-json';
import { JOBS, oddRequest, type OddRequest } from './requests';
import { StandingWorld } from './standing-world';

const inputs = new Inputs();
const LONG_MS = 1_800_000;

interface GatewayAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/** As API Gateway hands a request over: what is no UTF-8, and now and then what is, in base64; a GET with its body, too. */
function eventOf({ method, path, query, headers, body }: OddRequest, isBase64: boolean) {
  const bytes = body && Buffer.from(body.bytes);
  const isText = bytes === undefined || Buffer.from(bytes.toString('utf8')).equals(bytes);
  const isBase64Encoded = bytes !== undefined && (isBase64 || !isText);
  return httpEvent({
    method: method === 'get' || method === 'X' ? 'PUT' : method,
    path,
    query,
    headers,
    ...(bytes ? { body: bytes.toString(isBase64Encoded ? 'base64' : 'utf8') } : {}),
    isBase64Encoded,
  });
}

let world: StandingWorld;
let call: (event: object) => Promise<GatewayAnswer>;
beforeAll(async () => {
  world = await StandingWorld.open();
  const handler = gatewayHandler(createApp({ ports: world.client.ports, isLocal: false }));
  call = async (event) => await handler(event as never, {} as never);
});
afterAll(() => world.close());

test(
  'whatever API Gateway passes on is answered as a problem or as what was asked for',
  async () => {
    const property = fc.asyncProperty(oddRequest, fc.boolean(), async (request, isBase64) => {
      inputs.count('gateway events');
      const { statusCode, headers } = await call(eventOf(request, isBase64));
      expect(statusCode).toBeLessThan(500);
      expect(headers['content-type'] ?? '').toMatch(statusCode < 300 ? /json$|^$/ : /^application\/problem\+json$/);
    });
    await check(property, runs(600));
    expect(world.faults()).toEqual([]);
  },
  LONG_MS,
);

test('a GET with a body is answered as one without', async () => {
  inputs.count('gateway events');
  const event = httpEvent({ path: '/jobs/standing' });
  expect((await call({ ...event, body: '{}' })).statusCode).toBe(200);
  expect((await call({ ...event, body: 'e30=', isBase64Encoded: true })).statusCode).toBe(200);
});

const resourceEvents = (['Create', 'Update', 'Delete'] as const).flatMap((RequestType) =>
  (['Custom::EscapementJob', 'Custom::EscapementNotification'] as const).map((ResourceType) => ({
    RequestType,
    ResourceType,
    RequestId: 'r-1',
    PhysicalResourceId: ResourceType === 'Custom::EscapementJob' ? 'standing' : 'standing/x',
    ResourceProperties: { Definition: JSON.stringify({ ...JOBS[0], jobId: 'standing' }) },
    OldResourceProperties: { Definition: JSON.stringify({ ...JOBS[3], jobId: 'standing' }) },
  })),
);
const definition = mutated(JOBS.map((job) => treeOf({ ...job, jobId: 'standing' })) as [Tree, ...Tree[]]).map(textOf);
const resourceEvent = fc.oneof(
  mutated(resourceEvents.map(treeOf) as [Tree, ...Tree[]]).map((tree) => textOf(tree)),
  fc.tuple(fc.constantFrom(...resourceEvents), definition, definition).map(([event, now, before]) =>
    JSON.stringify({
      ...event,
      ResourceProperties: { Definition: now },
      OldResourceProperties: { Definition: before },
    }),
  ),
);

test(
  'whatever CloudFormation asks of a job is told what came of it',
  async () => {
    const api = {
      apiFunctionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:api',
      wait: () => Promise.resolve(),
      invoker: {
        invoke: async ({ event }: { event: string }): Promise<InvokeOutcome> => ({
          kind: 'returned',
          result: JSON.stringify(await call(JSON.parse(event) as object)),
        }),
      },
    };
    const property = fc.asyncProperty(resourceEvent, async (text) => {
      inputs.count('stack events');
      const event = JSON.parse(text) as CloudFormationCustomResourceEvent;
      // What is not even an object is not sent by anybody.
      if (typeof event !== 'object' || event === null) return;
      const outcome = await keepAsStackHasIt(event, api);
      if (outcome.Status === 'FAILED') expect(outcome.Reason).toMatch(/./s);
      // CloudFormation takes 4 KiB. Its own id of the resource comes back as it was sent, which here may be of any length.
      const isEcho = 'PhysicalResourceId' in event && outcome.PhysicalResourceId === event.PhysicalResourceId;
      const told = isEcho ? { ...outcome, PhysicalResourceId: '' } : outcome;
      expect(JSON.stringify(told).length).toBeLessThan(4_096);
    });
    await check(property, runs(400));
    expect(world.faults()).toEqual([]);
  },
  LONG_MS,
);
