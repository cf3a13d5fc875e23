/**
 * The six tables as plain data: the stack makes them in an account, the tests in an emulator, the stores read and write them.
 * No import here, so that the infrastructure can read it without taking an SDK along.
 */
export interface KeyAttribute {
  name: string;
  type: 'string' | 'number';
}

export interface IndexLayout {
  name: string;
  partitionKey: KeyAttribute;
  sortKey: KeyAttribute;
  projection: 'KEYS_ONLY';
}

export interface TableLayout {
  partitionKey: KeyAttribute;
  sortKey?: KeyAttribute;
  /** holds epoch seconds; DynamoDB removes the item some time after, up to days late */
  ttlAttribute?: string;
  indexes: readonly IndexLayout[];
}

export const TTL_ATTRIBUTE = 'expiresAtSeconds';

/** Sparse: an item that waits for nothing carries neither attribute, is not in the index and costs no tick anything. */
export const DUE_INDEX = {
  name: 'due',
  partitionKey: { name: 'dueShard', type: 'number' },
  sortKey: { name: 'dueKey', type: 'string' },
  projection: 'KEYS_ONLY',
} as const satisfies IndexLayout;

/** Sparse: runs that are kept among the failed ones. Sharded alike, by the job's id, since many may fail at one time. */
export const FAILED_INDEX = {
  name: 'failed',
  partitionKey: { name: 'failedShard', type: 'number' },
  sortKey: { name: 'failedKey', type: 'string' },
  projection: 'KEYS_ONLY',
} as const satisfies IndexLayout;

export const TABLES = {
  jobs: {
    partitionKey: { name: 'jobId', type: 'string' },
    ttlAttribute: TTL_ATTRIBUTE,
    indexes: [DUE_INDEX],
  },
  runs: {
    partitionKey: { name: 'jobId', type: 'string' },
    sortKey: { name: 'runId', type: 'string' },
    ttlAttribute: TTL_ATTRIBUTE,
    indexes: [DUE_INDEX, FAILED_INDEX],
  },
  notifications: {
    partitionKey: { name: 'jobId', type: 'string' },
    sortKey: { name: 'stateAndId', type: 'string' },
    indexes: [],
  },
  code: {
    partitionKey: { name: 'codeId', type: 'string' },
    indexes: [],
  },
  control: {
    partitionKey: { name: 'name', type: 'string' },
    ttlAttribute: TTL_ATTRIBUTE,
    indexes: [],
  },
  groups: {
    partitionKey: { name: 'groupId', type: 'string' },
    sortKey: { name: 'part', type: 'string' },
    ttlAttribute: TTL_ATTRIBUTE,
    indexes: [],
  },
} as const satisfies Record<string, TableLayout>;

export type TableName = keyof typeof TABLES;
