/** How fast the local system is: npx tsx bench/system.ts [--jobs N]. Prints figures; asserts nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemIds, systemRandom } from '../src/adapters/system';
import { openDatabase } from '../src/adapters/local/database';
import { LocalInvoker } from '../src/adapters/local/invoker';
import type { JobRequest, ScheduleRequest } from '../src/domain/job-request';
import { DEFAULT_MISFIRE } from '../src/domain/misfire';
import { DEFAULT_RETRY } from '../src/domain/retry-policy';
import { startEngine } from '../src/local/engine';
import { localPorts } from '../src/local/ports';
import { createJob } from '../src/operations/create-job';
import type { Invoker, Ports } from '../src/ports';

const CONCURRENCY = 10;
const jobsArgument = process.argv.indexOf('--jobs');
const JOBS = jobsArgument < 0 ? 10_000 : Number(process.argv[jobsArgument + 1]);

const request = (schedule: ScheduleRequest): JobRequest => ({
  tags: [],
  functionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:noop',
  schedule,
  payload: 'null',
  retry: DEFAULT_RETRY,
  misfire: DEFAULT_MISFIRE,
  timeoutSeconds: 60,
});

async function withSystem(
  invokerIn: (handlers: string, onStart: (dueAt: number) => void) => Invoker & { close?: () => Promise<void> },
  use: (
    ports: Ports,
    starts: { at: number; dueAt: number }[],
    started: (count: number) => Promise<void>,
  ) => Promise<void>,
) {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-bench-'));
  writeFileSync(join(directory, 'noop.js'), 'module.exports = () => null;\n');
  const starts: { at: number; dueAt: number }[] = [];
  let waiting = { count: Infinity, resolve: () => {} };
  const invoker = invokerIn(directory, (dueAt) => {
    starts.push({ at: Date.now(), dueAt });
    if (starts.length >= waiting.count) waiting.resolve();
  });
  const database = await openDatabase(join(directory, 'data'));
  const { ports } = localPorts(database, {
    clock: systemClock,
    ids: systemIds,
    random: systemRandom,
    invoker,
    journal: { transition: () => {}, note: () => {} },
    settings: {
      failedRetentionMs: 86_400_000,
      shards: 4,
      tickSeconds: 10,
      retentionMs: 86_400_000,
      allowedFunctions: ['*'],
    },
  });
  const engine = startEngine({ ports, concurrency: CONCURRENCY });
  await use(
    ports,
    starts,
    (count) =>
      new Promise((resolve) => {
        waiting = { count, resolve };
        if (starts.length >= count) resolve();
      }),
  );
  await engine.stop();
  await invoker.close?.();
  await database.close();
  rmSync(directory, { recursive: true, force: true });
}

const dueAtOf = (event: string) => Date.parse((JSON.parse(event) as { dueAt: string }).dueAt);

/** The code runs in a process of its own, as in `npm start`. */
const isolated = (handlers: string, onStart: (dueAt: number) => void) => {
  const invoker = new LocalInvoker({ handlersDirectory: handlers });
  return {
    invoke: (call: Parameters<Invoker['invoke']>[0]) => {
      onStart(dueAtOf(call.event));
      return invoker.invoke(call);
    },
    close: () => invoker.close(),
  };
};

/** The code is a function of this process, as it is for most queues in Node. */
const inProcess = (_: string, onStart: (dueAt: number) => void): Invoker => ({
  invoke: async ({ event }) => {
    onStart(dueAtOf(event));
    return { kind: 'returned', result: 'null' };
  },
});

const quantiles = (values: number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
};

async function endToEnd(name: string, invoker: Parameters<typeof withSystem>[0]) {
  await withSystem(invoker, async (ports, starts, started) => {
    const all = started(JOBS);
    const from = performance.now();
    for (let created = 0; created < JOBS; created += 1_000) {
      const some = Math.min(1_000, JOBS - created);
      await Promise.all(
        Array.from({ length: some }, () => createJob(systemIds.guid(), request({ kind: 'immediate' }), ports)),
      );
    }
    const createdMs = performance.now() - from;
    await all;
    const totalMs = performance.now() - from;
    console.log(
      `${name}: ${JOBS} no-op jobs end to end, ${CONCURRENCY} at a time: ${Math.round((JOBS / totalMs) * 1000)} jobs/s ` +
        `(created in ${Math.round(createdMs)} ms, the last one started after ${Math.round(totalMs)} ms)`,
    );
    if (starts.length !== JOBS) console.log(`  but ${starts.length} starts`);
  });
}

async function dueTogether(count: number) {
  await withSystem(inProcess, async (ports, starts, started) => {
    const delaySeconds = (Math.ceil(Date.now() / 1000) * 1000 + 3_000 - Date.now()) / 1000;
    const all = started(count);
    await Promise.all(
      Array.from({ length: count }, () => createJob(systemIds.guid(), request({ kind: 'delay', delaySeconds }), ports)),
    );
    await all;
    const late = starts.map(({ at, dueAt }) => at - dueAt);
    console.log(
      `${count} jobs due in one second: started after they were due: ${quantiles(late)}; earliest ${Math.min(...late)} ms`,
    );
  });
}

async function heartbeat(beats: number) {
  await withSystem(isolated, async (ports, starts, started) => {
    const every = { kind: 'expression', expression: 'rate(1 second)', timezone: 'UTC' } as const;
    await createJob(systemIds.guid(), request(every), ports);
    await started(beats);
    console.log(
      `a heartbeat each second, ${beats} beats: late ${quantiles(starts.map(({ at, dueAt }) => at - dueAt))}`,
    );
  });
}

async function main() {
  await endToEnd('handlers isolated', isolated);
  await endToEnd('handlers in the process', inProcess);
  await dueTogether(1_000);
  await heartbeat(15);
}

void main();
