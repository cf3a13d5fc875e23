import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import {
  DataFolderInUseError,
  DataFolderUnusableError,
  UnknownStoreFormatError,
  openDatabase,
} from '../../../src/adapters/local/database';
import { LocalCodeStore } from '../../../src/adapters/local/code-store';
import { LocalControlStore } from '../../../src/adapters/local/control-store';
import { LocalJobStore } from '../../../src/adapters/local/job-store';
import { LocalNotificationStore } from '../../../src/adapters/local/notification-store';
import { LocalRunStore } from '../../../src/adapters/local/run-store';
import { NOON, aJob, aNotification, aRun } from '../../contracts/rows';
import { freshFolder, removeFolder } from '../../support/data-folder';
import { HandClock } from '../../support/hand-clock';

let folder: string;
beforeEach(() => {
  folder = freshFolder();
});
afterEach(() => removeFolder(folder));

describe('the hold on the data folder', () => {
  test('a folder that is not there is made', async () => {
    const deep = join(folder, 'a', 'b');
    await (await openDatabase(deep)).close();
    expect(existsSync(deep)).toBe(true);
  });

  test('a second holder is refused with the folder and the remedy, also by another way to the folder', async () => {
    const database = await openDatabase(folder);
    const refused: unknown = await openDatabase(join(folder, '..', folder.split('/').at(-1)!, '.')).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(DataFolderInUseError);
    const { message } = refused as Error;
    expect(message).toContain(database.directory);
    expect(message).toContain(`process ${process.pid}`);
    expect(message).toContain('--data');
    await database.close();
  });

  test('a folder that was closed can be opened again, and nothing of a hold is left in it', async () => {
    await (await openDatabase(folder)).close();
    const again = await openDatabase(folder);
    await again.close();
    await again.close();
    expect(readdirSync(folder).filter((name) => /^(holder|starting)-/.test(name))).toEqual([]);
  });

  test('what a killed process left is taken over', async () => {
    const script = `require('node:net').createServer().listen(${JSON.stringify(join(folder, 'holder-1-abc'))}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', script]), 'exit');
    expect(readdirSync(folder)).toEqual(['holder-1-abc']);
    const database = await openDatabase(folder);
    expect(readdirSync(folder)).not.toContain('holder-1-abc');
    await expect(openDatabase(folder)).rejects.toBeInstanceOf(DataFolderInUseError);
    await database.close();
  });

  test('of many that start at once, at most one gets in', async () => {
    const tried = await Promise.allSettled(Array.from({ length: 6 }, () => openDatabase(folder)));
    const opened = tried.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(opened.length).toBeLessThanOrEqual(1);
    for (const each of tried) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(DataFolderInUseError);
    for (const database of opened) await database.close();
    await (await openDatabase(folder)).close();
  });

  test('a path longer than a socket address holds as well', async () => {
    const deep = join(folder, 'long-'.repeat(20), 'longer-'.repeat(20));
    const database = await openDatabase(deep);
    await expect(openDatabase(deep)).rejects.toBeInstanceOf(DataFolderInUseError);
    await database.close();
    await (await openDatabase(deep)).close();
  });

  test('where no folder can be, the message names it', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const place of [file, join(file, 'below')]) {
      const refused: unknown = await openDatabase(place).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DataFolderUnusableError);
      expect((refused as Error).message).toContain(place);
    }
  });

  test('where the store cannot be opened, the message names the folder, and the hold is given back', async () => {
    mkdirSync(join(folder, 'store.mdb'));
    for (let times = 0; times < 2; times += 1) {
      await expect(openDatabase(folder)).rejects.toBeInstanceOf(DataFolderUnusableError);
    }
  });
});

describe('the store', () => {
  test('a format of another version is refused by number and left as it is', async () => {
    await (await openDatabase(folder)).close();
    const raw = open<string, string>({ path: join(folder, 'store.mdb'), encoding: 'string' });
    await raw.put('format', '99');
    await raw.close();
    for (let times = 0; times < 2; times += 1) {
      const refused: unknown = await openDatabase(folder).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(UnknownStoreFormatError);
      expect((refused as Error).message).toContain('99');
    }
  });

  test('changes asked for at once see each other, and one that throws does not harm its neighbours', async () => {
    const database = await openDatabase(folder);
    const table = database.table('t');
    const increment = (): Promise<number> =>
      database.change(() => {
        const next = Number(table.get('n') ?? 0) + 1;
        table.putSync('n', String(next));
        return next;
      });
    const fault = new Error('refused');
    const outcomes = await Promise.allSettled([
      increment(),
      database.change(() => {
        throw fault;
      }),
      increment(),
    ]);
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: fault },
      { status: 'fulfilled', value: 2 },
    ]);
    expect(table.get('n')).toBe('2');
    await database.close();
  });

  test('closing writes what was asked for before, and what comes after is refused', async () => {
    const database = await openDatabase(folder);
    const table = database.table('t');
    const written = database.change(() => table.putSync('a', '1'));
    const closed = database.close();
    await expect(database.change(() => table.putSync('a', '2'))).rejects.toThrow(database.directory);
    await Promise.all([written, closed]);
    const again = await openDatabase(folder);
    expect(again.table('t').get('a')).toBe('1');
    await again.close();
  });

  test.each([
    [true, false],
    [false, true],
  ])('reopening keeps everything, whatever the durability (%s, then %s)', async (first, second) => {
    const job = aJob({ dueAt: NOON, payload: '[1.0]' });
    const run = aRun({ indexDueAt: NOON });
    const notification = aNotification();
    const code = { codeId: 'c', kind: 'job' as const, functionArn: 'arn' };
    const entry = { name: 'n', value: 'v', expiresAt: NOON + 1 };
    const clock = new HandClock(NOON);

    const database = await openDatabase(folder, { survivesPowerLoss: first });
    await Promise.all([
      new LocalJobStore(database, { shards: 4 }).put(job),
      new LocalRunStore(database, { shards: 4 }).put(run),
      new LocalNotificationStore(database).put(notification),
      new LocalCodeStore(database).put(code),
      new LocalControlStore(database, { clock }).put(entry),
    ]);
    await database.close();

    const again = await openDatabase(folder, { survivesPowerLoss: second });
    expect(await new LocalJobStore(again, { shards: 4 }).read(job.jobId)).toEqual(job);
    expect(await new LocalRunStore(again, { shards: 4 }).read(run.jobId, run.runId)).toEqual(run);
    expect(await new LocalNotificationStore(again).of(notification.jobId)).toEqual([notification]);
    expect(await new LocalCodeStore(again).read('c')).toEqual(code);
    expect(await new LocalControlStore(again, { clock }).read('n')).toEqual(entry);
    await again.close();
  });
});
