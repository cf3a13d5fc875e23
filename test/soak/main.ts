/** Mixed load on the local system, from the outside, for minutes: nothing may be lost, and nothing may grow that ought not to. */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as timer } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { Account } from './account';
import { Background } from './background';
import { Client } from './client';
import { countsText, sumOf, whole } from './counts';
import { lookThrough, type Leftovers } from './leftovers';
import { playLoad } from './load';
import { entriesOf, judgedOf, type Look } from './looks';
import { HEAD, judge, megabytes, tableText } from './report';
import { sizeOfStore } from './store-size';
import { SystemProcess } from './system-process';

interface Options {
  minutes: number;
  seed: number;
  data?: string;
  jobsPerSecond: number;
  retentionSeconds: number;
  concurrency: number;
}

/**
 * What is sent ahead may lie in a queue for the horizon of 130 s: its job must not be past its retention when it comes. Nobody else
 * has so short a retention, a day is the shortest that can be asked for.
 */
const RETENTION_SECONDS = 150;
/** A sweep comes ten times in a retention, and a chain is kept for a few seconds more. */
const SETTLED_AFTER_RETENTIONS = 1.4;
/** What still is on its way when the load is over has so long to end: a run that is held back often waits half a minute. */
const LONGEST_DRAIN_MS = 180_000;
/** The sweep of a store of this size takes milliseconds; on a busy machine it may wait for its turn. */
const SWEEP_LATE_MS = 10_000;
const LOOKS_PER_SOAK = 60;
const TOLD_EACH_MS = { terminal: 2_000, lines: 10_000 };
const MOST_FAULTS_TOLD = 20;

/** Notes of the journal of what must not happen where nothing dies and nothing is cut off. */
const WRONG_NOTES = [
  'dead-letters-not-sent-again',
  'dead-letters-sent-again',
  'hold-not-released',
  'job-not-dispatched',
  'lease-not-renewed',
  'message-left',
  'message-not-removed',
  'next-not-found',
  'not-notified',
  'notice-left',
  'part-dropped',
  'part-not-found',
  'queue-not-read',
  'request-failed',
  'sweep-failed',
  'tick-failed',
  'unique-key-not-freed',
  'visibility-not-renewed',
  'visibility-not-set',
];

function number(least: number, most: number, isWhole: boolean) {
  return (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`It must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`);
  };
}

function readOptions(): Options {
  return new Command('soak')
    .description(
      'Runs the local system under a mixed load and looks whether anything is lost or grows: jobs, memory, file handles, the store.',
    )
    .option('--minutes <number>', 'how long the load lasts', number(0.5, 1_440, false), 1)
    .option(
      '--seed <number>',
      'another seed plays another load; the same one plays the same again',
      number(0, 2 ** 31, true),
      1,
    )
    .option('--jobs-per-second <number>', 'how many jobs are made', number(1, 1_000, false), 50)
    .option(
      '--retention-seconds <number>',
      'how long the system keeps what is over',
      number(RETENTION_SECONDS, 86_400, true),
      RETENTION_SECONDS,
    )
    .option('--concurrency <number>', 'attempts side by side', number(1, 100, true), 8)
    .option('--data <dir>', 'keeps the store there; without it in a folder that is removed afterwards')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run soak -- --minutes 10\n  npm run soak -- --minutes 1 --seed 7 --jobs-per-second 20\n\nWhether the store is bounded can be told from 7 minutes on: it must have been full for half of the load.\nIt ends with 0 when all is well, with 1 and a sentence when something was lost or grew.',
    )
    .parse()
    .opts<Options>();
}

async function main(): Promise<number> {
  const options = readOptions();
  const { minutes, seed, jobsPerSecond, concurrency, retentionSeconds } = options;
  const loadMs = minutes * 60_000;
  const directory = options.data ?? mkdtempSync(join(tmpdir(), 'escapement-soak-'));
  const over = new AbortController();
  // Each scenario waits for itself.
  setMaxListeners(0, over.signal);
  const wait = (ms: number) => timer(ms, undefined, { signal: over.signal }).catch(() => {});

  const account = new Account();
  const hear = (line: Parameters<Account['hear']>[0]) => account.hear(line);
  const system = await SystemProcess.start({ dataDirectory: directory, retentionSeconds, concurrency, hear });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      over.abort();
      void system.stop('SIGKILL').then(() => process.exit(130));
    });
  const client = new Client(system.url);
  const startedAt = performance.now();
  const looks: Look[] = [];
  const look = async () => {
    const [measures, store] = [await system.measure(), await sizeOfStore(directory)];
    looks.push({ atMs: performance.now() - startedAt, measures, store });
  };

  console.log(
    `${minutes} minutes of ${jobsPerSecond} jobs a second, seed ${seed}, retention ${retentionSeconds} s, ${concurrency} attempts side by side`,
  );
  const background = new Background(client, account, wait);
  await background.start(loadMs);
  const looking = eachWhile(loadMs / LOOKS_PER_SOAK, wait, over.signal, look);
  const telling = eachWhile(TOLD_EACH_MS[process.stdout.isTTY ? 'terminal' : 'lines'], wait, over.signal, async () =>
    tell(account, looks.at(-1), performance.now() - startedAt),
  );

  const { played, all } = await playLoad({
    seed,
    jobsPerSecond,
    forMs: loadMs,
    client,
    account,
    wait,
    over: over.signal,
  });
  await looking.stop();
  await background.stop();
  const left = await drained(account, wait);
  over.abort();
  await all;
  await telling.stop();
  await background.finish().catch((error: Error) => account.fault(error.message));
  const exitCode = await system.stop();
  client.close();
  const stoppedAt = Date.now();
  const overdueBefore = stoppedAt - retentionSeconds * 100 - SWEEP_LATE_MS;
  const leftovers = await lookThrough({
    directory,
    now: stoppedAt,
    overdueBefore,
    stateOf: (runId) => account.stateOf(runId),
  });
  if (options.data === undefined) rmSync(directory, { recursive: true, force: true });

  const verdicts = judgedOf(looks, loadMs / 2 >= retentionSeconds * SETTLED_AFTER_RETENTIONS * 1_000).map(judge);
  const wrongNotes = WRONG_NOTES.filter((name) => account.notes[name] !== undefined);
  const faults = [
    ...left,
    ...account.faults(),
    ...verdicts.flatMap(({ fault }) => fault ?? []),
    ...leftovers.faults,
    ...wrongNotes.map((name) => `the journal has ${account.notes[name]} notes ${name}`),
    ...deadLetters(leftovers),
    ...(exitCode === 0 ? [] : [`the system ended with ${exitCode}`]),
    ...(system.errors === '' ? [] : [`the system said on standard error: ${system.errors.slice(0, 500)}`]),
  ];

  console.log(`\n${tableText([HEAD, ...verdicts.map(({ row }) => row)])}\n`);
  const { acknowledged, runs, states, calls, notices, noticesTwice } = account.totals();
  const lastLook = looks.at(-1)!;
  const rows = [
    ['jobs', `${whole(acknowledged)} acknowledged; ${whole(runs)} runs: ${countsText(states)}`],
    [
      'code',
      `${whole(calls)} calls; ${whole(notices)} notices, ${noticesTwice} of them more than once; ${whole(background.replies)} replies`,
    ],
    ['requests', `${whole(client.requests)}, the slowest ${Math.round(client.slowestMs)} ms`],
    ['scenarios', countsText(played)],
    ['journal', countsText(account.notes)],
    ['memory', `${megabytes(lastLook.measures.rss)} resident at the end`],
    ['handles', countsText(lastLook.measures.descriptors)],
    ['resources', countsText(lastLook.measures.resources)],
    [
      'store',
      `${megabytes(lastLook.store.fileBytes)}, of which ${megabytes(lastLook.store.usedBytes)} in use: ${countsText(lastLook.store.entries)}`,
    ],
    [
      'control',
      Object.entries(leftovers.control)
        .map(([kind, { count, hours }]) => `${count} ${kind} (${hours} h)`)
        .join(', '),
    ],
    ['messages left', countsText(leftovers.messages)],
  ];
  console.log(tableText(rows));
  for (const fault of faults.slice(0, MOST_FAULTS_TOLD)) console.log(`✗ ${fault}`);
  if (faults.length > MOST_FAULTS_TOLD) console.log(`✗ and ${faults.length - MOST_FAULTS_TOLD} more`);
  console.log(faults.length === 0 ? '\nNothing was lost, and nothing grew.' : `\n${verdictText(faults)}`);
  return faults.length === 0 ? 0 : 1;
}

function verdictText([first, ...others]: readonly string[]): string {
  return `Something was lost or grew: ${first}${others.length === 0 ? '' : `, and ${others.length} more`}.`;
}

/** Waits until all is as it should be. @returns what is not, when it took too long */
async function drained(account: Account, wait: (ms: number) => Promise<void>): Promise<string[]> {
  const until = performance.now() + LONGEST_DRAIN_MS;
  while (!account.unsettled().next().done && performance.now() < until) await wait(500);
  return [...account.unsettled()];
}

function deadLetters({ messages }: Leftovers): string[] {
  return Object.entries(messages).flatMap(([queue, count]) =>
    queue.endsWith('-dead') ? [`${count} messages lie in ${queue}`] : [],
  );
}

/** Does this again and again. Whatever it throws ends everything. */
function eachWhile(ms: number, wait: (ms: number) => Promise<void>, over: AbortSignal, work: () => Promise<void>) {
  let goesOn = true;
  const going = (async () => {
    while (goesOn && !over.aborted) {
      await work();
      await wait(ms);
    }
  })();
  return {
    stop: () => {
      goesOn = false;
      return going;
    },
  };
}

async function tell(account: Account, look: Look | undefined, elapsedMs: number): Promise<void> {
  if (!look) return;
  const { acknowledged, runs, over } = account.totals();
  const held = `heap ${megabytes(look.measures.heapUsed)}, ${sumOf(look.measures.descriptors)} handles, store ${megabytes(look.store.fileBytes)} (${whole(entriesOf(look))} entries)`;
  const line = `${String(Math.round(elapsedMs / 1_000)).padStart(5)} s  ${whole(acknowledged)} jobs acknowledged, ${whole(over)} of ${whole(runs)} runs over, ${held}`;
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}`);
  else console.log(line);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`The soak itself failed: ${(error as Error).message}`);
    process.exit(1);
  },
);
