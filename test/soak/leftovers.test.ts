import { openDatabase, type Database } from '../../src/adapters/local/database';
import { LocalControlStore } from '../../src/adapters/local/control-store';
import { LocalJobStore } from '../../src/adapters/local/job-store';
import { LocalNotificationStore } from '../../src/adapters/local/notification-store';
import { LocalQueue } from '../../src/adapters/local/queue';
import { LocalRunStore } from '../../src/adapters/local/run-store';
import type { RunState } from '../../src/domain/run';
import { aJob, aNotification, aRun, NOON } from '../contracts/rows';
import { HOUR, MINUTE } from '../support/builders';
import { freshFolder, removeFolder } from '../support/data-folder';
import { HandClock } from '../support/hand-clock';
import { sumOf } from './counts';
import { lookThrough } from './leftovers';
import { sizeOfStore } from './store-size';

let folder: string;
let database: Database;
let heard: Map<string, RunState>;
beforeEach(async () => {
  folder = freshFolder();
  database = await openDatabase(folder, { survivesPowerLoss: false });
  heard = new Map();
});
afterEach(async () => {
  await database.close();
  removeFolder(folder);
});

/** A job that is due, a run of each kind that an index knows, and what hangs on them. */
async function fill() {
  const clock = new HandClock(NOON);
  const jobs = new LocalJobStore(database, { shards: 4 });
  const runs = new LocalRunStore(database, { shards: 4 });
  const job = aJob({ jobId: 'a', dueAt: NOON + 1, expiresAt: NOON + HOUR });
  await jobs.put(job);
  await jobs.keepDefinition(job, NOON + HOUR);
  const ofA = { jobId: 'a', expiresAt: NOON + HOUR };
  for (const run of [
    aRun({ ...ofA, state: 'STARTED' }),
    aRun({ ...ofA, state: 'RELEASED', indexDueAt: NOON + 5 }),
    aRun({ ...ofA, state: 'FAILED', failedAt: NOON }),
  ]) {
    await runs.put(run);
    heard.set(run.runId, run.state);
  }
  await new LocalNotificationStore(database).put(aNotification({ jobId: 'a' }));
  const control = new LocalControlStore(database, { clock });
  for (const name of ['unique:k', 'unique:l', 'newest-loop'])
    await control.put({ name, value: '1', expiresAt: NOON + 2 * HOUR });
  const queue = new LocalQueue(database, { name: 'job-activation', clock, visibilityMs: MINUTE });
  await queue.send([{ body: '1' }, { body: '2' }]);
}

async function look(overdueBefore = NOON) {
  await database.close();
  const stateOf = (runId: string) => heard.get(runId);
  return lookThrough({ directory: folder, now: NOON, overdueBefore, stateOf });
}

const put = (table: string, key: string | (string | number)[], value = '') =>
  database.change(() => database.table(table).putSync(key, value));

test('a store in which everything belongs to something has nothing wrong, and is counted', async () => {
  await fill();
  expect(await look()).toEqual({
    faults: [],
    control: { unique: { count: 2, hours: 2 }, 'newest-loop': { count: 1, hours: 2 } },
    messages: { 'job-activation': 2 },
  });
});

test('a store in which nothing was ever written has nothing wrong', async () => {
  expect(await look()).toEqual({ faults: [], control: {}, messages: {} });
});

test('what is past its retention is told once for each table, with how many there are', async () => {
  await fill();
  const { faults } = await look(NOON + HOUR + 1);
  expect(faults).toEqual([
    'a row of jobs is past its retention: 1, the first ["a"]',
    expect.stringContaining('a row of runs is past its retention: 3, the first ["a",'),
    expect.stringContaining('a row of definitions is past its retention: 1'),
  ]);
});

test('a unique key that was given back a minute ago is not past its retention', async () => {
  await put('control', 'unique:k', JSON.stringify({ name: 'unique:k', value: '1', expiresAt: NOON - MINUTE }));
  expect((await look(NOON)).faults).toEqual([]);
  expect((await look(NOON + 1)).faults).toEqual(['a row of control is past its retention: 1, the first ["unique:k"]']);
});

test('a run that stands otherwise than it was heard of is told, and one that was never heard of', async () => {
  await fill();
  const [first, second] = [...heard.keys()] as [string, string];
  heard.set(first, 'DONE');
  heard.delete(second);
  expect((await look()).faults.map((fault) => fault.split(':')[0])).toEqual([
    'a run is STARTED in the store, and was heard of as DONE',
    'a run is RELEASED in the store, and was heard of as undefined',
  ]);
});

test.each([
  ['payloads', 'b', 'a row of payloads has no job any more: 1, the first ["b"]'],
  ['notifications', ['b', 'DONE', 'n'], 'a row of notifications has no job any more: 1, the first ["b","DONE","n"]'],
  ['definitions', ['b', 'g'], 'a former definition has neither job nor run any more: 1, the first ["b","g"]'],
  ['jobs-due', [0, NOON, 'a'], `an entry of jobs-due is not when its job is due: 1, the first [0,${NOON},"a"]`],
  [
    'runs-due',
    [0, NOON, 'a', 'r'],
    `an entry of runs-due is not when its run is due: 1, the first [0,${NOON},"a","r"]`,
  ],
  ['runs-failed', [NOON, 'a', 'r'], `an entry of runs-failed has no such failed run: 1, the first [${NOON},"a","r"]`],
  ['runs-started', ['a', 'r'], 'an entry of runs-started has no run at work: 1, the first ["a","r"]'],
  ['message-bodies', ['q', 'm'], 'a message has no state: 1, the first ["q","m"]'],
  ['message-states', ['q', 'm'], 'there are more states of messages than bodies: 1, the first [3]'],
] as const)('what is left over in %s is told', async (table, key, fault) => {
  await fill();
  await put(table, typeof key === 'string' ? key : [...key], '{}');
  expect((await look()).faults).toEqual([fault]);
});

test('who subscribed to all jobs is no leftover', async () => {
  await put('notifications', ['*', 'FAILED', 'n'], '{}');
  expect((await look()).faults).toEqual([]);
});

test('the size of a store is read while another holds it', async () => {
  await fill();
  const before = await sizeOfStore(folder);
  expect(before.entries).toMatchObject({ jobs: 1, runs: 3, 'message-bodies': 2, control: 3 });
  await put('payloads', 'large', 'x'.repeat(100_000));
  const after = await sizeOfStore(folder);
  expect(after.entries['payloads']).toBe(2);
  expect(after.usedBytes['payloads']! - before.usedBytes['payloads']!).toBeGreaterThan(100_000);
  expect(after.usedBytes['jobs']).toBe(before.usedBytes['jobs']);
  expect(after.fileBytes).toBeGreaterThanOrEqual(sumOf(after.usedBytes));
});
