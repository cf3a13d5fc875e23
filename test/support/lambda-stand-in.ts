import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A user's function: what it throws is answered as Lambda does it, with status 200 and X-Amz-Function-Error. */
export type UserFunction = (event: unknown, context: UserContext) => unknown;

export interface UserContext {
  functionName: string;
  invokedFunctionArn: string;
  awsRequestId: string;
  getRemainingTimeInMillis: () => number;
}

/** What a function has by default. */
const TIMEOUT_MS = 3_000;

/** Lambda's Invoke on loopback, for functions by their name. */
export async function startLambdaStandIn(functions: ReadonlyMap<string, UserFunction>) {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const arn = /\/functions\/([^/]+)\/invocations$/.exec(decodeURIComponent(request.url ?? ''))?.[1];
      const code = functions.get(arn?.split(':')[6] ?? '');
      const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      if (!code) {
        answer(404, { Message: `no function ${arn}` }, { 'x-amzn-errortype': 'ResourceNotFoundException' });
        return;
      }
      try {
        const event: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        answer(200, (await code(event, contextOf(arn ?? ''))) ?? null);
      } catch (error) {
        answer(200, failureOf(error), { 'x-amz-function-error': 'Unhandled' });
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function contextOf(arn: string): UserContext {
  const until = performance.now() + TIMEOUT_MS;
  return {
    functionName: arn.split(':')[6] ?? '',
    invokedFunctionArn: arn,
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => until - performance.now(),
  };
}

/** What Lambda's Node.js runtime answers for what was thrown: of what is no error, its type and its text. */
function failureOf(thrown: unknown) {
  if (thrown instanceof Error) return { errorType: thrown.name, errorMessage: thrown.message };
  return { errorType: typeof thrown, errorMessage: String(thrown) };
}
