import { Duration, RemovalPolicy, Stack, type CfnElement } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction, SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct, type IConstruct } from 'constructs';
import { schedulerEnv } from '../lambdas/env';
import { acknowledge } from './acknowledge';
import { allowQueue } from './grants';
import { HandlerFunction } from './handler-function';
import type { ActivationQueues } from './running';
import { settingsEnvironment, type EscapementSettings } from './settings';
import type { Storage } from './storage';
import { LONGEST_LOOP, tickLoop } from './tick-loop';

/** A tick is over in a second; the daily sweep reads everything there is, slowly. */
const TIMEOUT = Duration.seconds(900);

export interface SchedulingProps {
  storage: Storage;
  activations: ActivationQueues;
  notifyQueue: IQueue;
  settings: EscapementSettings;
}

/** The scheduler, the rule and state machine that make it tick, and the daily rule for its sweep. */
export class Scheduling extends Construct {
  constructor(scope: Construct, id: string, { storage, activations, notifyQueue, settings }: SchedulingProps) {
    super(scope, id);
    const scheduler = new HandlerFunction(this, 'Scheduler', {
      handler: 'scheduler',
      description: 'Escapement: sends what falls due to the activation queue',
      contract: schedulerEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow('jobs', 'due', 'readRows', 'update', 'prolong', 'list'),
        RUNS_TABLE_NAME: storage.allow('runs', 'due', 'read', 'put', 'scan'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        GROUPS_TABLE_NAME: storage.allow('groups', 'list', 'readParts'),
        JOB_ACTIVATION_QUEUE_URL: allowQueue(activations.normal, 'send'),
        JOB_ACTIVATION_HIGH_QUEUE_URL: allowQueue(activations.high, 'send'),
        JOB_ACTIVATION_DEAD_LETTER_QUEUE_URL: allowQueue(activations.deadLetters, 'receive', 'remove'),
        NOTIFY_QUEUE_URL: allowQueue(notifyQueue, 'send'),
      },
      timeout: TIMEOUT,
      logRetentionDays: settings.logRetentionDays,
    });

    const loop = new StateMachine(this, 'Loop', {
      comment: 'Ticks within one minute, until nothing more falls due in it',
      // A Standard one would cost $198 a month for the same.
      stateMachineType: StateMachineType.EXPRESS,
      definitionBody: tickLoop(this, scheduler.lambda),
      timeout: LONGEST_LOOP,
      // An Express state machine keeps no history: what went wrong is seen here or nowhere.
      logs: {
        destination: new LogGroup(this, 'LoopLogs', {
          retention: settings.logRetentionDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    acknowledge(loop, {
      'AwsSolutions-SF1':
        'What fails is logged. Each tick has a line of its own in the log of the scheduler, which tells the same as the ' +
        'events of the loop, of which there would be dozens a minute.',
      'AwsSolutions-SF2': 'The loop calls one function and nothing else: a trace would show what its log lines show.',
      'AwsSolutions-IAM5[Resource::*]':
        'The actions that set up the log of a state machine (logs:CreateLogDelivery and its siblings) know no resource.',
      [`AwsSolutions-IAM5[Resource::<${logicalIdOf(scheduler.lambda)}.Arn>:*]`]:
        'The versions of the one function that the loop calls.',
    });
    new Rule(this, 'EveryMinute', {
      description: 'Escapement: starts the loop of ticks of this minute',
      schedule: Schedule.rate(Duration.minutes(1)),
      // A start that is later than its successor is of no use.
      targets: [new SfnStateMachine(loop, { maxEventAge: Duration.minutes(1), retryAttempts: 2 })],
    });
    new Rule(this, 'EveryDay', {
      description: 'Escapement: starts the sweep for what has lost its message',
      schedule: Schedule.rate(Duration.days(1)),
      targets: [new LambdaFunction(scheduler.lambda, { event: RuleTargetInput.fromObject({ sweep: true }) })],
    });
  }
}

function logicalIdOf({ node }: IConstruct): string {
  return Stack.of(node.defaultChild!).getLogicalId(node.defaultChild as CfnElement);
}
