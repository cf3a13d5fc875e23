#!/usr/bin/env node
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { startLocalSystem } from '../src/local/system';
import { Terminal } from '../src/local/terminal';

const EXAMPLE_HANDLERS = join(__dirname, '../examples/handlers');

interface Options {
  port: number;
  data: string;
  handlers?: string;
  concurrency: number;
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

const program = new Command('escapement-local')
  .description(
    'Runs the whole of Escapement on this machine: scheduler, queues, runners and the HTTP API in one process.',
  )
  .option('--port <number>', 'port of the HTTP API on 127.0.0.1; 0 for any that is free', wholeNumber(0, 65_535), 4700)
  .option('--data <dir>', 'where jobs and their history are kept', '.escapement')
  .option('--handlers <dir>', 'your handlers, one file a function; without it the examples run')
  .option('--concurrency <number>', 'attempts side by side', wholeNumber(1, 1_000), 20)
  .option('--quiet', 'print nothing but the address')
  .option('--json', 'print one JSON object a line')
  .addHelpText(
    'after',
    '\nExamples:\n  npm start\n  npm start -- --port 0 --data ./my-data --handlers ./my-handlers\n\nCtrl-C stops it; what was at work is finished or runs again after the next start.',
  );

async function main() {
  const options = program.parse().opts<Options>();
  const terminal = new Terminal({
    mode: options.quiet ? 'quiet' : options.json ? 'json' : 'lines',
    hasColour: process.stdout.isTTY && !process.env['NO_COLOR'],
    write: (line) => process.stdout.write(`${line}\n`),
    now: () => Date.now(),
  });
  const system = await startLocalSystem({
    port: options.port,
    dataDirectory: options.data,
    handlersDirectory: options.handlers ?? EXAMPLE_HANDLERS,
    hasExamples: options.handlers === undefined,
    concurrency: options.concurrency,
    terminal,
    onListening: (url) => process.stdout.write(`listening on ${url}\n`),
  });

  let isStopping = false;
  const stop = async () => {
    if (isStopping) process.exit(130);
    isStopping = true;
    if (!options.quiet && !options.json)
      process.stdout.write('\nfinishing what is at work; Ctrl-C again to stop at once\n');
    const { abandoned } = await system.stop();
    if (abandoned > 0)
      process.stderr.write(`${abandoned} attempts were still at work; they run again after the next start\n`);
    process.exit(0);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());
}

main().catch((error: NodeJS.ErrnoException) => {
  const remedy =
    error.code === 'EADDRINUSE'
      ? 'The port is in use; choose another with --port, or --port 0 for any that is free.'
      : error.message;
  process.stderr.write(`${remedy}\n`);
  process.exit(1);
});
