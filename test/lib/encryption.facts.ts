import type { Template } from 'aws-cdk-lib/assertions';
import { resolved, resourcesOf, synthesise } from '../support/synthesised';

const KEY_ARN = 'arn:aws:kms:eu-west-1:111122223333:key/0e3f2c7a-0000-4000-8000-000000000000';

interface Statement {
  Effect: string;
  Action: string | string[];
  Principal: unknown;
  Resource: unknown;
  Condition: unknown;
}

function statementsOf(policy: Record<string, unknown>): Statement[] {
  return (resolved(policy['PolicyDocument']) as { Statement: Statement[] }).Statement;
}

/** The key of every table, queue and log group, `none` where there is none. */
function keysIn(template: Template): Set<unknown> {
  const keys = (type: string, keyOf: (properties: Record<string, unknown>) => unknown) =>
    Object.values(resourcesOf(template, type)).map(({ Properties }) => resolved(keyOf(Properties)) ?? 'none');
  return new Set([
    ...keys('AWS::SQS::Queue', (queue) => queue['KmsMasterKeyId']),
    ...keys('AWS::Logs::LogGroup', (logGroup) => logGroup['KmsKeyId']),
    ...keys(
      'AWS::DynamoDB::Table',
      (table) => (table['SSESpecification'] as Record<string, unknown>)?.['KMSMasterKeyId'],
    ),
  ]);
}

export function describeEncryption(): void {
  const template = synthesise();

  test('every queue refuses plain HTTP, whoever asks and whatever for', () => {
    const queues = Object.keys(resourcesOf(template, 'AWS::SQS::Queue'));
    const refusing = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy')).flatMap(({ Properties }) => {
      const [statement, ...rest] = statementsOf(Properties);
      expect(rest).toEqual([]);
      expect(statement).toMatchObject({
        Effect: 'Deny',
        Action: 'sqs:*',
        Principal: { AWS: '*' },
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      });
      return resolved(Properties['Queues']);
    });
    expect(refusing.sort()).toEqual(queues.map((id) => `\${${id}}`).sort());
  });

  test('every log group forgets', () => {
    const logGroups = Object.values(resourcesOf(template, 'AWS::Logs::LogGroup'));
    // of each function, of the loop, and of who asked the API for what
    expect(logGroups.length).toBe(Object.keys(resourcesOf(template, 'AWS::Lambda::Function')).length + 2);
    for (const { Properties } of logGroups) expect(Properties['RetentionInDays']).toBe(30);
  });

  test('by default the keys are those that AWS keeps', () => {
    expect(keysIn(template)).toEqual(new Set(['none']));
    expect(resourcesOf(template, 'AWS::KMS::Key')).toEqual({});
  });

  test('a key of the customer encrypts every table, queue and log group', () => {
    expect(keysIn(synthesise({ encryptionKey: KEY_ARN }))).toEqual(new Set([KEY_ARN]));
  });

  test('a key of the stack is turned over yearly, stays with the tables, and serves CloudWatch Logs', () => {
    const own = synthesise({ encryptionKey: 'new' });
    const [[id, key]] = Object.entries(resourcesOf(own, 'AWS::KMS::Key')) as unknown as [
      [string, { Properties: object }],
    ];
    expect(keysIn(own)).toEqual(new Set([`\${${id}.Arn}`]));
    expect(key).toMatchObject({ DeletionPolicy: 'Retain', Properties: { EnableKeyRotation: true } });
    expect(JSON.stringify(key.Properties)).toContain('kms:EncryptionContext:aws:logs:arn');
  });

  test('whoever has rights on a table or queue may use the key, and nobody may use another', () => {
    const own = synthesise({ encryptionKey: 'new' });
    const [id] = Object.keys(resourcesOf(own, 'AWS::KMS::Key'));
    for (const { Properties } of Object.values(resourcesOf(own, 'AWS::IAM::Policy'))) {
      const statements = statementsOf(Properties).map(({ Action, Resource }) => ({
        actions: [Action].flat(),
        resources: [Resource].flat(),
      }));
      const ofKey = statements.filter(({ actions }) => actions.some((action) => action.startsWith('kms:')));
      const needsKey = statements.some(({ actions }) => actions.some((action) => /^(dynamodb|sqs):/.test(action)));
      expect(ofKey.length > 0).toBe(needsKey);
      for (const { resources } of ofKey) expect(resources).toEqual([`\${${id}.Arn}`]);
    }
  });
}
