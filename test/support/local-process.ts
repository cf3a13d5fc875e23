import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(__dirname, '../..');

/** A line of the system's `--json` output. */
export interface Line {
  event: string;
  [field: string]: unknown;
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

  /** Resolves once it listens. @throws what it printed on standard error, when it ends before that */
  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<LocalProcess> {
    const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'bin/local.ts'), '--port', '0', ...args], {
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
        else reject(new Error(`it ended with ${code}: ${errors}`));
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
