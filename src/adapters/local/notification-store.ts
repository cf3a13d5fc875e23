import type { Notification, NotificationState } from '../../domain/notification';
import type { NotificationStore } from '../../ports';
import type { Database, Key, TextTable } from './database';
import { LAST } from './due-index';

export class LocalNotificationStore implements NotificationStore {
  readonly #database: Database;
  readonly #rows: TextTable;

  constructor(database: Database) {
    this.#database = database;
    this.#rows = database.table('notifications');
  }

  put(notification: Notification): Promise<void> {
    const text = JSON.stringify(notification);
    return this.#database.change(() => this.#rows.putSync(keyOf(notification), text));
  }

  remove(notification: Pick<Notification, 'jobId' | 'state' | 'notifyId'>): Promise<void> {
    return this.#database.change(() => void this.#rows.removeSync(keyOf(notification)));
  }

  async of(jobId: string, state?: NotificationState): Promise<Notification[]> {
    const prefix = state === undefined ? [jobId] : [jobId, state];
    const found: Notification[] = [];
    for (const { value } of this.#rows.getRange({ start: prefix, end: [...prefix, LAST] })) {
      found.push(JSON.parse(value) as Notification);
    }
    return found;
  }

  /** Removes all of a job's; for use inside a change. */
  expungeAllOf(jobId: string): void {
    for (const key of [...this.#rows.getKeys({ start: [jobId], end: [jobId, LAST] })]) this.#rows.removeSync(key);
  }
}

function keyOf({ jobId, state, notifyId }: Pick<Notification, 'jobId' | 'state' | 'notifyId'>): Key {
  return [jobId, state, notifyId];
}
