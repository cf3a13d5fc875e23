import { ArnFormat, Aws, PropertyInjectors, Stack, type IPropertyInjector } from 'aws-cdk-lib';
import { Table, TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { EscapementSettings } from './settings';

/**
 * Whatever is stored below `scope` from now on is encrypted: by keys that AWS keeps, which costs nothing, or by the customer's.
 * And no queue talks plain HTTP. It holds for what a later hand adds, too: no table, queue or log group has to ask for it.
 */
export function encryptEverything(scope: Construct, settings: EscapementSettings): void {
  const key = keyOf(scope, settings);
  PropertyInjectors.of(scope).add(
    always<QueueProps>(Queue.PROPERTY_INJECTION_ID, {
      enforceSSL: true,
      ...(key
        ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
        : { encryption: QueueEncryption.SQS_MANAGED }),
    }),
  );
  if (!key) return;
  PropertyInjectors.of(scope).add(
    always<Partial<TableProps>>(Table.PROPERTY_INJECTION_ID, {
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: key,
    }),
    always<LogGroupProps>(LogGroup.PROPERTY_INJECTION_ID, { encryptionKey: key }),
  );
}

function always<Props extends object>(constructUniqueId: string, props: Props): IPropertyInjector {
  return { constructUniqueId, inject: (given: object) => ({ ...given, ...props }) };
}

function keyOf(scope: Construct, { encryptionKey, removalPolicy }: EscapementSettings): IKey | undefined {
  if (encryptionKey === 'aws') return undefined;
  if (encryptionKey !== 'new') return Key.fromKeyArn(scope, 'Key', encryptionKey);
  const key = new Key(scope, 'Key', {
    description: 'Escapement: tables, queues and logs',
    enableKeyRotation: true,
    // Without the key whatever it encrypted is lost: it stays as long as the tables.
    removalPolicy,
  });
  // As https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html asks for it.
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
      actions: ['kms:Encrypt*', 'kms:Decrypt*', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:Describe*'],
      resources: ['*'],
      conditions: {
        ArnLike: {
          'kms:EncryptionContext:aws:logs:arn': Stack.of(scope).formatArn({
            service: 'logs',
            resource: 'log-group',
            resourceName: '*',
            arnFormat: ArnFormat.COLON_RESOURCE_NAME,
          }),
        },
      },
    }),
  );
  return key;
}
