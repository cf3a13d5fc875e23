import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { systemClock, systemIds, systemRandom } from '../adapters/system';
import { openDatabase, type StoreNotWrittenError } from '../adapters/local/database';
import { LocalInvoker } from '../adapters/local/invoker';
import { createApp } from '../http/app';
import { watchForSetBack } from './clock-watch';
import { startEngine } from './engine';
import { createExamples, pauseExamples, resumeExamples } from './examples';
import { localPorts } from './ports';
import type { Terminal } from './terminal';

const HOST = '127.0.0.1';
const SHARDS = 4;
const TICK_SECONDS = 10;
const DAY_MS = 86_400_000;
/** The 30 days of a deployment would be 2.6 million runs of one heartbeat each second, on the disk of a laptop. */
export const DEFAULT_RETENTION_DAYS = 3;
/** A state may have several subscribers, who are called side by side even where jobs run one at a time. */
const FEWEST_NOTIFIER_WORKERS = 4;
/** What is at work when the system is told to stop may go on so long; it runs again after the next start otherwise. */
const LONGEST_STOP_MS = 10_000;

export interface LocalSystem {
  /** Finishes what is at work, within bounds, and lets go of the data. Answers how many attempts it did not wait for. */
  stop(): Promise<{ abandoned: number }>;
}

/**
 * The whole system in one process: the store, the loop, the consumers and the HTTP API.
 * @throws HandlersFolderError; DataFolderInUseError and its siblings when the folder cannot be had; an error with code
 * EADDRINUSE for the port
 */
export async function startLocalSystem(options: {
  /** 0: any that is free */
  port: number;
  dataDirectory: string;
  handlersDirectory: string;
  hasExamples: boolean;
  /** attempts side by side */
  concurrency: number;
  /** how long finished runs are kept; may be a fraction */
  retentionDays: number;
  terminal: Terminal;
  /** called as soon as requests are answered, before the first job runs */
  onListening: (url: string) => void;
  /** called when the store can be written no more: the process should end */
  onFault: (fault: StoreNotWrittenError) => void;
}): Promise<LocalSystem> {
  const { terminal, concurrency } = options;
  const variables: Record<string, string> = {};
  const invokerFor = (maxWorkers: number) =>
    new LocalInvoker({
      handlersDirectory: options.handlersDirectory,
      maxWorkers,
      variables: () => variables,
      onLog: (line, from) => terminal.output(from.functionName, line),
    });
  const invoker = invokerFor(concurrency);
  const notifierInvoker = invokerFor(Math.max(concurrency, FEWEST_NOTIFIER_WORKERS));
  invoker.functions();
  const database = await openDatabase(options.dataDirectory, {
    onRoom: (hasRoom) => terminal.note(hasRoom ? 'disk-has-room' : 'disk-full', { folder: options.dataDirectory }),
    onFault: options.onFault,
  });
  const letGo = async () => {
    await Promise.all([invoker.close(), notifierInvoker.close()]);
    await database.close();
  };
  try {
    const local = localPorts(database, {
      clock: systemClock,
      ids: systemIds,
      random: systemRandom,
      invoker,
      journal: terminal,
      settings: {
        shards: SHARDS,
        tickSeconds: TICK_SECONDS,
        retentionMs: options.retentionDays * DAY_MS,
        failedRetentionMs: options.retentionDays * DAY_MS,
        allowedFunctions: ['*'],
      },
    });
    const left = await local.takeOver();
    if (left.runs + left.messages > 0) terminal.note('taken-over', left);
    // The port is bound before anything runs: who cannot have it has changed nothing.
    const server = serve({
      fetch: createApp({ ports: local.ports, isLocal: true }).fetch,
      port: options.port,
      hostname: HOST,
    });
    await once(server, 'listening');
    const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
    variables['ESCAPEMENT_API_URL'] = url;
    options.onListening(url);
    if (options.hasExamples) await resumeExamples(local.ports);
    else await pauseExamples(local.ports);
    const engine = startEngine({ ports: local.ports, notifierInvoker, concurrency, removeExpired: local.sweepExpired });
    const stopWatch = watchForSetBack(systemClock, () => {
      terminal.note('clock-set-back', {});
      engine.clockWasSetBack();
    });
    if (options.hasExamples) await createExamples(local.ports);

    return {
      async stop() {
        stopWatch();
        const closed = new Promise((resolve) => server.close(resolve));
        if ('closeAllConnections' in server) server.closeAllConnections();
        const over = new AbortController();
        const stopped = engine.stop().then(() => over.abort());
        await systemClock.waitUntil(systemClock.now() + LONGEST_STOP_MS, over.signal);
        const abandoned = over.signal.aborted ? 0 : engine.active();
        if (abandoned === 0) await stopped;
        await closed;
        await letGo();
        return { abandoned };
      },
    };
  } catch (error) {
    await letGo();
    throw error;
  }
}
