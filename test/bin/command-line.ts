import { runCommandLine } from '../../src/cli/command-line';

export interface Outcome {
  status: number;
  out: string;
  err: string;
}

/** The now of every command that is run here. */
export const NOW = Date.parse('2026-11-30T00:00:00Z');

/** Runs a command line in this process. */
export async function commandLine(args: readonly string[], hasColour = false): Promise<Outcome> {
  let out = '';
  let err = '';
  const status = await runCommandLine(args, {
    now: () => NOW,
    hasColour,
    print: (text) => (out += text),
    printError: (text) => (err += text),
  });
  return { status, out, err };
}

/** What `next --json` prints. */
export interface NextAnswer {
  expression: string;
  timezone: string;
  description: string;
  occurrences: string[];
  skipped: { localTime: string; gapAt: string }[];
  warnings: string[];
}

/** Runs `next --json` and reads its answer. @throws what it printed on standard error */
export async function nextOf(args: readonly string[]): Promise<NextAnswer> {
  const { status, out, err } = await commandLine(['next', '--json', ...args]);
  if (status !== 0 || err !== '') throw new Error(`status ${status}: ${err}`);
  return JSON.parse(out) as NextAnswer;
}
