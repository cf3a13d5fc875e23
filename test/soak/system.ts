/**
 * The local system as `npm start` runs it, but with a retention of seconds, and with an answer over IPC to whoever asks what it holds.
 * Arguments: data folder, handlers folder, retention in seconds, attempts side by side. To be run with --expose-gc.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { LineWriter } from '../../src/local/line-writer';
import { startLocalSystem } from '../../src/local/system';
import { Terminal } from '../../src/local/terminal';
import { countBy } from './counts';
import type { Measures } from './measures';

const DAY_SECONDS = 86_400;

function measure(): Measures {
  globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = countBy(process.getActiveResourcesInfo());
  return { heapUsed, external, rss, descriptors: countBy(openFiles()), processes: children(), resources };
}

/** What the descriptors of this process stand for. The one that lists them is not counted. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${number}`);
      return [/^(\w+):/.exec(target)?.[1] ?? 'file'];
    } catch {
      return [];
    }
  });
}

function children(): number {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return pids.split(' ').filter((pid) => pid !== '').length;
}

async function main(): Promise<void> {
  const [dataDirectory, handlersDirectory, retentionSeconds, concurrency] = process.argv.slice(2);
  const output = new LineWriter(process.stdout);
  process.on('exit', () => output.flush());
  const write = (line: string) => output.write(line);
  const system = await startLocalSystem({
    port: 0,
    dataDirectory: dataDirectory!,
    handlersDirectory: handlersDirectory!,
    hasExamples: false,
    concurrency: Number(concurrency),
    retentionDays: Number(retentionSeconds) / DAY_SECONDS,
    terminal: new Terminal({ mode: 'json', hasColour: false, write, now: () => Date.now() }),
    onListening: (url) => output.write(`listening on ${url}`),
    onFault: ({ message }) => {
      process.stderr.write(`${message}\n`);
      process.exit(1);
    },
  });
  process.on('message', () => process.send!(measure()));
  const stop = () =>
    void system.stop().then(({ abandoned }) => {
      process.exit(abandoned === 0 ? 0 : 1);
    });
  process.once('SIGTERM', stop);
  // Whoever asked is gone: there is nobody to run for.
  process.once('disconnect', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
