import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build, type Plugin } from 'esbuild';
import type { Asked, Lived } from './worker';

const ROOT = join(__dirname, '../..');

/** A fault of ours, planted in one source file: this text stands there once, and that is put in its place. */
export interface Mutation {
  name: string;
  file: string;
  text: string;
  becomes: string;
  /** a seed that found it once: worth to be tried first, and no promise */
  foundAt: number;
}

/** The planted text is not there, or more than once: the list has to follow the code. */
export class MisplacedMutationError extends Error {
  override readonly name = 'MisplacedMutationError';
}

export interface FleetOptions {
  histories: Iterable<Asked>;
  mutation?: Mutation;
  /** threads; default: as many as there are cores */
  threads?: number;
  /** hears of each history, in the order in which they end; false: no more are begun */
  onLived: (lived: Lived) => boolean | void;
}

/** Lives through histories side by side, with a fault of ours planted or none. */
export async function liveThroughAll(options: FleetOptions): Promise<void> {
  const { histories, mutation, threads = availableParallelism(), onLived } = options;
  const folder = mkdtempSync(join(tmpdir(), 'escapement-simulation-'));
  try {
    const program = join(folder, 'worker.js');
    await bundle(program, mutation);
    const left = histories[Symbol.iterator]();
    let isOver = false;
    const thread = async () => {
      const worker = new Worker(program);
      try {
        for (let next = left.next(); !isOver && !next.done; next = left.next()) {
          const lived = await new Promise<Lived>((resolve, reject) => {
            worker.once('message', resolve);
            worker.once('error', reject);
            worker.postMessage(next.value);
          });
          worker.removeAllListeners('error');
          if (onLived(lived) === false) isOver = true;
        }
      } finally {
        await worker.terminate();
      }
    };
    await Promise.all(Array.from({ length: threads }, thread));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(outfile: string, mutation: Mutation | undefined): Promise<void> {
  const planted: string[] = [];
  const plugin: Plugin = {
    name: 'mutation',
    setup(building) {
      building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!mutation || relative(ROOT, path) !== mutation.file) return undefined;
        planted.push(path);
        return { contents: plant(readFileSync(path, 'utf8'), mutation), loader: 'ts' };
      });
    },
  };
  await build({
    entryPoints: [join(__dirname, 'worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'silent',
    plugins: [plugin],
  });
  if (mutation && planted.length !== 1) {
    throw new MisplacedMutationError(`${mutation.name}: no part of the simulation reads ${mutation.file}`);
  }
}

export function plant(source: string, { name, file, text, becomes }: Mutation): string {
  const times = source.split(text).length - 1;
  if (times !== 1) throw new MisplacedMutationError(`${name}: ${file} has ${times} times ${JSON.stringify(text)}`);
  return source.replace(text, () => becomes);
}
