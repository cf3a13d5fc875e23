import { join } from 'node:path';
import { RemovalPolicy, type Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ApplicationLogLevel, Architecture, LoggingFormat, Runtime, SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { NodejsFunction, type BundlingOptions } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Contract } from '../lambdas/env';
import { ALIASES, BUNDLING, entryOf, ROOT } from './bundling';
import type { Granted } from './grants';

/** 0.29 of a processor, and the same share of the bill: most of an invocation is waiting for others. */
const MEMORY_MB = 512;

/** Messages of one batch: the most that SQS hands over without waiting for more. */
const BATCH_MESSAGES = 10;

const CDK_BUNDLING: BundlingOptions = {
  ...BUNDLING,
  // The SDK goes into the bundle: the runtime's own is larger, older, and changes under us.
  bundleAwsSDK: true,
  externalModules: [],
  esbuildArgs: Object.fromEntries(Object.entries(ALIASES).map(([name, path]) => [`--alias:${name}`, path])),
};

/** Exactly the contract's variables; what names a table or a queue comes with the permission to use it. */
export type Environment<C extends Contract> = {
  [Name in keyof C]: Name extends `${string}_TABLE_NAME` | `${string}_QUEUE_URL` ? Granted : string;
};

export interface HandlerFunctionProps<C extends Contract> {
  /** the folder of the handler below `lambdas/` */
  handler: string;
  description: string;
  contract: C;
  environment: Environment<C>;
  timeout: Duration;
  logRetentionDays: number;
}

/** One of our Lambda functions: bundled, with a role and a log group of its own. */
export class HandlerFunction<C extends Contract> extends Construct {
  readonly lambda: NodejsFunction;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps<C>) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Not the role that CDK would make: its managed policy may write into every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);

    const given: Record<string, Granted | string> = props.environment;
    const unknown = Object.keys(given).filter((name) => !(name in props.contract));
    if (unknown.length > 0) throw new Error(`${props.handler}: not in its contract: ${unknown.join(', ')}`);
    const environment: Record<string, string> = {};
    for (const [name, variable] of Object.entries(given)) {
      environment[name] = typeof variable === 'string' ? variable : variable.value;
      if (typeof variable !== 'string') variable.grantTo(role);
    }

    this.lambda = new NodejsFunction(this, 'Function', {
      entry: entryOf(props.handler),
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: MEMORY_MB,
      timeout: props.timeout,
      role,
      environment,
      // Keep-alive has long been the SDK's own default; the variable that CDK would add is in no contract.
      awsSdkConnectionReuse: false,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Without START, END and REPORT of each invocation, which metrics tell as well.
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      projectRoot: ROOT,
      depsLockFilePath: join(ROOT, 'package-lock.json'),
      bundling: CDK_BUNDLING,
    });
  }

  /** Carries this queue's messages. Each is answered by itself: the good ones of a batch never come again for a bad one. */
  consume(queue: IQueue): void {
    this.lambda.addEventSource(new SqsEventSource(queue, { batchSize: BATCH_MESSAGES, reportBatchItemFailures: true }));
  }
}
