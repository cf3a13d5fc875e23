import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  Choice,
  Condition,
  DefinitionBody,
  JsonPath,
  Pass,
  Result,
  Succeed,
  TaskInput,
  Timeout,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';

/** A loop ends itself after 130 s; one whose ticks fail all the time is ended here, and shows as timed out. */
export const LONGEST_LOOP = Duration.seconds(150);

/** So long the loop waits for one tick. The next loop would find the same, so that more patience gains nothing. */
const LONGEST_TICK = Duration.seconds(60);

const AFTER_FAILURE = Duration.seconds(2);

/** Lambda's own hiccups, worth a try at once. */
const LAMBDA_ERRORS = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.TooManyRequestsException',
];

/**
 * tick → done? → wait until the instant that the tick named → tick …, and a tick that failed is waited for and done again:
 * no failure ends the minute. What the scheduler answers is the state of the loop, `{ isFirst: false, done, wakeAt }`;
 * a failure leaves it as it was.
 */
export function tickLoop(scope: Construct, scheduler: IFunction): DefinitionBody {
  const begin = new Pass(scope, 'Begin', { result: Result.fromObject({ isFirst: true }) });
  const tick = new LambdaInvoke(scope, 'Tick', {
    lambdaFunction: scheduler,
    payload: TaskInput.fromObject({
      startedAt: JsonPath.stringAt('$$.Execution.StartTime'),
      isFirst: JsonPath.objectAt('$.isFirst'),
    }),
    outputPath: '$.Payload',
    taskTimeout: Timeout.duration(LONGEST_TICK),
    retryOnServiceExceptions: false,
  });
  const waitForNext = new Wait(scope, 'Wait for the next tick', { time: WaitTime.timestampPath('$.wakeAt') });
  const waitAfterFailure = new Wait(scope, 'Wait after a failure', { time: WaitTime.duration(AFTER_FAILURE) });

  tick.addRetry({ errors: LAMBDA_ERRORS, interval: Duration.seconds(1), maxAttempts: 2, backoffRate: 2 });
  tick.addCatch(waitAfterFailure.next(tick), { errors: ['States.ALL'], resultPath: JsonPath.DISCARD });
  return DefinitionBody.fromChainable(
    begin
      .next(tick)
      .next(
        new Choice(scope, 'Is the loop over?')
          .when(Condition.booleanEquals('$.done', true), new Succeed(scope, 'Over'))
          .otherwise(waitForNext.next(tick)),
      ),
  );
}
