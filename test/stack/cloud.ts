import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  ListFunctionsCommand,
  PutFunctionConcurrencyCommand,
  UpdateEventSourceMappingCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';

import { signed } from './sign';

export interface Answer {
  status: number;
  json: Json;
}

/** What the API and the queues answer, as far as the checks look into it. */
export interface Json {
  [member: string]: unknown;
  requestId: string;
  jobId: string;
  runId: string;
  ok: boolean;
  state: string;
  reason: string;
  attempt: number;
  nominalAt: string;
  dueAt: string;
  startedAt: string;
  alsoCovers?: number;
  result: unknown;
  error: { type: string; message: string };
  errors: { field: string; message: string }[];
  items: Json[];
  cursor?: string;
}

interface LogPage {
  events: { timestamp: number; message: string }[];
  nextToken?: string;
}

export interface Loop {
  /** epoch ms */
  startedAt: number;
  status: string;
  /** with success */
  ticks: number;
  failures: number;
  /** ticked with success after a tick had failed */
  hasRecovered: boolean;
}

interface Execution {
  executionArn: string;
  startDate: number;
  status: string;
}

/** What a user of the deployed system reaches from outside, and what an operator sees of it. */
export class Cloud {
  readonly #url: string;
  readonly #apiUrl: string;
  readonly #stackName: string;
  readonly #replies = new Map<string, Json>();
  readonly outputs: Readonly<Record<string, string>>;
  readonly sqs: SQSClient;
  readonly lambda: LambdaClient;

  /** `stackName` tells what is looked at from what other stacks have. */
  constructor(url: string, stackName: string, outputs: Readonly<Record<string, string>>) {
    this.#stackName = stackName;
    this.#url = url;
    this.outputs = outputs;
    // The emulator has the API under a path; its own answer names a host that not every resolver knows.
    const apiId = new URL(outputs['ApiUrl']!).hostname.split('.')[0]!;
    this.#apiUrl = `${url}/_aws/execute-api/${apiId}/$default`;
    const client = {
      endpoint: url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    };
    this.sqs = new SQSClient(client);
    this.lambda = new LambdaClient(client);
  }

  request(method: string, path: string, body?: unknown): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    return this.#send(method, path, text, signed(method, new URL(this.#apiUrl + path), text, new Date()));
  }

  requestUnsigned(method: string, path: string): Promise<Answer> {
    return this.#send(method, path, '', {});
  }

  async #send(method: string, path: string, body: string, headers: Record<string, string>): Promise<Answer> {
    const answer = await fetch(this.#apiUrl + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(30_000),
      ...(body === '' ? {} : { body }),
    });
    const text = await answer.text();
    return { status: answer.status, json: JSON.parse(text === '' ? '{}' : text) as Json };
  }

  /** Every run of a job, the earliest first. */
  async runsOf(jobId: string): Promise<Json[]> {
    const runs: Json[] = [];
    for (let cursor = ''; ;) {
      const { json } = await this.request('GET', `/jobs/${jobId}/runs?limit=100${cursor}`);
      runs.push(...(json.items ?? []));
      if (json.cursor === undefined) return runs.reverse();
      cursor = `&cursor=${encodeURIComponent(json.cursor)}`;
    }
  }

  /** `queue` is the name of an output without its `QueueUrl`. */
  async send(queue: string, body: unknown): Promise<void> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    await this.sqs.send(new SendMessageCommand({ QueueUrl: this.queueUrl(queue), MessageBody: text }));
  }

  /** The answer to this request, once it came; what answers others is kept for them. */
  async reply(queue: string, requestId: string): Promise<Json | undefined> {
    const QueueUrl = this.queueUrl(queue);
    const { Messages = [] } = await this.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    for (const { Body, ReceiptHandle } of Messages) {
      await this.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      const reply = JSON.parse(Body!) as Json;
      this.#replies.set(`${queue} ${reply.requestId}`, reply);
    }
    return this.#replies.get(`${queue} ${requestId}`);
  }

  queueUrl(queue: string): string {
    const path = new URL(this.outputs[`${queue}QueueUrl`] ?? queue).pathname;
    return this.#url + path;
  }

  async queueNames(): Promise<string[]> {
    const { QueueUrls = [] } = await this.sqs.send(new ListQueuesCommand({}));
    return QueueUrls.filter((queueUrl) => this.#isOurs(queueUrl.split('/').at(-1)!));
  }

  async attributesOf(queueUrl: string): Promise<Record<string, string>> {
    const { Attributes = {} } = await this.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.queueUrl(queueUrl), AttributeNames: ['All'] }),
    );
    return Attributes;
  }

  /** The URL of the only queue whose name has this part. */
  async queueNamed(part: string): Promise<string> {
    const found = (await this.queueNames()).filter((queueUrl) => queueUrl.split('/').at(-1)!.includes(part));
    if (found.length !== 1) throw new Error(`${found.length} queues have ${part} in their names`);
    return found[0]!;
  }

  async setVisibility(queue: string, seconds: number): Promise<void> {
    await this.#setAttribute(queue, 'VisibilityTimeout', String(seconds));
  }

  /** So many deliveries, and a message moves to the dead-letter queue. */
  async setMaxReceives(queue: string, maxReceiveCount: number): Promise<void> {
    const { RedrivePolicy } = await this.attributesOf(queue);
    const policy = { ...(JSON.parse(RedrivePolicy!) as object), maxReceiveCount };
    await this.#setAttribute(queue, 'RedrivePolicy', JSON.stringify(policy));
  }

  async #setAttribute(queue: string, name: string, value: string): Promise<void> {
    const QueueUrl = this.queueUrl(queue);
    await this.sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { [name]: value } }));
  }

  /** Lies in the queue, hidden or not. */
  async countIn(queue: string): Promise<number> {
    const attributes = await this.attributesOf(queue);
    return (
      Number(attributes['ApproximateNumberOfMessages']) + Number(attributes['ApproximateNumberOfMessagesNotVisible'])
    );
  }

  /** Takes what lies there once more, and lets it go at once: a delivery without success. */
  async receiveInVain(queue: string): Promise<number> {
    const { Messages = [] } = await this.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: this.queueUrl(queue), MaxNumberOfMessages: 10, VisibilityTimeout: 0 }),
    );
    return Messages.length;
  }

  /** Has the function that consumes this queue get its messages, or not. */
  async setMapping(queue: string, Enabled: boolean): Promise<void> {
    const { QueueArn } = await this.attributesOf(queue);
    const { EventSourceMappings = [] } = await this.lambda.send(
      new ListEventSourceMappingsCommand({ EventSourceArn: QueueArn }),
    );
    for (const { UUID } of EventSourceMappings) {
      await this.lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }));
    }
  }

  async functionName(part: string): Promise<string> {
    const { Functions = [] } = await this.lambda.send(new ListFunctionsCommand({}));
    const found = Functions.find(({ FunctionName = '' }) => this.#isOurs(FunctionName) && FunctionName.includes(part));
    if (!found) throw new Error(`there is no function with ${part} in its name`);
    return found.FunctionName!;
  }

  /** Changes a variable of a function, and answers what it was. */
  async setVariable(functionName: string, name: string, value: string): Promise<string> {
    const { Environment } = await this.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: functionName }));
    const Variables = { ...Environment?.Variables, [name]: value };
    await this.lambda.send(
      new UpdateFunctionConfigurationCommand({ FunctionName: functionName, Environment: { Variables } }),
    );
    return Environment?.Variables?.[name] ?? '';
  }

  /** Lambda refuses every invocation of the function, or no longer. */
  async setThrottled(FunctionName: string, isThrottled: boolean): Promise<void> {
    if (isThrottled) {
      await this.lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }));
    } else {
      await this.lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
    }
  }

  /** What the function answers. */
  async invoke(FunctionName: string, payload: object): Promise<unknown> {
    const { Payload } = await this.lambda.send(
      new InvokeCommand({ FunctionName, Payload: Buffer.from(JSON.stringify(payload)) }),
    );
    return JSON.parse(Buffer.from(Payload!).toString()) as unknown;
  }

  async variableOf(FunctionName: string, name: string): Promise<string | undefined> {
    const { Environment } = await this.lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
    return Environment?.Variables?.[name];
  }

  /** Every line in the log groups whose names have this part, with its instant in epoch ms. */
  async log(part: string): Promise<{ at: number; text: string }[]> {
    const { logGroups } = await this.#call<{ logGroups: { logGroupName: string }[] }>(
      'logs',
      'Logs_20140328.DescribeLogGroups',
      {},
    );
    const lines: { at: number; text: string }[] = [];
    for (const { logGroupName } of logGroups.filter((group) => group.logGroupName.includes(part))) {
      for (let nextToken: string | undefined; ;) {
        const page: LogPage = await this.#call<LogPage>('logs', 'Logs_20140328.FilterLogEvents', {
          logGroupName,
          nextToken,
        });
        lines.push(...page.events.map(({ timestamp, message }) => ({ at: timestamp, text: message })));
        nextToken = page.nextToken;
        if (nextToken === undefined) break;
      }
    }
    return lines;
  }

  /** The loops that were started so far. */
  async loops(): Promise<Loop[]> {
    const stateMachineArn = await this.loopArn();
    const { executions } = await this.#call<{ executions: Execution[] }>('states', 'AWSStepFunctions.ListExecutions', {
      stateMachineArn,
    });
    return Promise.all(
      executions.map(async ({ executionArn, startDate, status }) => {
        const { events } = await this.#call<{ events: { type: string }[] }>(
          'states',
          'AWSStepFunctions.GetExecutionHistory',
          {
            executionArn,
            maxResults: 1000,
          },
        );
        const ends = events.map(({ type }) => type).filter((type) => /^Task(Succeeded|Failed)$/.test(type));
        const ticks = ends.filter((type) => type === 'TaskSucceeded').length;
        return {
          startedAt: startDate * 1000,
          status,
          ticks,
          failures: ends.length - ticks,
          hasRecovered: ends.lastIndexOf('TaskSucceeded') > ends.indexOf('TaskFailed') && ends.includes('TaskFailed'),
        };
      }),
    );
  }

  async startLoop(): Promise<void> {
    await this.#call('states', 'AWSStepFunctions.StartExecution', {
      stateMachineArn: await this.loopArn(),
      input: '{}',
    });
  }

  #isOurs(name: string): boolean {
    return name.startsWith(`${this.#stackName}-`);
  }

  private async loopArn(): Promise<string> {
    const { stateMachines } = await this.#call<{ stateMachines: { stateMachineArn: string }[] }>(
      'states',
      'AWSStepFunctions.ListStateMachines',
      {},
    );
    return stateMachines.find(({ stateMachineArn }) => this.#isOurs(stateMachineArn.split(':').at(-1)!))!
      .stateMachineArn;
  }

  /** Services whose clients this project does not carry; the emulator checks no signature. */
  async #call<Result>(service: string, target: string, body: object): Promise<Result> {
    const answer = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': target,
        authorization: `AWS4-HMAC-SHA256 Credential=test/20270101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=none`,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const json = (await answer.json()) as Result;
    if (!answer.ok) throw new Error(`${target}: ${answer.status} ${JSON.stringify(json).slice(0, 300)}`);
    return json;
  }
}
