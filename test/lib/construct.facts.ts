import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Escapement } from '../../lib';
import { resolved, resourcesOf } from '../support/synthesised';

function synthesised() {
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Shop');
  const functionOf = (id: string) =>
    new LambdaFunction(stack, id, {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('exports.handler = async () => {}'),
    });
  new Queue(stack, 'Theirs');
  const jobs = new Escapement(stack, 'Jobs', { allowedFunctions: ['job-*'] });
  const nightly = jobs.addJob('Nightly', {
    handler: functionOf('Report'),
    schedule: Schedule.cron({ minute: '0', hour: '3' }),
    timezone: 'Europe/London',
    retry: { maxAttempts: 5 },
  });
  jobs.addNotification('Told', { job: nightly, state: 'FAILED', handler: functionOf('Tell') });
  return Template.fromStack(stack);
}

/** What it adds to the stack of whoever uses it. */
export function describeConstruct(): void {
  let template: Template;
  beforeAll(() => {
    template = synthesised();
  });

  const definitionOf = (type: string) => {
    const [resource] = Object.values(resourcesOf(template, type));
    return JSON.parse(String(resolved(resource!.Properties['Definition']))) as Record<string, unknown>;
  };
  const functionId = (part: string) =>
    Object.keys(resourcesOf(template, 'AWS::Lambda::Function')).find((id) => id.startsWith(part))!;
  const variablesOf = (part: string) => {
    const { Environment } = resourcesOf(template, 'AWS::Lambda::Function')[functionId(part)]!.Properties;
    return resolved((Environment as { Variables: Record<string, unknown> }).Variables) as Record<string, string>;
  };
  /** What the role of a function may invoke. */
  const invokedBy = (part: string) =>
    Object.entries(resourcesOf(template, 'AWS::IAM::Policy'))
      .filter(([id]) => id.startsWith(part))
      .flatMap(
        ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: Record<string, unknown>[] }).Statement,
      )
      .filter(({ Action }) => Action === 'lambda:InvokeFunction')
      .flatMap(({ Resource }) => [resolved(Resource)].flat());

  test('a job says what the API takes, with its schedule as text and numbers as numbers', () => {
    expect(definitionOf('Custom::EscapementJob')).toEqual({
      jobId: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/) as string,
      schedule: 'cron(0 3 * * ? *)',
      timezone: 'Europe/London',
      retry: { maxAttempts: 5 },
      target: { functionArn: `\${${functionId('Report')}.Arn}` },
    });
  });

  test('a notification names the job that the stack has', () => {
    const [jobId] = Object.keys(resourcesOf(template, 'Custom::EscapementJob'));
    expect(definitionOf('Custom::EscapementNotification')).toMatchObject({ jobId: `\${${jobId}}`, state: 'FAILED' });
  });

  test('the functions that were added may be called whatever their names are, and by whom they have to', () => {
    expect(invokedBy('JobsRunningRunner')).toContain(`\${${functionId('Report')}.Arn}`);
    expect(invokedBy('JobsRunningRunner')).not.toContain(`\${${functionId('Tell')}.Arn}`);
    expect(invokedBy('JobsNotifyingNotifier')).toContain(`\${${functionId('Tell')}.Arn}`);
    const allowed = variablesOf('JobsApiFunction')['ALLOWED_FUNCTION_PATTERNS']!.split(',');
    expect(allowed).toEqual(['job-*', `\${${functionId('Report')}}`, `\${${functionId('Tell')}}`]);
  });

  test('jobs are made once all that carries them stands, through a function that may call the API and nothing else', () => {
    const [job] = Object.values(resourcesOf(template, 'Custom::EscapementJob'));
    const after = (job as unknown as { DependsOn: string[] }).DependsOn;
    const needed = ['JobsApiFunction', 'JobsRunningRunnerRoleDefaultPolicy', 'JobsNotifyingNotifierRoleDefaultPolicy'];
    for (const part of needed) expect(after.some((id) => id.startsWith(part))).toBe(true);
    expect(invokedBy('JobsJobResources')).toEqual([`\${${functionId('JobsApiFunction')}.Arn}`]);
  });

  test('what else is in the stack stays as it is', () => {
    const theirs = Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).find(([id]) => id.startsWith('Theirs'))!;
    expect(theirs[1].Properties ?? {}).toEqual({});
    expect(Object.keys(resourcesOf(template, 'AWS::SQS::QueuePolicy')).some((id) => id.startsWith('Theirs'))).toBe(
      false,
    );
  });
}
