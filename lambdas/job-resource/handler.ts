import { setTimeout as wait } from 'node:timers/promises';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { LambdaInvoker } from '../../src/adapters/aws/lambda-invoker';
import { systemClock } from '../../src/adapters/system';
import { jobResourceEnv, readEnv } from '../env';
import { keepAsStackHasIt } from './keep';

const env = readEnv(jobResourceEnv, process.env);
// Not by way of lambdas/ports.ts: its stores and queues would come along.
const invoker = new LambdaInvoker({ clock: systemClock });

/** Does what CloudFormation asks, and tells it what came of that, also what was wrong: else the deployment waits for an hour. */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const outcome = await keepAsStackHasIt(event, { invoker, apiFunctionArn: env.API_FUNCTION_ARN, wait });
  const { StackId, RequestId, LogicalResourceId } = event;
  const answer = await fetch(event.ResponseURL, {
    method: 'PUT',
    // The address was signed for a request without a type.
    headers: { 'content-type': '' },
    body: JSON.stringify({ StackId, RequestId, LogicalResourceId, ...outcome }),
  });
  if (!answer.ok) throw new Error(`CloudFormation did not take the answer: ${answer.status}`);
}
