import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { notifierEnv } from '../lambdas/env';
import { allowInvoke, allowQueue } from './grants';
import { HandlerFunction } from './handler-function';
import { QueueWithDeadLetters } from './queue-with-dead-letters';
import type { EscapementSettings } from './settings';
import type { Storage } from './storage';

/** A subscriber may take 60 s; with many of them not all get a connection at once. */
const TIMEOUT = Duration.seconds(180);

/** With waits of 5 s, 10 s, 20 s … up to 900 s between them, a subscriber has almost an hour to get well. */
const MAX_RECEIVES = 10;

export interface NotifyingProps {
  storage: Storage;
  settings: EscapementSettings;
}

/** The notify queue, and the notifier that calls whoever subscribed to a state of a job. */
export class Notifying extends Construct {
  readonly queue: IQueue;
  readonly notifier: IFunction;

  constructor(scope: Construct, id: string, { storage, settings }: NotifyingProps) {
    super(scope, id);
    const { queue } = new QueueWithDeadLetters(this, 'Notices', {
      consumerTimeout: TIMEOUT,
      maxReceives: MAX_RECEIVES,
    });
    const notifier = new HandlerFunction(this, 'Notifier', {
      handler: 'notifier',
      description: 'Escapement: tells subscribers of what became of runs',
      contract: notifierEnv,
      environment: {
        NOTIFICATIONS_TABLE_NAME: storage.allow('notifications', 'of'),
        CODE_TABLE_NAME: storage.allow('code', 'read'),
        NOTIFY_QUEUE_URL: allowQueue(queue, 'send', 'hide'),
      },
      timeout: TIMEOUT,
      logRetentionDays: settings.logRetentionDays,
    });
    this.notifier = notifier.lambda;
    allowInvoke(notifier.lambda, settings.allowedFunctions);
    notifier.consume(queue);
    this.queue = queue;
  }
}
