import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { runnerEnv } from '../lambdas/env';
import { allowInvoke, allowQueue } from './grants';
import { HandlerFunction } from './handler-function';
import { QueueWithDeadLetters } from './queue-with-dead-letters';
import { settingsEnvironment, type EscapementSettings } from './settings';
import type { Storage } from './storage';

/** The longest life of a Lambda function. An attempt may last 840 s; the rest is for what comes before and after it. */
const TIMEOUT = Duration.seconds(900);

/** Then a tick sends the activation again from the dead-letter queue, a few times, before its run is given up. */
const MAX_RECEIVES = 5;

export interface RunningProps {
  storage: Storage;
  notifyQueue: IQueue;
  settings: EscapementSettings;
}

/** What activations are sent to, by the priority of their runs, and where they lie that no runner took. */
export interface ActivationQueues {
  normal: IQueue;
  high: IQueue;
  deadLetters: IQueue;
}

/** The activation queues, and the runner that calls the users' functions for them. */
export class Running extends Construct {
  readonly queues: ActivationQueues;
  readonly runner: IFunction;

  constructor(scope: Construct, id: string, { storage, notifyQueue, settings }: RunningProps) {
    super(scope, id);
    const settingsOfBoth = { consumerTimeout: TIMEOUT, maxReceives: MAX_RECEIVES };
    const { queue: normal, deadLetters } = new QueueWithDeadLetters(this, 'Activations', settingsOfBoth);
    const { queue: high } = new QueueWithDeadLetters(this, 'HighActivations', { ...settingsOfBoth, deadLetters });
    this.queues = { normal, high, deadLetters };
    const runner = new HandlerFunction(this, 'Runner', {
      handler: 'runner',
      description: 'Escapement: claims runs and calls their code',
      contract: runnerEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow('jobs', 'read', 'readRows', 'put', 'prolong'),
        RUNS_TABLE_NAME: storage.allow('runs', 'read', 'put'),
        CODE_TABLE_NAME: storage.allow('code', 'read', 'put'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        GROUPS_TABLE_NAME: storage.allow('groups', 'read', 'put', 'readPart', 'readParts', 'putPart'),
        JOB_ACTIVATION_QUEUE_URL: allowQueue(normal, 'send', 'hide', 'remove'),
        JOB_ACTIVATION_HIGH_QUEUE_URL: allowQueue(high, 'send', 'hide', 'remove'),
        NOTIFY_QUEUE_URL: allowQueue(notifyQueue, 'send'),
      },
      timeout: TIMEOUT,
      logRetentionDays: settings.logRetentionDays,
    });
    this.runner = runner.lambda;
    allowInvoke(runner.lambda, settings.allowedFunctions);
    // Each by a mapping of its own, which scales by itself: what is urgent never lies behind a backlog of the rest.
    runner.consume(normal);
    runner.consume(high);
  }
}
