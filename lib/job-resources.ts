import { CustomResource, Duration, Names, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IConstruct } from 'constructs';
import { jobResourceEnv } from '../lambdas/env';
import { allow } from './grants';
import { HandlerFunction } from './handler-function';

/** A few tries of a few questions, each as long as the API may take. */
const TIMEOUT = Duration.minutes(10);

/** A job of the stack. What a field means is told in the README; those that are left out have the API's defaults. */
export interface JobProps {
  /** the code */
  handler: IFunction;
  /** its id; one that follows from its place in the app unless given */
  jobId?: string;
  name?: string;
  /** an expression such as `rate(10 minutes)`, or a `Schedule`, ours or that of the CDK; without it the job runs once, when it is created */
  schedule?: string | { expressionString: string; timeZone?: { timezoneName: string } };
  /** an IANA name; that of the schedule, if it has one, unless given */
  timezone?: string;
  delaySeconds?: number;
  /** any JSON */
  payload?: unknown;
  tags?: readonly string[];
  start?: string;
  end?: string;
  maxRuns?: number;
  overlap?: 'allow' | 'skip' | 'queue-one' | 'cancel-previous';
  jitterSeconds?: number;
  dst?: { gap?: 'skip' | 'run-after'; overlap?: 'first' | 'second' | 'both' };
  misfire?: { policy?: 'run-once' | 'run-all' | 'skip'; graceSeconds?: number };
  retry?: {
    maxAttempts?: number;
    backoff?:
      | { kind: 'fixed'; seconds: number }
      | { kind: 'exponential'; initialSeconds?: number; factor?: number; maxSeconds?: number }
      | { kind: 'list'; seconds: readonly number[] };
    jitter?: 'none' | 'full' | 'equal';
    retryUntil?: string;
  };
  timeoutSeconds?: number;
  priority?: 'high' | 'normal';
  unique?: { key: string; forSeconds?: number; until?: 'start' | 'done' };
  concurrency?: { key: string; limit: number };
  rateLimit?: { key: string; limit: number; perSeconds: number };
  completion?: 'callback';
  heartbeatSeconds?: number;
}

export interface NotificationProps {
  /** of this stack, or the id of another, or `*` for all jobs */
  job: Job | string;
  /** a state of a run, such as FAILED; of all jobs also that of a chain or batch, such as BATCH_DONE */
  state: string;
  handler: IFunction;
}

/** The function through which CloudFormation creates, changes and deletes jobs: it asks the API. */
export class JobResources extends Construct {
  readonly serviceToken: string;
  readonly after: readonly IConstruct[];

  constructor(
    scope: Construct,
    id: string,
    props: { apiFunction: IFunction; after: readonly IConstruct[]; logRetentionDays: number },
  ) {
    super(scope, id);
    this.after = props.after;
    const { lambda } = new HandlerFunction(this, 'JobResource', {
      handler: 'job-resource',
      description: 'Escapement: keeps the jobs of a stack as the stack has them',
      contract: jobResourceEnv,
      environment: { API_FUNCTION_ARN: props.apiFunction.functionArn },
      timeout: TIMEOUT,
      logRetentionDays: props.logRetentionDays,
    });
    allow(lambda, ['lambda:InvokeFunction'], [props.apiFunction.functionArn]);
    this.serviceToken = lambda.functionArn;
  }
}

export class Job extends Construct {
  readonly jobId: string;

  constructor(scope: Construct, id: string, { resources, handler, ...props }: JobProps & { resources: JobResources }) {
    super(scope, id);
    const { jobId = Names.uniqueResourceName(this, { maxLength: 64 }), schedule, timezone, ...fields } = props;
    const definition = {
      ...fields,
      jobId,
      ...(typeof schedule === 'object'
        ? { schedule: schedule.expressionString, timezone: timezone ?? schedule.timeZone?.timezoneName }
        : { schedule, timezone }),
      target: { functionArn: handler.functionArn },
    };
    this.jobId = addResource(this, 'Job', definition, resources).ref;
  }
}

export class Notification extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { resources, job, state, handler }: NotificationProps & { resources: JobResources },
  ) {
    super(scope, id);
    const jobId = typeof job === 'string' ? job : job.jobId;
    const definition = { jobId, state, target: { functionArn: handler.functionArn } };
    addResource(this, 'Notification', definition, resources);
  }
}

/** CloudFormation turns all that it hands on into text: the definition goes as one text, so that a number stays one. */
function addResource(scope: Construct, kind: 'Job' | 'Notification', definition: object, resources: JobResources) {
  const resource = new CustomResource(scope, 'Resource', {
    resourceType: `Custom::Escapement${kind}`,
    serviceToken: resources.serviceToken,
    properties: { Definition: Stack.of(scope).toJsonString(definition) },
  });
  resource.node.addDependency(...resources.after);
  return resource;
}
