import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Escapement, type EscapementProps } from './escapement';

export type EscapementStackProps = StackProps & EscapementProps;

/** A stack of Escapement alone, with the addresses of its ways in. */
export class EscapementStack extends Stack {
  constructor(scope: Construct, id: string, props: EscapementStackProps = {}) {
    super(scope, id, props);
    // "Default" is no part of the ids that CloudFormation knows.
    const { apiUrl, commands } = new Escapement(this, 'Default', props);
    this.output('ApiUrl', apiUrl);
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
