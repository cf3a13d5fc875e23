import { join } from 'node:path';
import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Escapement, Schedule } from '../../lib';

/** Escapement inside a stack of somebody's own, with its jobs: they come and go with the stack. */
const stack = new Stack(new App(), 'EscapementInAnApp', { description: 'An app that brings its jobs along' });

// Names that CloudFormation makes up: what is added below may be called whatever its name is.
const functionOf = (name: string) =>
  new NodejsFunction(stack, name, {
    entry: join(__dirname, 'handlers', `${name}.ts`),
    handler: 'handler',
    runtime: Runtime.NODEJS_24_X,
    timeout: Duration.seconds(30),
    bundling: { target: 'node20', externalModules: [] },
  });

const jobs = new Escapement(stack, 'Jobs', { removalPolicy: RemovalPolicy.DESTROY });
const often = jobs.addJob('Often', {
  jobId: 'often',
  handler: functionOf('job-hello'),
  schedule: Schedule.rate(Duration.minutes(1)),
  payload: { from: 'the stack' },
  retry: { maxAttempts: 5, backoff: { kind: 'fixed', seconds: 10 } },
});
jobs.addNotification('Told', { job: often, state: 'DONE', handler: functionOf('notify-print') });
jobs.addJob('Nightly', {
  handler: functionOf('job-flaky'),
  schedule: Schedule.cron({ minute: '0', hour: '3' }),
  timezone: 'Europe/London',
});

new CfnOutput(stack, 'ApiUrl', { value: jobs.apiUrl });
