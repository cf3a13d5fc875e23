import { Duration } from 'aws-cdk-lib';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  jobCreatorEnv,
  jobDeleterEnv,
  notificationCreatorEnv,
  notificationDeleterEnv,
  type Contract,
} from '../lambdas/env';
import { acknowledge } from './acknowledge';
import { allowQueue } from './grants';
import { HandlerFunction, type HandlerFunctionProps } from './handler-function';
import { QueueWithDeadLetters } from './queue-with-dead-letters';
import type { ActivationQueues } from './running';
import { settingsEnvironment, type EscapementSettings } from './settings';
import type { Storage } from './storage';

const TIMEOUT = Duration.seconds(30);

/** What our own storage refuses five times in a row, minutes apart, a person should look at. */
const MAX_RECEIVES = 5;

/** Whoever sent a command reads its answer soon, or not at all. */
const REPLIES_KEPT = Duration.days(4);

export interface CommandsProps {
  storage: Storage;
  activations: ActivationQueues;
  notifyQueue: IQueue;
  settings: EscapementSettings;
}

/** One way in: what callers send to `requests` is answered on `replies`. */
interface Pair {
  requests: IQueue;
  replies: IQueue;
}

/** The four pairs of queues through which jobs and notifications are created and deleted. */
export class Commands extends Construct {
  readonly jobCreate: Pair;
  readonly jobDelete: Pair;
  readonly notifyCreate: Pair;
  readonly notifyDelete: Pair;

  constructor(scope: Construct, id: string, props: CommandsProps) {
    super(scope, id);
    const { storage, settings } = props;
    const { logRetentionDays } = settings;
    this.jobCreate = this.pair('JobCreate', 'JobCreated');
    this.jobDelete = this.pair('JobDelete', 'JobDeleted');
    this.notifyCreate = this.pair('NotifyCreate', 'NotifyCreated');
    this.notifyDelete = this.pair('NotifyDelete', 'NotifyDeleted');

    this.answer(this.jobCreate, 'JobCreator', {
      handler: 'job-creator',
      description: 'Escapement: creates jobs asked for on job-create',
      contract: jobCreatorEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow('jobs', 'read', 'readRows', 'put', 'update'),
        RUNS_TABLE_NAME: storage.allow('runs', 'read', 'put'),
        NOTIFICATIONS_TABLE_NAME: storage.allow('notifications', 'of', 'remove'),
        CODE_TABLE_NAME: storage.allow('code', 'put'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        JOB_ACTIVATION_QUEUE_URL: allowQueue(props.activations.normal, 'send'),
        JOB_ACTIVATION_HIGH_QUEUE_URL: allowQueue(props.activations.high, 'send'),
        NOTIFY_QUEUE_URL: allowQueue(props.notifyQueue, 'send'),
        JOB_CREATED_QUEUE_URL: allowQueue(this.jobCreate.replies, 'send'),
      },
      logRetentionDays,
    });
    this.answer(this.jobDelete, 'JobDeleter', {
      handler: 'job-deleter',
      description: 'Escapement: deletes jobs asked for on job-delete',
      contract: jobDeleterEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow('jobs', 'readRows', 'prolong'),
        RUNS_TABLE_NAME: storage.allow('runs', 'read', 'put'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        GROUPS_TABLE_NAME: storage.allow('groups', 'read'),
        JOB_ACTIVATION_QUEUE_URL: allowQueue(props.activations.normal, 'send'),
        JOB_ACTIVATION_HIGH_QUEUE_URL: allowQueue(props.activations.high, 'send'),
        NOTIFY_QUEUE_URL: allowQueue(props.notifyQueue, 'send'),
        // The notification deleter gets the same request, and removes every notification of the job.
        NOTIFY_DELETE_QUEUE_URL: allowQueue(this.notifyDelete.requests, 'send'),
        JOB_DELETED_QUEUE_URL: allowQueue(this.jobDelete.replies, 'send'),
      },
      logRetentionDays,
    });
    this.answer(this.notifyCreate, 'NotificationCreator', {
      handler: 'notification-creator',
      description: 'Escapement: creates notifications asked for on notify-create',
      contract: notificationCreatorEnv,
      environment: {
        ...settingsEnvironment(settings),
        JOBS_TABLE_NAME: storage.allow('jobs', 'readRows', 'update'),
        NOTIFICATIONS_TABLE_NAME: storage.allow('notifications', 'put', 'of'),
        CODE_TABLE_NAME: storage.allow('code', 'put'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        NOTIFY_CREATED_QUEUE_URL: allowQueue(this.notifyCreate.replies, 'send'),
      },
      logRetentionDays,
    });
    this.answer(this.notifyDelete, 'NotificationDeleter', {
      handler: 'notification-deleter',
      description: 'Escapement: deletes notifications asked for on notify-delete',
      contract: notificationDeleterEnv,
      environment: {
        SHARD_COUNT: settingsEnvironment(settings).SHARD_COUNT,
        JOBS_TABLE_NAME: storage.allow('jobs', 'readRows', 'update'),
        NOTIFICATIONS_TABLE_NAME: storage.allow('notifications', 'of', 'remove'),
        CONTROL_TABLE_NAME: storage.allow('control', 'read', 'put'),
        NOTIFY_DELETED_QUEUE_URL: allowQueue(this.notifyDelete.replies, 'send'),
      },
      logRetentionDays,
    });
  }

  private pair(requests: string, replies: string): Pair {
    const { queue } = new QueueWithDeadLetters(this, requests, {
      consumerTimeout: TIMEOUT,
      maxReceives: MAX_RECEIVES,
    });
    // Nobody here consumes it, so that it has no dead-letter queue: callers read it.
    const answers = new Queue(this, replies, { retentionPeriod: REPLIES_KEPT });
    acknowledge(answers, {
      'AwsSolutions-SQS3': 'No function of the system receives from it, so that no message of it can be undeliverable.',
    });
    return { requests: queue, replies: answers };
  }

  private answer<C extends Contract>({ requests }: Pair, id: string, props: Omit<HandlerFunctionProps<C>, 'timeout'>) {
    new HandlerFunction<C>(this, id, { ...props, timeout: TIMEOUT }).consume(requests);
  }
}
