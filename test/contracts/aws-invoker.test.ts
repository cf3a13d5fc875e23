import { LambdaClient } from '@aws-sdk/client-lambda';
import { LambdaInvoker } from '../../src/adapters/aws/lambda-invoker';
import { systemClock } from '../../src/adapters/system';
import { startLambdaStandIn, type UserFunction } from '../support/lambda-stand-in';
import { describeInvokerContract } from './invoker.contract';

/** There is no Lambda here: a server on loopback answers Invoke as Lambda documents it. */
describeInvokerContract('the Lambda invoker', async (functions) => {
  const code = new Map(Object.entries(functions).map(([name, text]) => [name, evaluated(text)]));
  const lambda = await startLambdaStandIn(code);
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const clientFor = (region: string) => new LambdaClient({ region, endpoint: lambda.url, credentials, maxAttempts: 1 });
  return { invoker: new LambdaInvoker({ clock: systemClock, clientFor }), close: () => lambda.close() };
});

/** The function that a CommonJS text exports. */
function evaluated(text: string): UserFunction {
  const module: { exports?: UserFunction } = {};
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the contract gives its functions as text
  (new Function('module', text) as (of: typeof module) => void)(module);
  return module.exports!;
}
