import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api';
import { Commands } from './commands';
import { encryptEverything } from './encryption';
import { Monitoring } from './monitoring';
import { Notifying } from './notifying';
import { Running } from './running';
import { Scheduling } from './scheduling';
import { completeSettings, type EscapementSettings } from './settings';
import { Storage } from './storage';

/** What is not given has its default, see `settings.ts`. */
export type EscapementStackProps = StackProps & Partial<EscapementSettings>;

/** The whole system, as the picture in docs/architecture.md shows it. */
export class EscapementStack extends Stack {
  constructor(scope: Construct, id: string, props: EscapementStackProps = {}) {
    super(scope, id, props);
    const settings = completeSettings(props);
    encryptEverything(this, settings);

    const storage = new Storage(this, 'Storage', settings);
    const notifying = new Notifying(this, 'Notifying', { storage, settings });
    const notifyQueue = notifying.queue;
    const running = new Running(this, 'Running', { storage, notifyQueue, settings });
    const activations = running.queues;
    new Scheduling(this, 'Scheduling', { storage, activations, notifyQueue, settings });
    const commands = new Commands(this, 'Commands', { storage, activations, notifyQueue, settings });
    const api = new Api(this, 'Api', { storage, activations, notifyQueue, commands, settings });
    new Monitoring(this, 'Monitoring', {
      watched: this,
      activationQueues: [activations.normal, activations.high],
      deadActivations: activations.deadLetters,
      settings,
    });

    this.output('ApiUrl', api.url);
    this.output('JobCreateQueueUrl', commands.jobCreate.requests.queueUrl);
    this.output('JobCreatedQueueUrl', commands.jobCreate.replies.queueUrl);
    this.output('JobDeleteQueueUrl', commands.jobDelete.requests.queueUrl);
    this.output('JobDeletedQueueUrl', commands.jobDelete.replies.queueUrl);
    this.output('NotifyCreateQueueUrl', commands.notifyCreate.requests.queueUrl);
    this.output('NotifyCreatedQueueUrl', commands.notifyCreate.replies.queueUrl);
    this.output('NotifyDeleteQueueUrl', commands.notifyDelete.requests.queueUrl);
    this.output('NotifyDeletedQueueUrl', commands.notifyDelete.replies.queueUrl);
  }

  private output(name: string, value: string) {
    new CfnOutput(this, name, { value });
  }
}
