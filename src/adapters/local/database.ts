import { accessSync, constants, existsSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TransactionFlags, open, type Database as Table, type RootDatabase } from 'lmdb';
import { NoRoomError } from '../../ports';
import { DataFolderUnusableError, holdFolder, type FolderHold } from './data-folder';
import { findDamage } from './store-check';

export { DataFolderInUseError, DataFolderUnusableError } from './data-folder';

/** The layout of what the tables hold. A change that older code cannot read gets the next number. */
const FORMAT = 1;

/** The folder holds a store that this version does not know. */
export class UnknownStoreFormatError extends Error {
  override readonly name = 'UnknownStoreFormatError';

  constructor(directory: string, found: string) {
    super(
      `The store in ${directory} has format ${found}, and this version reads format ${FORMAT} only. ` +
        'Use the version that wrote it, or start on another folder (--data DIR).',
    );
  }
}

/** The folder holds a store that is cut off or overwritten, or something else by its name. */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError';

  constructor(path: string, damage: string, options?: ErrorOptions) {
    super(
      `The store ${path} is damaged: ${damage}. It was left as it is. Put a copy of it from before in its place, ` +
        'or move it away to begin with an empty one, or start on another folder (--data DIR).',
      options,
    );
  }
}

/** The disk did not take a commit. Nothing of it is in the store, and everything before it is. */
export class StoreNotWrittenError extends Error {
  override readonly name = 'StoreNotWrittenError';

  constructor(directory: string, cause: unknown) {
    super(
      `The store in ${directory} could not be written: ${cause instanceof Error ? cause.message : String(cause)}. ` +
        'Look whether its disk is full, read-only or broken, then start again: all that was acknowledged is there.',
      { cause },
    );
  }
}

/**
 * Nothing is written while the disk has less room than this. A failed write may not be risked: lmdb 3.5.6 puts the text about it
 * into a buffer that is too short, and the process dies of it sooner or later. The largest request has 4 MiB; it is written with its
 * message, its indexes and what else shares the commit.
 */
const RESERVE_BYTES = 16 * 1024 * 1024;

export interface DatabaseOptions {
  /**
   * Whether the store stays sound when the machine, and not just the process, stops. Default true.
   *
   * Either way an answer is given once a commit has reached the system's page cache, which outlives a kill -9. With `true` it is
   * flushed before the answer, too: lmdb's overlapping sync defers that for its asynchronous writes only, and `change` commits
   * synchronously. With `false` nothing is ever flushed, and a power loss can tear the file: for tests and for measuring.
   *
   * Awaited commits a second, and rows a second in commits of ten, on a quiet virtual disk: true 1,500 and 12,000; false 47,000 and
   * 110,000.
   * So the cost is paid per commit and not per row, which is why all that is asked for meanwhile shares the next.
   */
  survivesPowerLoss?: boolean;
  /** Called when the disk ran out of room, and when it has some again. */
  onRoom?: (hasRoom: boolean) => void;
  /** Called when a commit failed. The process should end: nothing can be written any more, and it may crash. */
  onFault?: (fault: StoreNotWrittenError) => void;
}

/** Text under an ordered key. */
export type TextTable = Table<string, Key>;
export type Key = string | (string | number)[];

interface Change {
  apply: () => unknown;
  resolve: (outcome: never) => void;
  reject: (error: unknown) => void;
}

/**
 * The embedded store: tables of text under ordered keys, held by one process. What a process was told is written survives its kill -9.
 */
export class Database {
  readonly directory: string;
  readonly #root: RootDatabase<string, string>;
  readonly #hold: FolderHold;
  readonly #options: DatabaseOptions;
  readonly #tables = new Map<string, TextTable>();
  #pending: Change[] = [];
  #committing: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #hasRoom = true;
  #fault: StoreNotWrittenError | undefined;

  constructor(root: RootDatabase<string, string>, hold: FolderHold, options: DatabaseOptions) {
    this.directory = hold.directory;
    this.#root = root;
    this.#hold = hold;
    this.#options = options;
  }

  table(name: string): TextTable {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const table = this.#root.openDB<string, Key>(name, { encoding: 'string' });
    this.#tables.set(name, table);
    return table;
  }

  /**
   * Runs `apply` inside the next commit and answers what it returned once that is written. All that is asked for meanwhile
   * shares one commit, one after the other: each sees what those before it wrote.
   * @throws NoRoomError when the disk is full, StoreNotWrittenError: nothing was written
   * `apply` must check every condition before its first write: what it wrote before it threw would stay (lmdb does not roll back).
   */
  change<T>(apply: () => T): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(new Error(`The store in ${this.directory} is closed`));
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ apply, resolve, reject });
      this.#committing ??= this.#commitPending();
    });
  }

  /** Whether something that was asked for is still to be written. */
  get isBusy(): boolean {
    return this.#committing !== undefined;
  }

  /** Writes what was asked for so far and lets go of the folder. Calling it again is no error. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#committing;
      await this.#root.close();
      await this.#hold.release();
    })();
    return this.#closed;
  }

  async #commitPending(): Promise<void> {
    // The rest of this turn of the event loop may join the group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) {
      const group = this.#pending;
      this.#pending = [];
      await this.#commit(group);
    }
    this.#committing = undefined;
  }

  async #commit(group: readonly Change[]): Promise<void> {
    const answers: (() => void)[] = [];
    try {
      this.#checkRoom();
    } catch (error) {
      for (const change of group) change.reject(error);
      return;
    }
    const applyAll = (): void => {
      for (const change of group) {
        try {
          const outcome = change.apply();
          answers.push(() => change.resolve(outcome as never));
        } catch (error) {
          answers.push(() => change.reject(error));
        }
      }
    };
    try {
      if (isSound(this.#options)) this.#root.transactionSync(applyAll);
      else this.#root.transactionSync(applyAll, TransactionFlags.SYNCHRONOUS_COMMIT | TransactionFlags.NO_SYNC_FLUSH);
    } catch (error) {
      this.#fault = new StoreNotWrittenError(this.directory, error);
      for (const change of group) change.reject(this.#fault);
      this.#options.onFault?.(this.#fault);
      return;
    }
    for (const answer of answers) answer();
  }

  /** @throws StoreNotWrittenError after a fault, NoRoomError, DataFolderUnusableError when the store is not there any more */
  #checkRoom(): void {
    if (this.#fault) throw this.#fault;
    const hasRoom = freeBytes(this.directory) >= RESERVE_BYTES;
    if (hasRoom !== this.#hasRoom) {
      this.#hasRoom = hasRoom;
      this.#options.onRoom?.(hasRoom);
    }
    if (!hasRoom) throw noRoom(this.directory);
  }
}

const isSound = ({ survivesPowerLoss = true }: DatabaseOptions): boolean => survivesPowerLoss;

/** @throws DataFolderUnusableError */
function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch (error) {
    throw new DataFolderUnusableError(directory, error);
  }
}

function noRoom(directory: string): NoRoomError {
  return new NoRoomError(
    `The disk that holds ${directory} is full: nothing is stored while less than ${RESERVE_BYTES / 1024 ** 2} MB are free on it.`,
  );
}

/**
 * Opens the store in this folder, which is made if it is not there.
 * @throws DataFolderInUseError, DataFolderUnusableError, NoRoomError, StoreDamagedError, UnknownStoreFormatError
 */
export async function openDatabase(folder: string, options: DatabaseOptions = {}): Promise<Database> {
  const hold = await holdFolder(folder);
  const path = join(hold.directory, 'store.mdb');
  let root: RootDatabase<string, string> | undefined;
  try {
    if (freeBytes(hold.directory) < RESERVE_BYTES) throw noRoom(hold.directory);
    if (!existsSync(path)) await makeStore(path);
    refuseUnfit(path);
    root = openRoot(path, isSound(options));
    checkFormat(root, path);
    return new Database(root, hold, options);
  } catch (error) {
    await root?.close();
    await hold.release();
    throw error;
  }
}

/** A store gets its name when it is whole: whatever bears the name and is none was one, and was damaged. */
async function makeStore(path: string): Promise<void> {
  const newPath = path.replace(/store\.mdb$/, 'store-new.mdb');
  for (const left of [newPath, `${newPath}-lock`]) rmSync(left, { force: true });
  const root = openRoot(newPath, true);
  root.putSync('format', String(FORMAT));
  await root.close();
  rmSync(`${newPath}-lock`, { force: true });
  renameSync(newPath, path);
}

/** What lmdb would crash on. @throws StoreDamagedError, DataFolderUnusableError */
function refuseUnfit(path: string): void {
  let damage: string | undefined;
  try {
    for (const file of [path, `${path}-lock`]) if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    damage = findDamage(path);
  } catch (error) {
    throw new DataFolderUnusableError(dirname(path), error);
  }
  if (damage !== undefined) throw new StoreDamagedError(path, damage);
}

function openRoot(path: string, survivesPowerLoss: boolean): RootDatabase<string, string> {
  try {
    return open<string, string>({
      path,
      encoding: 'string',
      maxDbs: 64,
      noSync: !survivesPowerLoss,
      overlappingSync: survivesPowerLoss,
    });
  } catch (error) {
    throw new DataFolderUnusableError(dirname(path), error);
  }
}

function checkFormat(root: RootDatabase<string, string>, path: string): void {
  const found = root.get('format');
  if (found === undefined) throw new StoreDamagedError(path, 'it does not tell its format');
  if (found !== String(FORMAT)) throw new UnknownStoreFormatError(dirname(path), found);
}
