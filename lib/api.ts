import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { apiEnv } from '../lambdas/env';
import { acknowledge } from './acknowledge';
import type { Commands } from './commands';
import { allowQueue } from './grants';
import { HandlerFunction } from './handler-function';
import type { ActivationQueues } from './running';
import { settingsEnvironment, type EscapementSettings } from './settings';
import type { Storage } from './storage';

/** An HTTP API gives up after 30 s. */
const TIMEOUT = Duration.seconds(29);

/** Who asked for what, and what came of it. The path has ids; query and body, where users' data could be, are left out. */
const ACCESS = {
  requestId: '$context.requestId',
  requestedAt: '$context.requestTimeEpoch',
  ip: '$context.identity.sourceIp',
  caller: '$context.identity.userArn',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  error: '$context.error.responseType',
};

export interface ApiProps {
  storage: Storage;
  activations: ActivationQueues;
  notifyQueue: IQueue;
  commands: Commands;
  settings: EscapementSettings;
}

/** The HTTP API: callers sign their requests (IAM); only the health route is open. */
export class Api extends Construct {
  /** without a slash at its end */
  readonly url: string;
  readonly lambda: IFunction;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { storage, commands, settings } = props;
    this.lambda = new HandlerFunction(this, 'Api', {
      handler: 'api',
      description: 'Escapement: answers the HTTP API',
      contract: apiEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow(
          'jobs',
          'read',
          'readRows',
          'put',
          'putAll',
          'keepDefinition',
          'prolong',
          'list',
        ),
        RUNS_TABLE_NAME: storage.allow('runs', 'read', 'put', 'list', 'failed'),
        NOTIFICATIONS_TABLE_NAME: storage.allow('notifications', 'put', 'remove', 'of'),
        CODE_TABLE_NAME: storage.allow('code', 'put'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        GROUPS_TABLE_NAME: storage.allow('groups', 'read', 'put', 'readPart', 'readParts', 'putPart', 'list'),
        JOB_ACTIVATION_QUEUE_URL: allowQueue(props.activations.normal, 'send'),
        JOB_ACTIVATION_HIGH_QUEUE_URL: allowQueue(props.activations.high, 'send'),
        NOTIFY_QUEUE_URL: allowQueue(props.notifyQueue, 'send'),
        JOB_CREATE_QUEUE_URL: allowQueue(commands.jobCreate.requests, 'send'),
        NOTIFY_DELETE_QUEUE_URL: allowQueue(commands.notifyDelete.requests, 'send'),
      },
      timeout: TIMEOUT,
      logRetentionDays: settings.logRetentionDays,
    }).lambda;

    const api = new HttpApi(this, 'HttpApi', {
      description: 'Escapement: jobs, runs and notifications',
      createDefaultStage: false,
    });
    new HttpStage(api, 'DefaultStage', {
      httpApi: api,
      autoDeploy: true,
      throttle: { rateLimit: settings.apiRequestsPerSecond, burstLimit: settings.apiBurst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new LogGroup(this, 'AccessLogs', {
            retention: settings.logRetentionDays,
            removalPolicy: RemovalPolicy.DESTROY,
          }),
        ),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS)),
      },
    });
    const integration = new HttpLambdaIntegration('Integration', this.lambda);
    api.addRoutes({ path: '/{proxy+}', methods: [HttpMethod.ANY], integration, authorizer: new HttpIamAuthorizer() });
    const health = api.addRoutes({
      path: '/health',
      methods: [HttpMethod.GET],
      integration,
      authorizer: new HttpNoneAuthorizer(),
    });
    for (const route of health) {
      acknowledge(route, {
        'AwsSolutions-APIG4': 'A monitor without credentials may ask whether the API answers; it learns nothing else.',
      });
    }
    this.url = api.apiEndpoint;
  }
}
