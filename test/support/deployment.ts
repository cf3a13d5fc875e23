import dns from 'node:dns';
import { createRequire } from 'node:module';
import type * as Dynamo from '@aws-sdk/client-dynamodb';
import { DynamoCodeStore } from '../../src/adapters/aws/dynamo-code-store';
import { DynamoGroupStore } from '../../src/adapters/aws/dynamo-group-store';
import { DynamoJobStore } from '../../src/adapters/aws/dynamo-job-store';
import { DynamoNotificationStore } from '../../src/adapters/aws/dynamo-notification-store';
import { DynamoRunStore } from '../../src/adapters/aws/dynamo-run-store';
import { SqsQueue } from '../../src/adapters/aws/sqs-queue';
import { TABLES, type TableName } from '../../src/adapters/aws/table-layout';
import { systemClock, systemRandom } from '../../src/adapters/system';
import { createEmulatedQueue, createEmulatedTable, emulatedDynamo, emulatedSqs } from './emulated-aws';
import { startLambdaStandIn, type UserFunction } from './lambda-stand-in';

interface QueueSettings {
  visibilityMs: number;
  /** deliveries before a message moves to the dead-letter queue; a queue that callers read has none */
  maxReceives?: number;
  /** the queue before it whose dead-letter queue is also this one's */
  deadLettersOf?: string;
}

const COMMANDS = { visibilityMs: 180_000, maxReceives: 5 };
const REPLIES = { visibilityMs: 30_000 };

/** As the stack makes them: `lib/running.ts`, `lib/notifying.ts`, `lib/commands.ts`. */
const QUEUES = {
  JOB_ACTIVATION: { visibilityMs: 900_000, maxReceives: 5 },
  JOB_ACTIVATION_HIGH: { visibilityMs: 900_000, maxReceives: 5, deadLettersOf: 'JOB_ACTIVATION' },
  NOTIFY: { visibilityMs: 1_080_000, maxReceives: 10 },
  JOB_CREATE: COMMANDS,
  JOB_CREATED: REPLIES,
  JOB_DELETE: COMMANDS,
  JOB_DELETED: REPLIES,
  NOTIFY_CREATE: COMMANDS,
  NOTIFY_CREATED: REPLIES,
  NOTIFY_DELETE: COMMANDS,
  NOTIFY_DELETED: REPLIES,
} satisfies Record<string, QueueSettings>;
/** A consumed queue has its dead-letter queue beside it, but where it shares another's. */
export type QueueName = keyof typeof QUEUES | `${Exclude<keyof typeof QUEUES, 'JOB_ACTIVATION_HIGH'>}_DEAD_LETTER`;

export const SHARDS = 2;
const pacing = { clock: systemClock, random: systemRandom };

/**
 * The emulator names its queues by `sqs.<region>.localhost`, and a client that was given no endpoint asks that host. All names
 * below localhost mean this machine (RFC 6761), but not every resolver knows. Answers how to make an end of it.
 */
function resolveLocalhostNames(): () => void {
  const { lookup } = dns;
  const resolve = (name: string, ...rest: unknown[]) =>
    (lookup as (...given: unknown[]) => void)(name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest);
  dns.lookup = Object.assign(resolve, lookup);
  return () => {
    dns.lookup = lookup;
  };
}

/** A call to AWS as a policy would name it; `on` is the variable that names the table or queue, or a function's ARN. */
export interface AwsCall {
  handler: string;
  action: string;
  on: string;
  input: object;
}

const ACTIONS: Record<string, string> = {
  GetCommand: 'dynamodb:GetItem',
  BatchGetCommand: 'dynamodb:BatchGetItem',
  BatchWriteCommand: 'dynamodb:BatchWriteItem',
  PutCommand: 'dynamodb:PutItem',
  UpdateCommand: 'dynamodb:UpdateItem',
  DeleteCommand: 'dynamodb:DeleteItem',
  QueryCommand: 'dynamodb:Query',
  ScanCommand: 'dynamodb:Scan',
  SendMessageBatchCommand: 'sqs:SendMessage',
  ReceiveMessageCommand: 'sqs:ReceiveMessage',
  DeleteMessageBatchCommand: 'sqs:DeleteMessage',
  ChangeMessageVisibilityBatchCommand: 'sqs:ChangeMessageVisibility',
  InvokeCommand: 'lambda:InvokeFunction',
};

export interface Command {
  input: {
    TableName?: string;
    IndexName?: string;
    RequestItems?: Record<string, unknown>;
    QueueUrl?: string;
    FunctionName?: string;
  };
}

function awsCall(handler: string, command: Command): AwsCall {
  const action = ACTIONS[command.constructor.name];
  if (action === undefined) throw new Error(`which action is ${command.constructor.name}? It is not in the list`);
  const { TableName, RequestItems = {}, IndexName, QueueUrl, FunctionName } = command.input;
  const value = TableName ?? QueueUrl ?? Object.keys(RequestItems)[0];
  const variable = Object.keys(process.env).find(
    (name) => /_(TABLE_NAME|QUEUE_URL)$/.test(name) && process.env[name] === value,
  );
  const on = FunctionName ?? `${variable}${IndexName === undefined ? '' : `/index/${IndexName}`}`;
  return { handler, action, on, input: command.input };
}

const requireHere = createRequire(__filename);

/** Modules that `load` requires are made anew, as in a fresh process. Within jest they are jest's, elsewhere Node's. */
function inFreshProcess<Loaded>(load: (require: (path: string) => unknown) => Loaded): Loaded {
  let loaded: Loaded | undefined;
  if (typeof jest !== 'undefined') {
    jest.isolateModules(() => {
      loaded = load((path) => jest.requireActual(path));
    });
    return loaded!;
  }
  const { cache } = requireHere;
  const before = { ...cache };
  for (const path of Object.keys(cache)) delete cache[path];
  loaded = load(requireHere);
  Object.assign(cache, before);
  return loaded;
}

export interface DeployOptions {
  /** where they differ from the stack's */
  queues?: Partial<Record<keyof typeof QUEUES, QueueSettings>>;
  /** does something before and after a call; `send` makes it */
  around?: (call: AwsCall, send: () => Promise<unknown>) => Promise<unknown>;
}

/**
 * Tables and queues on the emulators and a stand-in for Lambda, all fresh, with the environment that the stack would give
 * to any of the functions: a handler that is loaded afterwards finds itself deployed.
 */
export async function deploy({ queues = {}, around = (_, send) => send() }: DeployOptions = {}) {
  const forgetNames = resolveLocalhostNames();
  const functions = new Map<string, UserFunction>();
  const calls: AwsCall[] = [];
  const lambda = await startLambdaStandIn(functions);
  const dynamo = emulatedDynamo();
  const sqs = emulatedSqs();

  const tableNames = {} as Record<TableName, string>;
  for (const name of Object.keys(TABLES) as TableName[]) tableNames[name] = await createEmulatedTable(name);
  const queueUrls = {} as Record<QueueName, string>;
  for (const [name, { deadLettersOf, ...settings }] of Object.entries<QueueSettings>({ ...QUEUES, ...queues })) {
    const shared = deadLettersOf === undefined ? undefined : queueUrls[`${deadLettersOf}_DEAD_LETTER` as QueueName];
    const { queueUrl, deadLettersUrl } = await createEmulatedQueue(sqs, {
      ...settings,
      ...(shared === undefined ? {} : { deadLettersUrl: shared }),
    });
    queueUrls[name as QueueName] = queueUrl;
    if (deadLettersUrl !== undefined && shared === undefined)
      queueUrls[`${name}_DEAD_LETTER` as QueueName] = deadLettersUrl;
  }

  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'nobody',
    AWS_SECRET_ACCESS_KEY: 'nothing',
    AWS_ENDPOINT_URL_DYNAMODB: process.env['EMULATED_DYNAMODB_URL'],
    AWS_ENDPOINT_URL_SQS: new URL(queueUrls.NOTIFY).origin,
    AWS_ENDPOINT_URL_LAMBDA: lambda.url,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    SHARD_COUNT: String(SHARDS),
    TICK_SECONDS: '10',
    RETENTION_SECONDS: String(30 * 86_400),
    FAILED_RETENTION_SECONDS: String(30 * 86_400),
    ALLOWED_FUNCTION_PATTERNS: 'job-*,notify-*',
    METRICS_STACK_NAME: 'Escapement-test',
  });
  for (const [name, tableName] of Object.entries(tableNames)) {
    process.env[`${name.toUpperCase()}_TABLE_NAME`] = tableName;
  }
  for (const [name, queueUrl] of Object.entries(queueUrls)) process.env[`${name}_QUEUE_URL`] = queueUrl;

  const table = (name: TableName) => ({ client: dynamo, tableName: tableNames[name], shards: SHARDS, ...pacing });
  return {
    dynamo,
    tableNames,
    /** users' functions by their name */
    functions,
    /** every call of the handlers to AWS, in their order */
    calls,
    jobs: new DynamoJobStore(table('jobs')),
    runs: new DynamoRunStore(table('runs')),
    notifications: new DynamoNotificationStore(table('notifications')),
    code: new DynamoCodeStore(table('code')),
    groups: new DynamoGroupStore(table('groups')),
    queueUrls,
    queue: (name: QueueName) => new SqsQueue({ client: sqs, queueUrl: queueUrls[name], ...pacing }),
    /** Bodies of all that is visible in the queue, parsed. */
    async bodiesIn(name: QueueName): Promise<unknown[]> {
      const bodies: unknown[] = [];
      for (;;) {
        const messages = await this.queue(name).receive(10);
        if (messages.length === 0) return bodies;
        bodies.push(...messages.map(({ body }) => JSON.parse(body) as unknown));
      }
    },
    /** The handler in a fresh process, which reads the environment as it is now. */
    load<Event, Answer>(name: string): (event: Event) => Promise<Answer> {
      return inFreshProcess((require) => {
        const { DynamoDBClient } = require('@aws-sdk/client-dynamodb') as typeof Dynamo;
        // All clients inherit this one method, and a fresh process has classes of its own.
        type AnyClient = { send: (this: unknown, command: Command, ...rest: unknown[]) => Promise<unknown> };
        const client = Object.getPrototypeOf(DynamoDBClient.prototype) as AnyClient;
        const { send } = client;
        client.send = function (command, ...rest) {
          const call = awsCall(name, command);
          calls.push(call);
          return around(call, () => send.call(this, command, ...rest));
        };
        return require(`../../lambdas/${name}/handler`) as { handler: (event: Event) => Promise<Answer> };
      }).handler;
    },
    async close() {
      dynamo.destroy();
      sqs.destroy();
      forgetNames();
      await lambda.close();
    },
  };
}
