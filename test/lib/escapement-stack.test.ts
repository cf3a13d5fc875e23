/** One of the two test files that import aws-cdk-lib, which costs eight seconds; the other is `scenarios/aws.test.ts`. */
import { RemovalPolicy } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import * as contracts from '../../lambdas/env';
import { contextSettings } from '../../lib/context-settings';
import { completeSettings } from '../../lib/settings';
import { TABLES, type TableLayout } from '../../src/adapters/aws/table-layout';
import { loopDefinition, resolved, resourcesOf, synthesise, type Resource } from '../support/synthesised';
import { describeAudit } from './audit.facts';
import { describeConstruct } from './construct.facts';
import { describeEncryption } from './encryption.facts';
import { describeMonitoring } from './monitoring.facts';
import { describeRights, tableOf, type Rights } from './rights.facts';
import { describeTickLoop } from './tick-loop.facts';

const template = synthesise();

const FOURTEEN_DAYS = 14 * 86_400;

const queues = resourcesOf(template, 'AWS::SQS::Queue');
const functions = resourcesOf(template, 'AWS::Lambda::Function');
const mappings = resourcesOf(template, 'AWS::Lambda::EventSourceMapping');
const tables = resourcesOf(template, 'AWS::DynamoDB::Table');

/** The resource that a reference points to, by its logical id. */
function idIn(reference: unknown): string {
  return /^\$\{(\w+)/.exec(String(resolved(reference)))?.[1] ?? '';
}

/** Each mapping with the queue that it reads and the function that it feeds. */
const consumed = Object.values(mappings).map(({ Properties: mapping }) => ({
  mapping,
  queueId: idIn(mapping['EventSourceArn']),
  functionId: idIn(mapping['FunctionName']),
}));

function redrivePolicy(queue: Resource | undefined) {
  return queue?.Properties['RedrivePolicy'] as { deadLetterTargetArn: unknown; maxReceiveCount: number } | undefined;
}

describe('queues', () => {
  test('the activation queues, the notify queue and the four command queues are consumed, by a function each; both activation queues by the runner', () => {
    expect(new Set(consumed.map(({ functionId }) => functionId)).size).toBe(6);
    expect(consumed.map(({ queueId }) => queueId.replace(/Queue[0-9A-F]{8}$/, '')).sort()).toEqual([
      'CommandsJobCreate',
      'CommandsJobDelete',
      'CommandsNotifyCreate',
      'CommandsNotifyDelete',
      'NotifyingNotices',
      'RunningActivations',
      'RunningHighActivations',
    ]);
    const ofRunner = consumed.filter(({ functionId }) => functionId.startsWith('RunningRunner'));
    expect(ofRunner.map(({ queueId }) => queueId.replace(/Queue[0-9A-F]{8}$/, '')).sort()).toEqual([
      'RunningActivations',
      'RunningHighActivations',
    ]);
  });

  test.each(consumed)(
    '$queueId, which is consumed, has a dead-letter queue, and both keep messages 14 days',
    ({ queueId }) => {
      const redrive = redrivePolicy(queues[queueId]);
      const deadLetters = queues[idIn(redrive?.deadLetterTargetArn)];
      expect(redrive?.maxReceiveCount).toBeGreaterThanOrEqual(5);
      expect(queues[queueId]?.Properties['MessageRetentionPeriod']).toBe(FOURTEEN_DAYS);
      expect(deadLetters?.Properties['MessageRetentionPeriod']).toBe(FOURTEEN_DAYS);
    },
  );

  test('no two queues but those of activations share a dead-letter queue, and no dead-letter queue has one', () => {
    const targets = Object.values(queues).flatMap((queue) => idIn(redrivePolicy(queue)?.deadLetterTargetArn) || []);
    expect(targets).toHaveLength(7);
    const shared = targets.filter((id, index) => targets.indexOf(id) !== index);
    expect(shared).toEqual([expect.stringMatching(/^RunningActivationsDeadLetters/)]);
    expect(targets.filter((id) => redrivePolicy(queues[id]))).toEqual([]);
  });

  test('every queue is encrypted', () => {
    const open = Object.entries(queues).filter(([, queue]) => queue.Properties['SqsManagedSseEnabled'] !== true);
    expect(open).toEqual([]);
  });

  test('every mapping reports partial failures', () => {
    for (const { mapping } of consumed) expect(mapping['FunctionResponseTypes']).toEqual(['ReportBatchItemFailures']);
  });

  test('no mapping waits for a fuller batch, and none keeps five idle pollers by a MaximumConcurrency', () => {
    for (const { mapping } of consumed) {
      expect(mapping['MaximumBatchingWindowInSeconds'] ?? 0).toBe(0);
      expect(mapping['ScalingConfig']).toBeUndefined();
    }
  });

  test.each(consumed)('$queueId hides its messages as long as its function may run, or six times as long', (pair) => {
    const visibility = Number(queues[pair.queueId]?.Properties['VisibilityTimeout']);
    const timeout = Number(functions[pair.functionId]?.Properties['Timeout']);
    expect(visibility).toBeGreaterThanOrEqual(timeout <= 300 ? 6 * timeout : timeout);
  });

  test('the URLs of the API, of the four command queues and of their reply queues are outputs', () => {
    const outputs = template.toJSON()['Outputs'] as Record<string, { Value: unknown }>;
    const { ApiUrl, ...queueUrls } = outputs;
    expect(resolved(ApiUrl?.Value)).toMatch(/^\$\{\w+\.ApiEndpoint\}$/);
    expect(Object.keys(queueUrls)).toEqual([
      'JobCreateQueueUrl',
      'JobCreatedQueueUrl',
      'JobDeleteQueueUrl',
      'JobDeletedQueueUrl',
      'NotifyCreateQueueUrl',
      'NotifyCreatedQueueUrl',
      'NotifyDeleteQueueUrl',
      'NotifyDeletedQueueUrl',
    ]);
    for (const [name, { Value }] of Object.entries(queueUrls)) {
      const id = idIn(Value);
      expect(id).toMatch(new RegExp(`^Commands${name.replace('QueueUrl', '')}(Queue)?[0-9A-F]{8}$`));
      const isConsumed = consumed.some(({ queueId }) => queueId === id);
      expect({ name, isConsumed }).toEqual({ name, isConsumed: /(Create|Delete)QueueUrl$/.test(name) });
    }
  });
});

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
}

/** Every statement of every role, with its references replaced. */
const statements = Object.entries(resourcesOf(template, 'AWS::IAM::Policy')).flatMap(([policyId, { Properties }]) =>
  (resolved(Properties['PolicyDocument']) as { Statement: Statement[] }).Statement.map((statement) => ({
    policyId,
    roleIds: (Properties['Roles'] as unknown[]).map(idIn),
    actions: [statement.Action].flat(),
    resources: [statement.Resource].flat(),
  })),
);

/** What may stand beside a bare `*`, and why. */
const WITHOUT_A_RESOURCE: Record<string, string> = Object.fromEntries(
  [
    'logs:CreateLogDelivery',
    'logs:DeleteLogDelivery',
    'logs:DescribeLogGroups',
    'logs:DescribeResourcePolicies',
    'logs:GetLogDelivery',
    'logs:ListLogDeliveries',
    'logs:PutResourcePolicy',
    'logs:UpdateLogDelivery',
  ].map((action) => [action, 'the log of a state machine is set up by actions that know no resource']),
);

describe('roles', () => {
  test('no role has a bare * among its resources, but for actions that know none', () => {
    const bare = statements.filter(({ resources }) => resources.includes('*'));
    const unexplained = bare.flatMap(({ policyId, actions }) =>
      actions.filter((action) => !(action in WITHOUT_A_RESOURCE)).map((action) => `${policyId}: ${action}`),
    );
    expect(unexplained).toEqual([]);
    expect(new Set(bare.flatMap(({ actions }) => actions))).toEqual(new Set(Object.keys(WITHOUT_A_RESOURCE)));
  });

  test('no role has a * among its actions', () => {
    expect(statements.flatMap(({ actions }) => actions).filter((action) => action.includes('*'))).toEqual([]);
  });

  test('no role has a policy that somebody else keeps', () => {
    const roles = Object.values(resourcesOf(template, 'AWS::IAM::Role'));
    expect(roles.filter((role) => role.Properties['ManagedPolicyArns'] !== undefined)).toEqual([]);
  });

  test('each function has a role of its own', () => {
    const roleIds = Object.values(functions).map(({ Properties }) => idIn(Properties['Role']));
    expect(new Set(roleIds).size).toBe(8);
  });

  test('only the runner and the notifier may invoke users functions, and only those of the allow-list', () => {
    const invoking = statements.filter(
      ({ actions, resources }) =>
        actions.includes('lambda:InvokeFunction') && resources.some((resource) => resource.startsWith('arn:')),
    );
    expect(invoking.flatMap(({ roleIds }) => roleIds).sort()).toEqual([
      expect.stringMatching(/^NotifyingNotifierRole/),
      expect.stringMatching(/^RunningRunnerRole/),
    ]);
    for (const { resources } of invoking) {
      expect(resources).toEqual([
        'arn:${AWS::Partition}:lambda:*:*:function:job-*',
        'arn:${AWS::Partition}:lambda:*:*:function:job-*:*',
        'arn:${AWS::Partition}:lambda:*:*:function:notify-*',
        'arn:${AWS::Partition}:lambda:*:*:function:notify-*:*',
      ]);
    }
  });

  test('only the scheduler and the API may read a whole table', () => {
    const scanning = statements.filter(({ actions }) => actions.includes('dynamodb:Scan'));
    expect(new Set(scanning.flatMap(({ roleIds }) => roleIds.map((id) => id.replace(/[0-9A-F]{8}$/, ''))))).toEqual(
      new Set(['SchedulingSchedulerRole', 'ApiRole']),
    );
  });
});

/** The folder of each handler, the beginning of its function's logical id, and its contract. */
const HANDLERS: Record<string, { id: string; contract: contracts.Contract }> = {
  scheduler: { id: 'SchedulingScheduler', contract: contracts.schedulerEnv },
  runner: { id: 'RunningRunner', contract: contracts.runnerEnv },
  notifier: { id: 'NotifyingNotifier', contract: contracts.notifierEnv },
  api: { id: 'Api', contract: contracts.apiEnv },
  'job-creator': { id: 'CommandsJobCreator', contract: contracts.jobCreatorEnv },
  'job-deleter': { id: 'CommandsJobDeleter', contract: contracts.jobDeleterEnv },
  'notification-creator': { id: 'CommandsNotificationCreator', contract: contracts.notificationCreatorEnv },
  'notification-deleter': { id: 'CommandsNotificationDeleter', contract: contracts.notificationDeleterEnv },
};

function functionOf(handler: string): Record<string, unknown> {
  const { id } = HANDLERS[handler]!;
  return Object.entries(functions).find(([logicalId]) => logicalId.startsWith(`${id}Function`))![1].Properties;
}

/** What the mapping itself does with its queue, under the function's role. */
const MAPPING_ACTIONS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'];

/** What each function may do with the tables and queues of its environment, its own queue's mapping left out. */
function rightsByHandler(): Rights {
  const consumedIds = new Set(consumed.map(({ queueId }) => queueId));
  return Object.fromEntries(
    Object.keys(HANDLERS).map((handler) => {
      const { Environment, Role } = functionOf(handler);
      const { Variables } = Environment as { Variables: Record<string, unknown> };
      const variableOf = new Map(Object.entries(Variables).map(([name, value]) => [idIn(value), name]));
      const rights = statements
        .filter(({ roleIds }) => roleIds.includes(idIn(Role)))
        .flatMap(({ actions, resources }) =>
          resources.flatMap((resource) => {
            const [, id = 'none', index = ''] = /^\$\{(\w+)\.Arn\}(\/.*)?$/.exec(resource) ?? [];
            const variable = variableOf.get(id);
            return actions
              .filter((action) => !(consumedIds.has(id) && MAPPING_ACTIONS.includes(action)))
              .flatMap((action) => (variable === undefined ? [] : `${action} ${variable}${index}`));
          }),
        );
      return [handler, new Set(rights)];
    }),
  );
}

describe('rights', () => {
  describeRights(rightsByHandler);

  test('of every role are as reviewed', () => {
    expect(tableOf(statements)).toMatchSnapshot();
  });
});

describe('the audit', describeAudit);
describe('the construct in an app of somebody else', describeConstruct);
describe('encryption', describeEncryption);
describe('monitoring', describeMonitoring);

describe('functions', () => {
  test('there are eight', () => {
    expect(Object.keys(functions)).toHaveLength(8);
  });

  test.each(Object.keys(HANDLERS))('%s gets just the variables of its contract', (name) => {
    const { Variables } = functionOf(name)['Environment'] as { Variables: Record<string, unknown> };
    expect(Object.keys(Variables).sort()).toEqual(Object.keys(HANDLERS[name]!.contract).sort());
  });

  test.each(Object.keys(HANDLERS))('%s runs on Node.js 24 and arm64, with a log group that forgets', (name) => {
    const { Runtime, Architectures, LoggingConfig } = functionOf(name);
    expect({ Runtime, Architectures }).toEqual({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
    const logGroup = resourcesOf(template, 'AWS::Logs::LogGroup')[
      idIn((LoggingConfig as { LogGroup: unknown }).LogGroup)
    ];
    expect(logGroup?.Properties['RetentionInDays']).toBe(30);
  });
});

describe('tables', () => {
  const layouts: Record<string, TableLayout> = TABLES;
  const named = (name: string) =>
    Object.entries(tables).find(([id]) => id.toLowerCase().startsWith(`storage${name}`))?.[1];

  test('there are six', () => {
    expect(Object.keys(tables)).toHaveLength(6);
  });

  test.each(Object.keys(layouts))(
    '%s is laid out as the stores read it, pays per request and can be recovered',
    (name) => {
      const layout = layouts[name]!;
      const keys = ({ partitionKey, sortKey }: Pick<TableLayout, 'partitionKey' | 'sortKey'>) => [
        { AttributeName: partitionKey.name, KeyType: 'HASH' },
        ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' }] : []),
      ];
      const types = [layout, ...layout.indexes].flatMap(({ partitionKey, sortKey }) =>
        [partitionKey, sortKey].flatMap((key) => (key ? [[key.name, key.type === 'number' ? 'N' : 'S']] : [])),
      );
      const { Properties: table } = named(name)!;
      expect(table['KeySchema']).toEqual(keys(layout));
      const defined = table['AttributeDefinitions'] as { AttributeName: string; AttributeType: string }[];
      expect(Object.fromEntries(defined.map((each) => [each.AttributeName, each.AttributeType]))).toEqual(
        Object.fromEntries(types),
      );
      expect(table['GlobalSecondaryIndexes'] ?? []).toEqual(
        layout.indexes.map((index) => ({
          IndexName: index.name,
          KeySchema: keys(index),
          Projection: { ProjectionType: index.projection },
        })),
      );
      expect(table['TimeToLiveSpecification']).toEqual(
        layout.ttlAttribute === undefined ? undefined : { AttributeName: layout.ttlAttribute, Enabled: true },
      );
      expect(table['BillingMode']).toBe('PAY_PER_REQUEST');
      expect(table['PointInTimeRecoverySpecification']).toEqual({ PointInTimeRecoveryEnabled: true });
    },
  );

  test('jobs and runs have the due index, and runs that of the failed ones', () => {
    expect(named('jobs')?.Properties['GlobalSecondaryIndexes']).toMatchObject([{ IndexName: 'due' }]);
    expect(named('runs')?.Properties['GlobalSecondaryIndexes']).toMatchObject([
      { IndexName: 'due' },
      { IndexName: 'failed' },
    ]);
  });

  test('all are retained by default', () => {
    for (const table of Object.values(tables)) {
      expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  test('all go with the stack when whoever deploys it says so', () => {
    const temporary = resourcesOf(synthesise({ removalPolicy: RemovalPolicy.DESTROY }), 'AWS::DynamoDB::Table');
    expect(Object.values(temporary).map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(Array(6).fill('Delete'));
  });
});

describe('the loop of ticks', () => {
  const [machine] = Object.values(resourcesOf(template, 'AWS::StepFunctions::StateMachine'));
  const definition = loopDefinition(template);

  test('the state machine is EXPRESS, and waits on a timestamp path', () => {
    expect(machine!.Properties['StateMachineType']).toBe('EXPRESS');
    const paths = Object.values(definition.States).flatMap(({ TimestampPath }) => TimestampPath ?? []);
    expect(paths).toEqual(['$.wakeAt']);
  });

  test('it logs what failed, and no data', () => {
    expect(machine!.Properties['LoggingConfiguration']).toMatchObject({ Level: 'ERROR', IncludeExecutionData: false });
  });

  test('a rule starts it each minute, and starts that are late are dropped', () => {
    const rule = rulesBySchedule()['rate(1 minute)'];
    expect(idIn(rule?.[0]?.Arn)).toMatch(/^SchedulingLoop/);
    expect(rule?.[0]?.RetryPolicy).toMatchObject({ MaximumEventAgeInSeconds: 60 });
  });

  test('a rule invokes the scheduler for the sweep each day', () => {
    const rule = rulesBySchedule()['rate(1 day)'];
    expect(idIn(rule?.[0]?.Arn)).toMatch(/^SchedulingSchedulerFunction/);
    expect(rule?.[0]?.Input).toBe('{"sweep":true}');
  });

  describeTickLoop(() => definition);
});

function rulesBySchedule() {
  type Target = { Arn: unknown; Input?: string; RetryPolicy?: object };
  return Object.fromEntries(
    Object.values(resourcesOf(template, 'AWS::Events::Rule')).map(({ Properties }) => [
      Properties['ScheduleExpression'] as string,
      Properties['Targets'] as Target[],
    ]),
  );
}

describe('the HTTP API', () => {
  test('asks for IAM authorisation on all routes but health', () => {
    const routes = Object.values(resourcesOf(template, 'AWS::ApiGatewayV2::Route')).map(({ Properties }) => [
      Properties['RouteKey'],
      Properties['AuthorizationType'],
    ]);
    expect(Object.fromEntries(routes)).toEqual({ 'ANY /{proxy+}': 'AWS_IAM', 'GET /health': 'NONE' });
  });

  const stageOf = (from: Template) => Object.values(resourcesOf(from, 'AWS::ApiGatewayV2::Stage'))[0]!.Properties;

  test('takes so many requests a second and so many at once, as the settings say', () => {
    const limits = (rate: number, burst: number) => ({
      DefaultRouteSettings: { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst },
    });
    expect(stageOf(template)).toMatchObject(limits(100, 200));
    expect(stageOf(synthesise({ apiRequestsPerSecond: 5, apiBurst: 7 }))).toMatchObject(limits(5, 7));
  });

  test('logs who asked for what, and neither query nor body nor a header', () => {
    const { DestinationArn, Format } = stageOf(template)['AccessLogSettings'] as Record<string, string>;
    expect(resolved(DestinationArn)).toMatch(/^\$\{ApiAccessLogs\w+\.Arn\}$/);
    const variables = [...Format!.matchAll(/\$context\.([\w.]+)/g)].map(([, name]) => name);
    expect(variables).toEqual([
      'requestId',
      'requestTimeEpoch',
      'identity.sourceIp',
      'identity.userArn',
      'httpMethod',
      'path',
      'status',
      'responseLatency',
      'error.responseType',
    ]);
  });
});

describe('settings', () => {
  test('every fault of the settings is told in one message', () => {
    const wrong = {
      tickSeconds: 0,
      shards: 1.5,
      retentionDays: NaN,
      failedRetentionDays: 0,
      logRetentionDays: 8,
      allowedFunctions: ['a:b', '?'],
      encryptionKey: 'alias/mine',
      apiRequestsPerSecond: 0,
      apiBurst: -1,
      dashboard: 'maybe' as unknown as boolean,
      alarmTopicArn: 'on-call',
      runbookUrl: 'a b',
    };
    expect(() => completeSettings(wrong)).toThrow(
      /tickSeconds is 0.*\n.*shards is 1.5.*\n.*retentionDays is NaN.*\n.*failedRetentionDays is 0.*\n.*logRetentionDays is 8.*\n.*"a:b".*\n.*"\?"/,
    );
    expect(() => completeSettings(wrong)).toThrow(
      /encryptionKey is "alias\/mine".*\n.*apiRequestsPerSecond is 0.*\n.*apiBurst is -1.*\n.*dashboard is "maybe".*\n.*alarmTopicArn is "on-call".*\n.*set alarms\n.*runbookUrl is "a b"/,
    );
    expect(() => completeSettings({ allowedFunctions: [] })).toThrow('name at least one pattern');
  });

  test('they reach the functions and the roles', () => {
    const other = synthesise({
      tickSeconds: 5,
      shards: 8,
      retentionDays: 7,
      failedRetentionDays: 90,
      allowedFunctions: ['nightly-*', 'report'],
    });
    const all = Object.values(resourcesOf(other, 'AWS::Lambda::Function')).map(({ Properties }) => Properties);
    expect(all).toContainEqual(
      expect.objectContaining({
        Environment: {
          Variables: expect.objectContaining({
            TICK_SECONDS: '5',
            SHARD_COUNT: '8',
            RETENTION_SECONDS: '604800',
            FAILED_RETENTION_SECONDS: '7776000',
            ALLOWED_FUNCTION_PATTERNS: 'nightly-*,report',
          }) as unknown,
        },
      }),
    );
    const text = JSON.stringify(other.toJSON());
    expect(text).toContain(':lambda:*:*:function:report:*');
    expect(text).not.toContain(':function:job-*');
  });

  const context = (values: Record<string, unknown>) => contextSettings((name) => values[name]);

  test('context given on the command line is text, and is read as what it means', () => {
    expect(
      context({ stage: 'test', tickSeconds: '5', shards: 8, failedRetentionDays: '90', allowedFunctions: 'a-*,b' }),
    ).toEqual({
      stage: 'test',
      tickSeconds: 5,
      shards: 8,
      failedRetentionDays: 90,
      allowedFunctions: ['a-*', 'b'],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const topic = 'arn:aws:sns:eu-west-1:111122223333:on-call';
    const texts = { alarms: 'true', dashboard: 'false', alarmTopicArn: topic, encryptionKey: 'new', apiBurst: '7' };
    expect(context(texts)).toMatchObject({ ...texts, alarms: true, dashboard: false, apiBurst: 7 });
    expect(() => completeSettings(context({ metrics: 'yes' }))).toThrow('metrics is "yes"; it must be true or false');
  });

  test('only stage dev goes with its tables, unless context says otherwise', () => {
    expect(context({}).removalPolicy).toBe(RemovalPolicy.RETAIN);
    expect(context({ stage: 'dev' }).removalPolicy).toBe(RemovalPolicy.DESTROY);
    expect(context({ stage: 'dev', removalPolicy: 'retain' }).removalPolicy).toBe(RemovalPolicy.RETAIN);
    expect(context({ removalPolicy: 'destroy' }).removalPolicy).toBe(RemovalPolicy.DESTROY);
  });

  test('context that cannot be read is refused', () => {
    expect(() => context({ removalPolicy: 'keep' })).toThrow('it must be retain or destroy');
    expect(() => context({ stage: 'a b' })).toThrow('context stage is "a b"');
    expect(() => completeSettings(context({ shards: 'many' }))).toThrow('shards is NaN');
  });
});

test('the template is as reviewed', () => {
  const whole = JSON.stringify(template.toJSON(), (name, value: unknown) => (name === 'S3Key' ? 'code.zip' : value));
  expect(JSON.parse(whole)).toMatchSnapshot();
});
