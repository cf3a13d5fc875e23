/**
 * Every variable of every function, on one page: which it gets and how each is read. The stack has to supply exactly
 * these (`lib/handler-function.ts`), and a handler gets parsed values. No import here: the infrastructure reads this page too.
 */

/** How a variable's text is read; `expects` completes the sentence "it must be …". */
export interface Kind<Value> {
  expects: string;
  /** @returns undefined for a text that is wrong */
  parse(text: string): Value | undefined;
}

export type Contract = Readonly<Record<string, Kind<unknown>>>;

export type Env<C extends Contract> = { [Name in keyof C]: C[Name] extends Kind<infer Value> ? Value : never };

const text: Kind<string> = { expects: 'a text', parse: (value) => value };

const url: Kind<string> = {
  expects: 'a URL',
  parse: (value) => (/^https?:\/\/\S+$/.test(value) ? value : undefined),
};

const positiveNumber: Kind<number> = {
  expects: 'a whole number from 1',
  parse: (value) => (/^[1-9]\d{0,14}$/.test(value) ? Number(value) : undefined),
};

/** separated by commas, since none can be part of an entry */
const list: Kind<readonly string[]> = {
  expects: 'a list such as a,b,c',
  parse: (value) => (/^[^,\s]+(,[^,\s]+)*$/.test(value) ? value.split(',') : undefined),
};

/** Absence is said, since an empty variable is more likely a mistake. */
const nameOrOff: Kind<string | false> = {
  expects: 'a name, or off',
  parse: (value) => (value === 'off' ? false : value),
};

/** The deployment's settings, the same for every function that decides anything. */
export const settingsEnv = {
  SHARD_COUNT: positiveNumber,
  TICK_SECONDS: positiveNumber,
  RETENTION_SECONDS: positiveNumber,
  FAILED_RETENTION_SECONDS: positiveNumber,
  ALLOWED_FUNCTION_PATTERNS: list,
  /** of the stack that metrics are counted for */
  METRICS_STACK_NAME: nameOrOff,
};

export const schedulerEnv = {
  ...settingsEnv,
  JOBS_TABLE_NAME: text,
  RUNS_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  GROUPS_TABLE_NAME: text,
  JOB_ACTIVATION_QUEUE_URL: url,
  JOB_ACTIVATION_HIGH_QUEUE_URL: url,
  JOB_ACTIVATION_DEAD_LETTER_QUEUE_URL: url,
  NOTIFY_QUEUE_URL: url,
};

export const runnerEnv = {
  ...settingsEnv,
  JOBS_TABLE_NAME: text,
  RUNS_TABLE_NAME: text,
  CODE_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  GROUPS_TABLE_NAME: text,
  JOB_ACTIVATION_QUEUE_URL: url,
  JOB_ACTIVATION_HIGH_QUEUE_URL: url,
  NOTIFY_QUEUE_URL: url,
};

export const notifierEnv = {
  NOTIFICATIONS_TABLE_NAME: text,
  CODE_TABLE_NAME: text,
  NOTIFY_QUEUE_URL: url,
};

export const apiEnv = {
  ...settingsEnv,
  JOBS_TABLE_NAME: text,
  RUNS_TABLE_NAME: text,
  NOTIFICATIONS_TABLE_NAME: text,
  CODE_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  GROUPS_TABLE_NAME: text,
  JOB_ACTIVATION_QUEUE_URL: url,
  JOB_ACTIVATION_HIGH_QUEUE_URL: url,
  NOTIFY_QUEUE_URL: url,
  JOB_CREATE_QUEUE_URL: url,
  NOTIFY_DELETE_QUEUE_URL: url,
};

export const jobCreatorEnv = {
  ...settingsEnv,
  JOBS_TABLE_NAME: text,
  RUNS_TABLE_NAME: text,
  NOTIFICATIONS_TABLE_NAME: text,
  CODE_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  JOB_ACTIVATION_QUEUE_URL: url,
  JOB_ACTIVATION_HIGH_QUEUE_URL: url,
  NOTIFY_QUEUE_URL: url,
  JOB_CREATED_QUEUE_URL: url,
};

export const jobDeleterEnv = {
  ...settingsEnv,
  JOBS_TABLE_NAME: text,
  RUNS_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  GROUPS_TABLE_NAME: text,
  JOB_ACTIVATION_QUEUE_URL: url,
  JOB_ACTIVATION_HIGH_QUEUE_URL: url,
  NOTIFY_QUEUE_URL: url,
  NOTIFY_DELETE_QUEUE_URL: url,
  JOB_DELETED_QUEUE_URL: url,
};

export const notificationCreatorEnv = {
  ...settingsEnv,
  JOBS_TABLE_NAME: text,
  NOTIFICATIONS_TABLE_NAME: text,
  CODE_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  NOTIFY_CREATED_QUEUE_URL: url,
};

export const notificationDeleterEnv = {
  SHARD_COUNT: positiveNumber,
  JOBS_TABLE_NAME: text,
  NOTIFICATIONS_TABLE_NAME: text,
  CONTROL_TABLE_NAME: text,
  NOTIFY_DELETED_QUEUE_URL: url,
};

export const jobResourceEnv = {
  API_FUNCTION_ARN: text,
};

/** @throws Error with every fault in one message; what the contract does not name is none of our business */
export function readEnv<C extends Contract>(contract: C, variables: Record<string, string | undefined>): Env<C> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, kind] of Object.entries(contract)) {
    const given = variables[name];
    const value = given === undefined || given === '' ? undefined : kind.parse(given);
    if (value !== undefined) values[name] = value;
    else if (given === undefined) faults.push(`${name} is missing; it must be ${kind.expects}`);
    else faults.push(`${name} is ${JSON.stringify(given)}; it must be ${kind.expects}`);
  }
  if (faults.length > 0) throw new Error(`the environment of this function is wrong:\n  ${faults.join('\n  ')}`);
  return values as Env<C>;
}
