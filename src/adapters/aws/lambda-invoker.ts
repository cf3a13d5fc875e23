import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { parseFunctionArn } from '../../domain/arn';
import type { Clock, InvokeOutcome, Invoker } from '../../ports';
import { failureOf, outcomeOfError } from './lambda-outcomes';

/** Above the longest attempt, 840 s, so that an attempt ends by its own time-out and never by the socket's, which is 120 s by default. */
const SOCKET_TIMEOUT_MS = 900_000;
const CONNECTION_TIMEOUT_MS = 5_000;

export type ClientFor = (region: string) => LambdaClient;

/** The SDK's own retries are off: each would be an attempt that nobody counted. */
export function createLambdaClient(region: string): LambdaClient {
  return new LambdaClient({
    region,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: SOCKET_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
}

/** Calls Lambda functions, each in the region of its ARN. */
export class LambdaInvoker implements Invoker {
  private readonly clock: Clock;
  private readonly clientFor: ClientFor;
  private readonly clients = new Map<string, LambdaClient>();

  constructor({ clock, clientFor = createLambdaClient }: { clock: Clock; clientFor?: ClientFor }) {
    this.clock = clock;
    this.clientFor = clientFor;
  }

  async invoke({ functionArn, event, timeoutMs }: Parameters<Invoker['invoke']>[0]): Promise<InvokeOutcome> {
    const arn = parseFunctionArn(functionArn);
    if (!arn) {
      return {
        kind: 'refused',
        reason: 'malformed-arn',
        message: `${functionArn} is not the ARN of a Lambda function`,
      };
    }
    const tooLong = new AbortController();
    const answered = new AbortController();
    void this.clock.waitUntil(this.clock.now() + timeoutMs, answered.signal).then(() => {
      if (!answered.signal.aborted) tooLong.abort();
    });
    try {
      const answer = await this.client(arn.region).send(
        new InvokeCommand({
          FunctionName: functionArn,
          InvocationType: 'RequestResponse',
          Payload: Buffer.from(event),
        }),
        { abortSignal: tooLong.signal },
      );
      const text = Buffer.from(answer.Payload ?? []).toString('utf8');
      if (answer.FunctionError !== undefined) return { kind: 'failed', error: failureOf(text, answer.FunctionError) };
      return { kind: 'returned', result: asJson(text) };
    } catch (error) {
      if (tooLong.signal.aborted) {
        const message = `no answer within ${timeoutMs} ms; the function may still be running`;
        return { kind: 'failed', error: { type: 'Timeout', message } };
      }
      return outcomeOfError(error);
    } finally {
      answered.abort();
    }
  }

  private client(region: string): LambdaClient {
    const client = this.clients.get(region) ?? this.clientFor(region);
    this.clients.set(region, client);
    return client;
  }
}

/** A custom runtime may answer with nothing, or with text that is not JSON. */
function asJson(text: string): string {
  if (text === '') return 'null';
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
