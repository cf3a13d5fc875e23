import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';

/** The example jobs and notifications as functions of an account of their own owner: Escapement calls them by their names. */
const stack = new Stack(new App(), 'EscapementExamples', { description: 'Functions for Escapement to call' });

for (const name of ['job-hello', 'job-flaky', 'job-fails', 'notify-print', 'team-of-others']) {
  new NodejsFunction(stack, name, {
    functionName: name,
    entry: join(__dirname, 'handlers', `${name}.ts`),
    handler: 'handler',
    runtime: Runtime.NODEJS_24_X,
    timeout: Duration.seconds(30),
    bundling: { target: 'node20', externalModules: [] },
  });
}
