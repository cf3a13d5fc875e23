import { RemovalPolicy } from 'aws-cdk-lib';
import type { EscapementSettings } from './settings';

/** Settings as CDK context gives them, by cdk.json or by `-c name=value`, where every value is a text. */
const NUMBERS = ['tickSeconds', 'shards', 'retentionDays', 'failedRetentionDays', 'logRetentionDays'] as const;
const LIMITS = ['apiRequestsPerSecond', 'apiBurst'] as const;
const TEXTS = ['encryptionKey', 'alarmTopicArn', 'runbookUrl'] as const;
const CLAIMS = ['alarms', 'dashboard', 'metrics'] as const;

/**
 * `stage` names the deployment, `prod` unless given; what is deployed as `dev` goes with its tables. Context
 * `removalPolicy` (retain or destroy) says otherwise, `allowedFunctions` is a list separated by commas.
 * @throws Error for a value that cannot be read; whether it is in range is `completeSettings`' to say
 */
export function contextSettings(contextOf: (name: string) => unknown): Partial<EscapementSettings> & { stage: string } {
  const given = (name: string) => {
    const value = contextOf(name);
    return value === undefined || value === '' ? undefined : value;
  };
  const stage = asText(given('stage') ?? 'prod');
  if (!/^[A-Za-z0-9-]{1,32}$/.test(stage)) {
    throw new Error(`context stage is ${JSON.stringify(stage)}; it must be up to 32 letters, digits and "-"`);
  }
  const settings: Partial<EscapementSettings> & { stage: string } = {
    stage,
    removalPolicy: removalPolicyOf(given('removalPolicy') ?? (stage === 'dev' ? 'destroy' : 'retain')),
  };
  for (const name of [...NUMBERS, ...LIMITS]) {
    const value = given(name);
    if (value !== undefined) settings[name] = Number(value);
  }
  for (const name of TEXTS) {
    const value = given(name);
    if (value !== undefined) settings[name] = asText(value);
  }
  for (const name of CLAIMS) {
    const value = given(name);
    // What is neither is for `completeSettings` to name among the other faults.
    if (value !== undefined) settings[name] = ({ true: true, false: false }[asText(value)] ?? value) as boolean;
  }
  const patterns = given('allowedFunctions');
  if (patterns !== undefined)
    settings.allowedFunctions = Array.isArray(patterns) ? patterns : asText(patterns).split(',');
  return settings;
}

function removalPolicyOf(value: unknown): RemovalPolicy {
  if (value === 'retain') return RemovalPolicy.RETAIN;
  if (value === 'destroy') return RemovalPolicy.DESTROY;
  throw new Error(`context removalPolicy is ${JSON.stringify(value)}; it must be retain or destroy`);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
