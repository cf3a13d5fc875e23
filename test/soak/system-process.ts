import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Line } from './account';
import type { Measures } from './measures';

const ROOT = join(__dirname, '../..');

export interface SystemOptions {
  dataDirectory: string;
  retentionSeconds: number;
  concurrency: number;
  hear: (line: Line) => void;
}

/** The local system as a process of its own, which can be asked what it holds. */
export class SystemProcess {
  readonly url: string;
  /** resolves with its exit status once it is gone; null when a signal ended it */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #errors: string[];

  private constructor(child: ChildProcess, url: string, ended: Promise<number | null>, errors: string[]) {
    this.#child = child;
    this.url = url;
    this.ended = ended;
    this.#errors = errors;
  }

  /** Resolves once it listens. @throws what it printed on standard error, when it ends before that */
  static async start({ dataDirectory, retentionSeconds, concurrency, hear }: SystemOptions): Promise<SystemProcess> {
    const child = spawn(
      process.execPath,
      [
        ...['--expose-gc', '--import', 'tsx', join(__dirname, 'system.ts')],
        ...[dataDirectory, join(__dirname, 'handlers'), String(retentionSeconds), String(concurrency)],
      ],
      { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
    const errors: string[] = [];
    child.stderr!.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
    return new Promise((resolve, reject) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        const listening = /^listening on (\S+)$/.exec(line);
        if (listening) resolve(new SystemProcess(child, listening[1]!, ended, errors));
        else hear(JSON.parse(line) as Line);
      });
      void ended.then((code) => reject(new Error(`the system ended with ${code}: ${errors.join('')}`)));
    });
  }

  /** What it printed on standard error. */
  get errors(): string {
    return this.#errors.join('');
  }

  /** After a full collection. One at a time. @throws when it ends before it answers */
  async measure(): Promise<Measures> {
    const answer = new Promise<Measures>((resolve) =>
      this.#child.once('message', (message) => resolve(message as Measures)),
    );
    this.#child.send('measure');
    const gone = this.ended.then((code) => {
      throw new Error(`the system ended with ${code}: ${this.errors}`);
    });
    return Promise.race([answer, gone]);
  }

  /** @returns its exit status: 0 when everything at work was over in time, null when the signal ended it */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.ended;
  }
}
