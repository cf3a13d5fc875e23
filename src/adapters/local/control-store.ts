import type { Clock, ControlEntry, ControlStore } from '../../ports';
import type { Database, TextTable } from './database';

export class LocalControlStore implements ControlStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #rows: TextTable;

  constructor(database: Database, options: { clock: Clock }) {
    this.#database = database;
    this.#clock = options.clock;
    this.#rows = database.table('control');
  }

  async read(name: string): Promise<ControlEntry | undefined> {
    const text = this.#rows.get(name);
    if (text === undefined) return undefined;
    const entry = JSON.parse(text) as ControlEntry;
    return entry.expiresAt > this.#clock.now() ? entry : undefined;
  }

  put(entry: ControlEntry, seen?: ControlEntry): Promise<boolean> {
    const written = JSON.stringify(entry);
    return this.#database.change(() => {
      const text = this.#rows.get(entry.name);
      const stands = text === undefined ? undefined : (JSON.parse(text) as ControlEntry);
      const standingValue = stands && stands.expiresAt > this.#clock.now() ? stands.value : undefined;
      if (standingValue !== seen?.value) return false;
      this.#rows.putSync(entry.name, written);
      return true;
    });
  }
}
