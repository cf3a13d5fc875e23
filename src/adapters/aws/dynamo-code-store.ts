import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Code, CodeStore } from '../../ports';
import type { Table } from './document-client';

const MOST_KNOWN = 1_000;

/** Remembers what it has read or written: a mapping never changes and is never removed. */
export class DynamoCodeStore implements CodeStore {
  private readonly table: Table;
  private readonly known = new Map<string, Code>();

  constructor(table: Table) {
    this.table = table;
  }

  async put(code: Code): Promise<void> {
    if (this.known.has(code.codeId)) return;
    await this.table.client.send(new PutCommand({ TableName: this.table.tableName, Item: { ...code } }));
    this.remember(code);
  }

  async read(codeId: string): Promise<Code | undefined> {
    const known = this.known.get(codeId);
    if (known) return { ...known };
    const answer = await this.table.client.send(
      new GetCommand({ TableName: this.table.tableName, Key: { codeId }, ConsistentRead: true }),
    );
    const code = answer.Item as Code | undefined;
    if (code) this.remember(code);
    return code;
  }

  private remember(code: Code): void {
    const oldest = this.known.keys().next();
    if (this.known.size >= MOST_KNOWN && !oldest.done) this.known.delete(oldest.value);
    this.known.set(code.codeId, { ...code });
  }
}
