#!/usr/bin/env node
import { runCommandLine } from '../src/cli/command-line';

// Whoever reads us may have heard enough (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

void runCommandLine(process.argv.slice(2), {
  now: () => Date.now(),
  hasColour: Boolean(process.stdout.isTTY) && !process.env['NO_COLOR'],
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
}).then((status) => (process.exitCode = status));
