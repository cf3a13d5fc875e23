import type { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, type Attribute } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { TABLES, type KeyAttribute, type TableLayout, type TableName } from '../src/adapters/aws/table-layout';
import { allow, allowTableKey, type Granted } from './grants';

/** The methods of each store, most as `src/ports.ts` names them, and the actions that the adapter's calls need on its table. */
const TABLE_ACTIONS = {
  jobs: {
    read: ['GetItem'],
    readRows: ['BatchGetItem'],
    // a large payload is an item of its own, and goes when nobody refers to it any more
    put: ['PutItem', 'DeleteItem'],
    putAll: ['BatchWriteItem'],
    update: ['UpdateItem'],
    keepDefinition: ['PutItem'],
    // an update that lets the row live longer, and its large payload before it
    prolong: ['UpdateItem', 'GetItem'],
    list: ['Scan'],
  },
  // the index names failed runs, and their rows are read by its keys
  runs: { read: ['GetItem'], put: ['PutItem'], list: ['Query'], scan: ['Scan'], failed: ['BatchGetItem'] },
  notifications: { put: ['PutItem'], remove: ['DeleteItem'], of: ['Query'] },
  code: { put: ['PutItem'], read: ['GetItem'] },
  control: { put: ['PutItem'], read: ['GetItem'] },
  groups: {
    read: ['GetItem'],
    put: ['PutItem'],
    readPart: ['GetItem'],
    readParts: ['Query'],
    putPart: ['PutItem'],
    list: ['Scan'],
  },
} as const satisfies Record<TableName, Record<string, readonly string[]>>;

/** A method that asks an index has its name: `due`, `failed`. */
type Method<Name extends TableName> =
  (keyof (typeof TABLE_ACTIONS)[Name] & string) | (typeof TABLES)[Name]['indexes'][number]['name'];

/** The six tables: jobs, runs, notifications, code, control, groups. */
export class Storage extends Construct {
  private readonly tables: Record<TableName, Table>;

  constructor(scope: Construct, id: string, props: { removalPolicy: RemovalPolicy }) {
    super(scope, id);
    this.tables = {
      jobs: this.table('Jobs', TABLES.jobs, props),
      runs: this.table('Runs', TABLES.runs, props),
      notifications: this.table('Notifications', TABLES.notifications, props),
      code: this.table('Code', TABLES.code, props),
      control: this.table('Control', TABLES.control, props),
      groups: this.table('Groups', TABLES.groups, props),
    };
  }

  /** The name of this table, and the right to call just these methods of its store. */
  allow<Name extends TableName>(name: Name, ...methods: Method<Name>[]): Granted {
    const table = this.tables[name];
    const actionsOf: Record<string, readonly string[]> = TABLE_ACTIONS[name];
    const actions = new Set(methods.flatMap((method) => actionsOf[method] ?? []));
    const { indexes }: TableLayout = TABLES[name];
    const asked = indexes.filter((index) => methods.some((method) => method === index.name));
    return {
      value: table.tableName,
      grantTo(grantee) {
        allowTableKey(grantee, table.encryptionKey);
        if (actions.size > 0) {
          allow(
            grantee,
            [...actions].map((action) => `dynamodb:${action}`),
            [table.tableArn],
          );
        }
        if (asked.length > 0) {
          allow(
            grantee,
            ['dynamodb:Query'],
            asked.map((index) => `${table.tableArn}/index/${index.name}`),
          );
        }
      },
    };
  }

  private table(id: string, layout: TableLayout, { removalPolicy }: { removalPolicy: RemovalPolicy }): Table {
    const table = new Table(this, id, {
      partitionKey: attribute(layout.partitionKey),
      ...(layout.sortKey && { sortKey: attribute(layout.sortKey) }),
      ...(layout.ttlAttribute !== undefined && { timeToLiveAttribute: layout.ttlAttribute }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy,
    });
    for (const { name, partitionKey, sortKey, projection } of layout.indexes) {
      table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: attribute(partitionKey),
        sortKey: attribute(sortKey),
        projectionType: ProjectionType[projection],
      });
    }
    return table;
  }
}

function attribute({ name, type }: KeyAttribute): Attribute {
  return { name, type: type === 'number' ? AttributeType.NUMBER : AttributeType.STRING };
}
