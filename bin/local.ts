#!/usr/bin/env node
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { Interrupts } from '../src/local/interrupts';
import { LineWriter } from '../src/local/line-writer';
import { DEFAULT_RETENTION_DAYS, startLocalSystem } from '../src/local/system';
import { Terminal } from '../src/local/terminal';

const EXAMPLE_HANDLERS = join(__dirname, '../examples/handlers');

interface Options {
  port: number;
  data: string;
  handlers?: string;
  concurrency: number;
  retentionDays: number;
  quiet?: boolean;
  json?: boolean;
}

function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

function folder(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a folder, or leave the option out.');
}

const program = new Command('escapement-local')
  .description(
    'Runs the whole of Escapement on this machine: scheduler, queues, runners and the HTTP API in one process.',
  )
  .option('--port <number>', 'port of the HTTP API on 127.0.0.1; 0 for any that is free', wholeNumber(0, 65_535), 4700)
  .option('--data <dir>', 'where jobs and their history are kept', folder, '.escapement')
  .option('--handlers <dir>', 'your handlers, one file a function; without it the examples run', folder)
  .option('--concurrency <number>', 'attempts side by side', wholeNumber(1, 1_000), 20)
  .option(
    '--retention-days <number>',
    'how long the record of a finished run is kept',
    wholeNumber(1, 365),
    DEFAULT_RETENTION_DAYS,
  )
  .option('--quiet', 'print nothing but the address')
  .option('--json', 'after the line with the address, print one JSON object a line')
  .addHelpText(
    'after',
    '\nExamples:\n  npm start\n  npm start -- --port 0 --data ./my-data --handlers ./my-handlers\n\nCtrl-C stops it; what was at work is finished or runs again after the next start.',
  );

async function main() {
  const options = program.parse().opts<Options>();
  const output = new LineWriter(process.stdout);
  process.on('exit', () => output.flush());
  let stop = async () => process.exit(0);
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // Whoever read the output has gone, as `head` does: nobody is left to say anything to.
    if (code === 'EPIPE') return void stop();
    output.drop();
    process.stderr.write(`The output is lost from here on, and the jobs go on: ${message}\n`);
  });
  process.stderr.on('error', () => {});

  const terminal = new Terminal({
    mode: options.quiet ? 'quiet' : options.json ? 'json' : 'lines',
    hasColour: Boolean(process.stdout.isTTY) && !process.env['NO_COLOR'],
    write: (line) => output.write(line),
    now: () => Date.now(),
  });
  const system = await startLocalSystem({
    port: options.port,
    dataDirectory: options.data,
    handlersDirectory: options.handlers ?? EXAMPLE_HANDLERS,
    hasExamples: options.handlers === undefined,
    concurrency: options.concurrency,
    retentionDays: options.retentionDays,
    terminal,
    onListening: (url) => output.write(`listening on ${url}`),
    onFault: ({ message }) => {
      process.stderr.write(`${message}\n`);
      process.exit(1);
    },
  });

  let stopping: Promise<never> | undefined;
  stop = () =>
    (stopping ??= system.stop().then(({ abandoned }) => {
      if (abandoned > 0)
        process.stderr.write(`${abandoned} attempts were still at work; they run again after the next start\n`);
      process.exit(0);
    }));
  const interrupts = new Interrupts();
  const interrupted = () => {
    switch (interrupts.next(Date.now())) {
      case 'finish':
        if (!options.quiet && !options.json) output.write('\nfinishing what is at work; Ctrl-C again to stop at once');
        void stop();
        break;
      case 'stop-at-once':
        process.exit(130);
        break;
      case 'ignore':
        break;
    }
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
}

main().catch((error: NodeJS.ErrnoException) => {
  const remedy =
    error.code === 'EADDRINUSE'
      ? 'The port is in use; choose another with --port, or --port 0 for any that is free.'
      : error.message;
  process.stderr.write(`${remedy}\n`);
  process.exit(1);
});
