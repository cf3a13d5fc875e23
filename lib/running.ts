import { Duration } from 'aws-cdk-lib';
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

/** The activation queue, and the runner that calls the users' functions for it. */
export class Running extends Construct {
  readonly activations: QueueWithDeadLetters;

  constructor(scope: Construct, id: string, { storage, notifyQueue, settings }: RunningProps) {
    super(scope, id);
    this.activations = new QueueWithDeadLetters(this, 'Activations', {
      consumerTimeout: TIMEOUT,
      maxReceives: MAX_RECEIVES,
    });
    const runner = new HandlerFunction(this, 'Runner', {
      handler: 'runner',
      description: 'Escapement: claims runs and calls their code',
      contract: runnerEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow('jobs', 'read', 'fence', 'readRows', 'prolong'),
        RUNS_TABLE_NAME: storage.allow('runs', 'read', 'put'),
        CODE_TABLE_NAME: storage.allow('code', 'read'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        JOB_ACTIVATION_QUEUE_URL: allowQueue(this.activations.queue, 'send', 'hide', 'remove'),
        NOTIFY_QUEUE_URL: allowQueue(notifyQueue, 'send'),
      },
      timeout: TIMEOUT,
      logRetentionDays: settings.logRetentionDays,
    });
    allowInvoke(runner.lambda, settings.allowedFunctions);
    runner.consume(this.activations.queue);
  }
}
