import { App, Duration, Stack, TimeZone } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as events from 'aws-cdk-lib/aws-events';
import {
  Alias,
  Code,
  Function as LambdaFunction,
  Runtime,
  type IFunction,
  type IVersion,
} from 'aws-cdk-lib/aws-lambda';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Escapement, Schedule } from '../../lib';
import { parseSchedule } from '../../src/domain/schedule';
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
  const jobs = new Escapement(stack, 'Jobs', { allowedFunctions: ['job-*'], logRetentionDays: 7 });
  const nightly = jobs.addJob('Nightly', {
    handler: functionOf('Report'),
    schedule: Schedule.cron({ minute: '0', hour: '3' }),
    timezone: 'Europe/London',
    retry: { maxAttempts: 5 },
  });
  // The CDK's own types do not fit each other where optional members are exact.
  const version = functionOf('Versioned').currentVersion as IVersion;
  const live = new Alias(stack, 'Live', { aliasName: 'live', version });
  jobs.addJob('OfAlias', {
    handler: live as IFunction,
    schedule: ScheduleExpression.cron({ minute: '0', timeZone: TimeZone.ASIA_TOKYO }),
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

  const definitionOf = (type: string, name: string) => {
    const resource = Object.entries(resourcesOf(template, type)).find(([id]) => id.startsWith(`Jobs${name}`))?.[1];
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
    expect(definitionOf('Custom::EscapementJob', 'Nightly')).toEqual({
      jobId: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/) as string,
      schedule: 'cron(0 3 * * ? *)',
      timezone: 'Europe/London',
      retry: { maxAttempts: 5 },
      target: { functionArn: `\${${functionId('Report')}.Arn}` },
    });
  });

  test('a notification names the job that the stack has', () => {
    const [jobId] = Object.keys(resourcesOf(template, 'Custom::EscapementJob'));
    expect(definitionOf('Custom::EscapementNotification', 'Told')).toMatchObject({
      jobId: `\${${jobId}}`,
      state: 'FAILED',
    });
  });

  test('the functions that were added may be called whatever their names are, and by whom they have to', () => {
    expect(invokedBy('JobsRunningRunner')).toContain(`\${${functionId('Report')}.Arn}`);
    expect(invokedBy('JobsRunningRunner')).not.toContain(`\${${functionId('Tell')}.Arn}`);
    expect(invokedBy('JobsNotifyingNotifier')).toContain(`\${${functionId('Tell')}.Arn}`);
    const allowed = variablesOf('JobsApiFunction')['ALLOWED_FUNCTION_PATTERNS']!.split(',');
    expect(allowed).toEqual(['job-*', ...['Report', 'Versioned', 'Tell'].map((name) => `\${${functionId(name)}}`)]);
  });

  test('of an alias the name of its function is allowed, and the alias alone may be called', () => {
    const [alias] = Object.keys(resourcesOf(template, 'AWS::Lambda::Alias'));
    expect(definitionOf('Custom::EscapementJob', 'OfAlias')).toMatchObject({
      schedule: 'cron(0 * * * ? *)',
      timezone: 'Asia/Tokyo',
      target: { functionArn: `\${${alias}}` },
    });
    expect(invokedBy('JobsRunningRunner')).toContain(`\${${alias}}`);
    expect(invokedBy('JobsRunningRunner')).not.toContain(`\${${functionId('Versioned')}.Arn}`);
  });

  test.each([
    [Schedule.rate(Duration.seconds(90)), 'rate(90 seconds)'],
    [Schedule.rate(Duration.minutes(1)), 'rate(1 minute)'],
    [Schedule.rate(Duration.hours(48)), 'rate(2 days)'],
    [Schedule.cron({ minute: '0', hour: '3' }), 'cron(0 3 * * ? *)'],
    [Schedule.cron({ second: '*/10', minute: '*' }), 'cron(*/10 * * * * ? *)'],
    [Schedule.cron({ minute: '0', hour: '9', weekDay: 'MON-FRI' }), 'cron(0 9 ? * MON-FRI *)'],
    [Schedule.cron({ minute: '0', hour: '9', day: 'L', month: '6', year: '2027' }), 'cron(0 9 L 6 ? 2027)'],
    [Schedule.at('2027-06-01T09:00:00'), 'at(2027-06-01T09:00:00)'],
    [Schedule.expression('0 3 * * *'), '0 3 * * *'],
  ])('a schedule is an expression that the API takes: %#', ({ expressionString }, expected) => {
    expect(expressionString).toBe(expected);
    expect(() => parseSchedule(expressionString)).not.toThrow();
  });

  test('fields that stand in both say the same as those of the CDK', () => {
    const fields = { minute: '5', hour: '3', month: 'JAN', weekDay: 'SUN' };
    expect(Schedule.cron(fields).expressionString).toBe(events.Schedule.cron(fields).expressionString);
  });

  test('a schedule that cannot be is refused when it is written', () => {
    expect(() => Schedule.rate(Duration.millis(1_500))).toThrow(/seconds/);
    expect(() => Schedule.rate(Duration.seconds(0))).toThrow('every 0 seconds');
    expect(() => Schedule.cron({ minute: '0', day: '1', weekDay: 'MON' })).toThrow('leave day or weekDay out');
  });

  test('jobs are made once all that carries them stands, through a function that may call the API and nothing else', () => {
    const [job] = Object.values(resourcesOf(template, 'Custom::EscapementJob'));
    const after = (job as unknown as { DependsOn: string[] }).DependsOn;
    const needed = ['JobsApiFunction', 'JobsRunningRunnerRoleDefaultPolicy', 'JobsNotifyingNotifierRoleDefaultPolicy'];
    for (const part of needed) expect(after.some((id) => id.startsWith(part))).toBe(true);
    expect(invokedBy('JobsJobResources')).toEqual([`\${${functionId('JobsApiFunction')}.Arn}`]);
  });

  test('whatever it makes keeps its logs as long as the settings say', () => {
    const groups = Object.values(resourcesOf(template, 'AWS::Logs::LogGroup'));
    expect(new Set(groups.map(({ Properties }) => Properties['RetentionInDays']))).toEqual(new Set([7]));
  });

  test('what else is in the stack stays as it is', () => {
    const theirs = Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).find(([id]) => id.startsWith('Theirs'))!;
    expect(theirs[1].Properties ?? {}).toEqual({});
    expect(Object.keys(resourcesOf(template, 'AWS::SQS::QueuePolicy')).some((id) => id.startsWith('Theirs'))).toBe(
      false,
    );
  });
}
