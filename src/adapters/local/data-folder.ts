import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another process, or this one, has the data folder open. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';

  constructor(directory: string, holder: string) {
    super(
      `The data folder ${directory} is in use by ${holder}. Stop that one first, or start this one on another folder (--data DIR).`,
    );
  }
}

/** The data folder cannot be made or written to. */
export class DataFolderUnusableError extends Error {
  override readonly name = 'DataFolderUnusableError';

  constructor(directory: string, cause: unknown) {
    super(
      `The data folder ${directory} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}. ` +
        'Give a folder that this user may write to (--data DIR).',
      { cause },
    );
  }
}

export interface FolderHold {
  /** the folder's real path */
  directory: string;
  release(): Promise<void>;
}

const HOLDER = /^holder-(\d+)-[0-9a-f]+$/;
const STARTING = /^starting-(\d+)-[0-9a-f]+$/;

/**
 * Rivals that start in the same moment all step back and try again after a while of their own, so that one of them gets through;
 * a holder that has been there longer turns each of them away this many times.
 */
const TRIES = 4;
const STEP_BACK_MS = 40;

/**
 * Makes the folder and takes an exclusive hold on it that the kernel ends with the process, however that ends.
 *
 * A hold is a listening Unix socket in the folder, under a name that was never used before. Whoever wants in first shows its own, then
 * connects to all the others: one that answers is alive, and the newcomer steps back; one that refuses is what a killed process
 * left, and is removed. Since each shows itself before it looks, of two at once at least one sees the other; since no
 * name is used twice, nobody can remove a socket that came alive in between. It also holds between containers that share the folder.
 *
 * @throws DataFolderInUseError, DataFolderUnusableError
 */
export async function holdFolder(folder: string): Promise<FolderHold> {
  const directory = await makeFolder(folder);
  if (process.platform === 'win32') return holdByPipe(directory);
  let rival: string | undefined;
  for (let tried = 0; tried < TRIES; tried += 1) {
    if (tried > 0) await sleep(STEP_BACK_MS * (1 + Math.random()));
    const name = `${process.pid}-${randomBytes(6).toString('hex')}`;
    const server = await show(directory, name);
    if (server === undefined) continue;
    rival = await liveRival(directory, `holder-${name}`);
    if (rival === undefined) return { directory, release: () => release(server, join(directory, `holder-${name}`)) };
    await release(server, join(directory, `holder-${name}`));
  }
  throw new DataFolderInUseError(directory, rival === undefined ? 'another process' : `process ${rival}`);
}

async function makeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    return await realpath(folder);
  } catch (error) {
    throw new DataFolderUnusableError(folder, error);
  }
}

/**
 * Listens first and takes its name then: a name that can be found always has a listener, or had one.
 * Nothing when a rival took the socket, in the instant before it listened, for a dead one.
 */
async function show(directory: string, name: string): Promise<Server | undefined> {
  const startingPath = join(directory, `starting-${name}`);
  try {
    const server = await withShortPath(directory, (short) => listen(join(short, basename(startingPath))));
    try {
      await rename(startingPath, join(directory, `holder-${name}`));
      return server;
    } catch (error) {
      await release(server, startingPath);
      ignoreAbsent(error as NodeJS.ErrnoException);
      return undefined;
    }
  } catch (error) {
    throw new DataFolderUnusableError(directory, error);
  }
}

/** The process id in the name of a holder that is alive. Removes what dead ones left. */
async function liveRival(directory: string, own: string): Promise<string | undefined> {
  const names = await readdir(directory);
  const isAlive = (name: string): Promise<boolean> => withShortPath(directory, (short) => answers(join(short, name)));
  for (const name of names) {
    const pid = (HOLDER.exec(name) ?? STARTING.exec(name))?.[1];
    if (pid === undefined || name === own) continue;
    if (!(await isAlive(name))) await unlink(join(directory, name)).catch(ignoreAbsent);
    else if (HOLDER.test(name)) return pid;
  }
  return undefined;
}

async function release(server: Server, path: string): Promise<void> {
  await unlink(path).catch(ignoreAbsent);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      // The hold is not a reason for the process to stay.
      server.unref();
      resolve(server);
    });
  });
}

/** Whatever is not a plain refusal may be a living holder: one of another user, or one whose backlog is full. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}

/** What fits into `sun_path` everywhere: 104 bytes on macOS, 108 on Linux, less the longest name of a socket here. */
const LONGEST_FOLDER_BYTES = 103 - '/starting-4194304-0123456789ab'.length;

/** The address of a Unix socket may have about a hundred bytes; a symbolic link leads around that for as long as it is needed. */
async function withShortPath<T>(directory: string, use: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(directory) <= LONGEST_FOLDER_BYTES) return use(directory);
  const shelter = await mkdtemp(join(tmpdir(), 'e-'));
  try {
    const short = join(shelter, 'd');
    await symlink(directory, short);
    return await use(short);
  } finally {
    await rm(shelter, { recursive: true, force: true });
  }
}

/** On Windows there is no such socket, but the name of a pipe is exclusive and goes with its process. */
async function holdByPipe(directory: string): Promise<FolderHold> {
  const digest = createHash('sha256').update(directory.toLowerCase()).digest('hex');
  try {
    const server = await listen(`\\\\.\\pipe\\escapement-${digest}`);
    return { directory, release: () => new Promise((resolve) => server.close(() => resolve())) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw new DataFolderUnusableError(directory, error);
    throw new DataFolderInUseError(directory, 'another process');
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
