import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { acknowledge } from './acknowledge';

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

/** What SQS and DynamoDB do with a customer's key in the name of whoever calls them. */
const KEY_FOR_READING = ['kms:Decrypt'];
const KEY_FOR_SENDING = ['kms:Decrypt', 'kms:GenerateDataKey'];
const KEY_OF_A_TABLE = [
  ...KEY_FOR_SENDING,
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** The URL of this queue, and the right to call just these of its methods. */
export function allowQueue(queue: IQueue, ...methods: (keyof typeof QUEUE_ACTIONS)[]): Granted {
  return {
    value: queue.queueUrl,
    grantTo(grantee) {
      allow(
        grantee,
        methods.map((method) => QUEUE_ACTIONS[method]),
        [queue.queueArn],
      );
      allowKey(grantee, queue.encryptionMasterKey, methods.includes('send') ? KEY_FOR_SENDING : KEY_FOR_READING);
    },
  };
}

/**
 * Calling users' functions. Region and account stay open, since a job's function may live in another region or account,
 * whose own policy then has a say; the name does not. A qualified ARN is a resource of its own, hence each pattern twice.
 */
export function allowInvoke(grantee: IFunction, patterns: readonly string[]): void {
  const named = patterns.flatMap((pattern) => [pattern, `${pattern}:*`]);
  allow(
    grantee,
    ['lambda:InvokeFunction'],
    named.map((name) => `arn:${Aws.PARTITION}:lambda:*:*:function:${name}`),
  );
  acknowledge(
    grantee.role!,
    Object.fromEntries(
      named.map((name) => [
        `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:lambda:*:*:function:${name}]`,
        'Which functions may be called is what the setting allowedFunctions says: their names, so that a team deploys ' +
          'a job without a change of this role. Another account has to allow the call in the policy of its function.',
      ]),
    ),
  );
}

/** Tables and queues that have a key of the customer's are of no use to who may not use the key. */
export function allowTableKey(grantee: IGrantable, key: IKey | undefined): void {
  allowKey(grantee, key, KEY_OF_A_TABLE);
}

function allowKey(grantee: IGrantable, key: IKey | undefined, actions: string[]) {
  if (key) allow(grantee, actions, [key.keyArn]);
}

export function allow(grantee: IGrantable, actions: string[], resources: string[]): void {
  grantee.grantPrincipal.addToPrincipalPolicy(new PolicyStatement({ actions, resources }));
}
