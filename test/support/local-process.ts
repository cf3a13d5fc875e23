import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(__dirname, '../..');

/** A line of the system's `--json` output. */
export interface Line {
  event: string;
  [field: string]: unknown;
}

export interface Launch {
  env?: NodeJS.ProcessEnv;
  /** what Node is given before the script */
  nodeArgs?: readonly string[];
  /** a command that ends in starting the command that it is given: a shell with a limit, another user */
  through?: readonly string[];
}

/** It ended before it listened. */
export class Refusal extends Error {
  /** null when a signal ended it */
  readonly code: number | null;
  /** what it printed on standard error */
  readonly errors: string;

  constructor(code: number | null, errors: string) {
    super(`it ended with ${code}: ${errors}`);
    this.code = code;
    this.errors = errors;
  }
}

/** The local system as a real process of its own, on any free port. */
export class LocalProcess {
  readonly url: string;
  readonly lines: Line[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #errors = '';
  #heard = () => {};

  private constructor(child: ChildProcess, url: string, ended: Promise<number | null>) {
    this.#child = child;
    this.url = url;
    this.#ended = ended;
  }

  /** Resolves once it listens. @throws Refusal when it ends before that */
  static async start(args: readonly string[], launch: Launch = {}): Promise<LocalProcess> {
    const { env = {}, nodeArgs = [], through = [] } = launch;
    const script = ['--import', 'tsx', ...nodeArgs, join(ROOT, 'bin/local.ts'), '--port', '0', ...args];
    const [command, ...rest] = [...through, process.execPath, ...script];
    const child = spawn(command!, rest, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    return new Promise((resolve, reject) => {
      let system: LocalProcess | undefined;
      createInterface({ input: child.stdout }).on('line', (line) => {
        const listening = /^listening on (\S+)$/.exec(line);
        if (listening) {
          system = new LocalProcess(child, listening[1]!, ended);
          resolve(system);
        } else if (system) {
          system.#hear(line);
        }
      });
      void ended.then((code) => {
        if (system) system.#errors = errors;
        else reject(new Refusal(code, errors));
      });
    });
  }

  /** Resolves with the first line, past or to come, that passes; rejects when the process ends before. */
  async line(passes: (line: Line, all: readonly Line[]) => boolean): Promise<Line> {
    for (let looked = 0; ;) {
      for (; looked < this.lines.length; looked++) {
        const line = this.lines[looked]!;
        if (passes(line, this.lines.slice(0, looked + 1))) return line;
      }
      const code = await Promise.race([
        new Promise<undefined>((resolve) => (this.#heard = () => resolve(undefined))),
        this.#ended,
      ]);
      if (code !== undefined && looked === this.lines.length) throw new Error(`it ended with ${code}: ${this.#errors}`);
    }
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as never };
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves once it has ended by itself or by a signal, with its exit status or null. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  /** @returns its exit status, null when the signal ended it */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }

  get errors(): string {
    return this.#errors;
  }

  #hear(line: string) {
    this.lines.push(line.startsWith('{') ? (JSON.parse(line) as Line) : { event: 'text', line });
    this.#heard();
  }
}
