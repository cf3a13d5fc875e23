import { Command } from 'commander';
import { previewAnswer } from '../messages/preview-answer';
import { previewOf, type PreviewTexts } from '../messages/preview-request';
import { previewText } from './preview-text';
import type { Shell } from './shell';

type Options = Omit<PreviewTexts, 'expression'> & { json?: boolean };

const EXAMPLES = `
Examples:
  escapement next 'cron(0 9 ? * MON-FRI *)' --timezone Europe/London
  escapement next '*/15 * * * *' --count 10
  escapement next 'rate(90 minutes)' --anchor 2027-01-01T10:00:00Z
  escapement next '30 2 * * *' --timezone America/New_York --dst-gap run-after
  escapement next 'at(2027-07-15T09:30:15)' --timezone Europe/Paris --json

From a clone, write "npm run --silent escapement -- next ..." instead.`;

/** `escapement next`: what a schedule will do, before it does it. */
export function nextCommand(shell: Shell): Command {
  return new Command('next')
    .description('Tells when a schedule runs next, and what the clocks will do to it. Nothing is created.')
    .argument('<EXPRESSION>', 'cron(...), rate(...), at(...), Unix cron or an alias such as @daily; in quotes')
    .option('--timezone <zone>', 'IANA name whose clocks count, such as Europe/London (default: UTC)')
    .option('--from <instant>', 'show what comes after this, ISO 8601 with Z or an offset (default: now)')
    .option('--anchor <instant>', 'where the grid of a rate begins (default: --from, the first run a period later)')
    .option('--count <number>', 'how many, 1 to 1000 (default: 5)')
    .option('--dst-gap <what>', 'a local time that does not exist: skip, or run-after the gap (default: skip)')
    .option('--dst-overlap <which>', 'a local time that comes twice: first, second or both (default: first)')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action((expression: string, { json, ...options }: Options) => {
      const now = shell.now();
      const preview = previewOf({ ...options, expression }, now);
      shell.print(json ? `${JSON.stringify(previewAnswer(preview))}\n` : previewText(preview, now, shell.hasColour));
    });
}
