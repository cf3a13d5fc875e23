/** The AWS adapters, built from a function's environment. What a function does not use is left out of its bundle. */
import { createDocumentClient } from '../src/adapters/aws/document-client';
import { DynamoCodeStore } from '../src/adapters/aws/dynamo-code-store';
import { DynamoControlStore } from '../src/adapters/aws/dynamo-control-store';
import { DynamoGroupStore } from '../src/adapters/aws/dynamo-group-store';
import { DynamoJobStore } from '../src/adapters/aws/dynamo-job-store';
import { DynamoNotificationStore } from '../src/adapters/aws/dynamo-notification-store';
import { DynamoRunStore } from '../src/adapters/aws/dynamo-run-store';
import { LambdaInvoker } from '../src/adapters/aws/lambda-invoker';
import { createSqsClient } from '../src/adapters/aws/sqs-client';
import { SqsQueue } from '../src/adapters/aws/sqs-queue';
import { systemClock, systemIds, systemRandom } from '../src/adapters/system';
import { cachedSubscriptions } from '../src/operations/cached-subscriptions';
import type {
  CodeStore,
  ControlStore,
  GroupStore,
  Invoker,
  JobStore,
  NotificationStore,
  Ports,
  Queue,
  RunStore,
  Settings,
} from '../src/ports';
import type { Env, settingsEnv } from './env';
import { createJournal } from './journal';

const pacing = { clock: systemClock, random: systemRandom };
const dynamo = once(createDocumentClient);
const sqs = once(createSqsClient);

/** What every function has: time, chance, ids, and a journal under its own name, which counts for the stack of that name. */
export function surroundings(
  functionName: string,
  env: { METRICS_STACK_NAME: string | false } = { METRICS_STACK_NAME: false },
): Pick<Ports, 'clock' | 'ids' | 'random' | 'journal'> {
  return { ...pacing, ids: systemIds, journal: createJournal(functionName, env.METRICS_STACK_NAME) };
}

export function settingsFrom(env: Env<typeof settingsEnv>): Settings {
  return {
    shards: env.SHARD_COUNT,
    tickSeconds: env.TICK_SECONDS,
    retentionMs: env.RETENTION_SECONDS * 1000,
    failedRetentionMs: env.FAILED_RETENTION_SECONDS * 1000,
    allowedFunctions: env.ALLOWED_FUNCTION_PATTERNS,
  };
}

export function jobStore(env: { JOBS_TABLE_NAME: string; SHARD_COUNT: number }): JobStore {
  return new DynamoJobStore({
    client: dynamo(),
    tableName: env.JOBS_TABLE_NAME,
    shards: env.SHARD_COUNT,
    ...pacing,
  });
}

export function runStore(env: { RUNS_TABLE_NAME: string; SHARD_COUNT: number }): RunStore {
  return new DynamoRunStore({
    client: dynamo(),
    tableName: env.RUNS_TABLE_NAME,
    shards: env.SHARD_COUNT,
    ...pacing,
  });
}

export function notificationStore(env: { NOTIFICATIONS_TABLE_NAME: string }): NotificationStore {
  return new DynamoNotificationStore({ client: dynamo(), tableName: env.NOTIFICATIONS_TABLE_NAME });
}

export function codeStore(env: { CODE_TABLE_NAME: string }): CodeStore {
  return new DynamoCodeStore({ client: dynamo(), tableName: env.CODE_TABLE_NAME });
}

export function controlStore(env: { CONTROL_TABLE_NAME: string }): ControlStore {
  const table = { client: dynamo(), tableName: env.CONTROL_TABLE_NAME, clock: systemClock };
  return cachedSubscriptions(new DynamoControlStore(table), systemClock);
}

export function groupStore(env: { GROUPS_TABLE_NAME: string }): GroupStore {
  return new DynamoGroupStore({ client: dynamo(), tableName: env.GROUPS_TABLE_NAME });
}

export function queue(queueUrl: string): Queue {
  return new SqsQueue({ client: sqs(), queueUrl, ...pacing });
}

export function lambdaInvoker(): Invoker {
  return new LambdaInvoker({ clock: systemClock });
}

/** A connection is made when a function first needs one, and kept for the process's life. */
function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
