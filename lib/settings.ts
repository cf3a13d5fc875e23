import { Aws, Lazy, RemovalPolicy, Token } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { settingsEnv } from '../lambdas/env';

/** What whoever deploys decides. */
export interface EscapementSettings {
  /** 1 to 60: trades calls for late binding, precision is the same */
  tickSeconds: number;
  /** partitions of the due indexes, 1 to 100; may be raised later, never lowered */
  shards: number;
  /** patterns of the names of functions that may be called as jobs and notifications; `*` stands for any characters */
  allowedFunctions: readonly string[];
  /** how long finished runs, finished one-off jobs and tombstones are kept */
  retentionDays: number;
  /** how long a failed run, and what it needs to be sent again, is kept; never shorter than the others */
  failedRetentionDays: number;
  /** one of the periods that CloudWatch Logs knows, in days: 1, 3, 5, 7, 14, 30, 60, 90 … */
  logRetentionDays: number;
  /** what becomes of the tables when the stack goes */
  removalPolicy: RemovalPolicy;
  /** `aws`: keys that AWS keeps; `new`: a key of the stack's own; or the ARN of a key, whose policy must let CloudWatch Logs use it */
  encryptionKey: string;
  /** what the API takes on the average, and at once; beyond that it answers 429 */
  apiRequestsPerSecond: number;
  apiBurst: number;
  /** whether CloudWatch watches the system; docs/runbook.md has a heading for each alarm */
  alarms: boolean;
  /** whom alarms tell; empty: nobody */
  alarmTopicArn: string;
  /** where the links of the alarms lead */
  runbookUrl: string;
  dashboard: boolean;
  /** whether runs and ticks are counted for CloudWatch; alarms and the dashboard want it, and have it */
  metrics: boolean;
}

export const DEFAULT_SETTINGS: EscapementSettings = {
  tickSeconds: 10,
  shards: 4,
  allowedFunctions: ['job-*', 'notify-*'],
  retentionDays: 30,
  failedRetentionDays: 30,
  logRetentionDays: 30,
  removalPolicy: RemovalPolicy.RETAIN,
  encryptionKey: 'aws',
  apiRequestsPerSecond: 100,
  apiBurst: 200,
  alarms: false,
  alarmTopicArn: '',
  runbookUrl: 'docs/runbook.md',
  dashboard: false,
  metrics: false,
};

const KEYS = 'aws, new, or the ARN of a KMS key (not of an alias)';
const TOPICS = 'the ARN of an SNS topic';

/** @throws Error with every fault in one message */
export function completeSettings(given: Partial<EscapementSettings>): EscapementSettings {
  const settings = { ...DEFAULT_SETTINGS, ...given };
  const faults = [
    ...wholeNumber('tickSeconds', settings.tickSeconds, 1, 60),
    ...wholeNumber('shards', settings.shards, 1, 100),
    ...wholeNumber('retentionDays', settings.retentionDays, 1, 3_650),
    ...wholeNumber('failedRetentionDays', settings.failedRetentionDays, 1, 3_650),
    ...(settings.logRetentionDays in RetentionDays
      ? []
      : [
          `logRetentionDays is ${settings.logRetentionDays}; CloudWatch Logs knows 1, 3, 5, 7, 14, 30, 60, 90 and more`,
        ]),
    ...(settings.allowedFunctions.length > 0 ? [] : ['allowedFunctions is empty; name at least one pattern']),
    ...settings.allowedFunctions.flatMap(patternFault),
    ...textFault('encryptionKey', settings.encryptionKey, /^(aws|new|arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+)$/, KEYS),
    ...wholeNumber('apiRequestsPerSecond', settings.apiRequestsPerSecond, 1, 10_000),
    ...wholeNumber('apiBurst', settings.apiBurst, 1, 5_000),
    ...(['alarms', 'dashboard', 'metrics'] as const).flatMap((name) => yesOrNo(name, settings[name])),
    ...textFault('alarmTopicArn', settings.alarmTopicArn, /^(arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+)?$/, TOPICS),
    ...(settings.alarmTopicArn !== '' && settings.alarms === false
      ? ['alarmTopicArn tells of alarms; set alarms']
      : []),
    ...textFault('runbookUrl', settings.runbookUrl, /^[^\s#]{1,400}$/, 'a URL or path without "#" and spaces'),
  ];
  if (faults.length > 0) throw new Error(`the settings of Escapement are wrong:\n  ${faults.join('\n  ')}`);
  return { ...settings, metrics: settings.metrics || settings.alarms || settings.dashboard };
}

/** The variables that every function with an opinion gets. */
export function settingsEnvironment(settings: EscapementSettings): Record<keyof typeof settingsEnv, string> {
  return {
    SHARD_COUNT: String(settings.shards),
    TICK_SECONDS: String(settings.tickSeconds),
    RETENTION_SECONDS: String(settings.retentionDays * 86_400),
    FAILED_RETENTION_SECONDS: String(settings.failedRetentionDays * 86_400),
    // Read when the template is made: jobs that are added in between bring their functions.
    ALLOWED_FUNCTION_PATTERNS: Lazy.string({ produce: () => settings.allowedFunctions.join(',') }),
    METRICS_STACK_NAME: settings.metrics ? Aws.STACK_NAME : 'off',
  };
}

function wholeNumber(name: string, value: number, from: number, to: number): string[] {
  if (Number.isInteger(value) && value >= from && value <= to) return [];
  return [`${name} is ${value}; it must be a whole number from ${from} to ${to}`];
}

function yesOrNo(name: string, value: unknown): string[] {
  return typeof value === 'boolean' ? [] : [`${name} is ${JSON.stringify(value)}; it must be true or false`];
}

/** What only the deployment will know, such as the ARN of a key of the same app, is not judged. */
function textFault(name: string, value: string, pattern: RegExp, expects: string): string[] {
  if (Token.isUnresolved(value) || pattern.test(value)) return [];
  return [`${name} is ${JSON.stringify(value)}; it must be ${expects}`];
}

/** A pattern goes into an ARN of a policy, where `:` would begin another part and `?` stand for any character. */
function patternFault(pattern: string): string[] {
  if (!Token.isUnresolved(pattern) && /^[A-Za-z0-9_*-]{1,64}$/.test(pattern)) return [];
  return [
    `allowedFunctions has ${JSON.stringify(pattern)}; a pattern is up to 64 letters, digits, "-", "_" and "*", such as job-*`,
  ];
}
