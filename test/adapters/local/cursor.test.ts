import { readCursor, writeCursor } from '../../../src/adapters/local/cursor';
import { openDatabase, type Database } from '../../../src/adapters/local/database';
import { LocalJobStore } from '../../../src/adapters/local/job-store';
import { LocalRunStore } from '../../../src/adapters/local/run-store';
import { InvalidCursorError } from '../../../src/ports';
import { freshFolder, removeFolder } from '../../support/data-folder';

let folder: string;
let database: Database;
beforeEach(async () => {
  folder = freshFolder();
  database = await openDatabase(folder, { survivesPowerLoss: false });
});
afterEach(async () => {
  await database.close();
  removeFolder(folder);
});

test('a forged cursor that is longer than a key of the store is no cursor', async () => {
  const part = 'x'.repeat(3_000);
  const jobs = new LocalJobStore(database, { shards: 4 });
  const runs = new LocalRunStore(database, { shards: 4 });
  await expect(jobs.list({ limit: 1, cursor: writeCursor('jobs', [part]) })).rejects.toThrow(InvalidCursorError);
  await expect(runs.scan({ limit: 1, cursor: writeCursor('runs', [part, 'r']) })).rejects.toThrow(InvalidCursorError);
});

test.each([
  ['as long as may be', 'x'.repeat(700)],
  ['made of characters of three bytes', '€'.repeat(240)],
  ['made of zero characters', '\0'.repeat(115)],
  ['with half a character', '\ud800'],
  ['empty', ''],
])('a forged cursor %s finds nothing and breaks nothing', async (_, part) => {
  const cursor = writeCursor('jobs', [part]);
  expect(readCursor('jobs', ['string'], cursor)).toEqual([part]);
  expect(await new LocalJobStore(database, { shards: 4 }).list({ limit: 1, cursor })).toEqual({ items: [] });
});
