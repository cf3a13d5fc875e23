import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export const VERSION = '1.5.33';
export const ROOT = join(__dirname, '../..');
/** Ignored by git: the virtual environment, what the emulator and the CDK print. */
export const FOLDER = join(ROOT, '.stack-test');

/** Something that this test needs is not on this machine: no fault of the stack. */
export class MissingError extends Error {
  override readonly name = 'MissingError';
}

/** Asks for the emulator, and installs it where it is not there yet. @throws MissingError with what is missing and how to get it */
export function installEmulator(): string {
  mkdirSync(FOLDER, { recursive: true });
  const environment = join(FOLDER, 'python');
  const python = join(environment, 'bin', 'python');
  if (!existsSync(python)) {
    const version = run('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']).trim();
    if (!isNewEnough(version))
      throw new MissingError(`Python 3.10 or newer is needed, python3 is ${version || 'missing'}`);
    if (spawnSync('python3', ['-m', 'venv', environment]).status !== 0) {
      throw new MissingError('python3 -m venv does not work; on Debian: apt-get install python3-venv');
    }
  }
  const installed = run(python, ['-m', 'pip', 'show', '--disable-pip-version-check', 'ministack']);
  if (!installed.includes(`Version: ${VERSION}`)) {
    const { status, stderr } = spawnSync(
      python,
      ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `ministack==${VERSION}`],
      { encoding: 'utf8', timeout: 180_000 },
    );
    if (status !== 0) throw new MissingError(`ministack ${VERSION} cannot be installed: ${lastLine(stderr)}`);
  }
  return join(environment, 'bin', 'ministack');
}

/** `3.9` is older than `3.10`. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 10);
}

export interface Emulator {
  url: string;
  /** Ends it with all that it started. */
  stop(): Promise<void>;
}

/** Starts the emulator on a free port of this machine; its log is `emulator.log` in the folder. */
export async function startEmulator(program: string): Promise<Emulator> {
  const port = await freePort();
  const log = openSync(join(FOLDER, 'emulator.log'), 'w');
  const child = spawn(program, [], {
    // A group of its own, so that the workers which run the functions end with it.
    detached: true,
    stdio: ['ignore', log, log],
    cwd: FOLDER,
    env: {
      ...process.env,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  });
  closeSync(log);
  const url = `http://127.0.0.1:${port}`;
  const emulator = { url, stop: () => endGroup(child) };
  try {
    await untilHealthy(url, child);
  } catch (error) {
    await emulator.stop();
    throw error;
  }
  return emulator;
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 120 && child.exitCode === null; tries++) {
    const answer = await fetch(`${url}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) return;
    await wait(500);
  }
  throw new Error('the emulator did not start; see .stack-test/emulator.log');
}

async function endGroup(child: ChildProcess): Promise<void> {
  const ended =
    child.exitCode !== null || child.signalCode !== null ? undefined : new Promise((end) => child.once('exit', end));
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      return;
    }
    await Promise.race([ended, wait(5_000, undefined, { ref: false })]);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function run(program: string, args: string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout ?? '';
}

function lastLine(text: string | null): string {
  return (text ?? '').trim().split('\n').at(-1) ?? '';
}
