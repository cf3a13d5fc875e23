import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

/** The value of an environment variable, together with the permission without which it would be of no use. */
export interface Granted {
  value: string;
  grantTo(grantee: IGrantable): void;
}

/** The methods of a queue, as the adapter calls them, and the actions that each needs. */
const QUEUE_ACTIONS = {
  send: 'sqs:SendMessage',
  receive: 'sqs:ReceiveMessage',
  remove: 'sqs:DeleteMessage',
  hide: 'sqs:ChangeMessageVisibility',
} as const;

/** The URL of this queue, and the right to call just these of its methods. */
export function allowQueue(queue: IQueue, ...methods: (keyof typeof QUEUE_ACTIONS)[]): Granted {
  return {
    value: queue.queueUrl,
    grantTo: (grantee) =>
      allow(
        grantee,
        methods.map((method) => QUEUE_ACTIONS[method]),
        [queue.queueArn],
      ),
  };
}

/**
 * Calling users' functions. Region and account stay open, since a job's function may live in another region or account,
 * whose own policy then has a say; the name does not. A qualified ARN is a resource of its own, hence each pattern twice.
 */
export function allowInvoke(grantee: IGrantable, patterns: readonly string[]): void {
  const arns = patterns.map((pattern) => `arn:${Aws.PARTITION}:lambda:*:*:function:${pattern}`);
  allow(
    grantee,
    ['lambda:InvokeFunction'],
    arns.flatMap((arn) => [arn, `${arn}:*`]),
  );
}

export function allow(grantee: IGrantable, actions: string[], resources: string[]): void {
  grantee.grantPrincipal.addToPrincipalPolicy(new PolicyStatement({ actions, resources }));
}
