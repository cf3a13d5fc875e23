import type { Code, CodeStore } from '../../ports';
import type { Database, TextTable } from './database';

export class LocalCodeStore implements CodeStore {
  readonly #database: Database;
  readonly #rows: TextTable;

  constructor(database: Database) {
    this.#database = database;
    this.#rows = database.table('code');
  }

  put(code: Code): Promise<void> {
    return this.#database.change(() => this.#rows.putSync(code.codeId, JSON.stringify(code)));
  }

  async read(codeId: string): Promise<Code | undefined> {
    const text = this.#rows.get(codeId);
    return text === undefined ? undefined : (JSON.parse(text) as Code);
  }
}
