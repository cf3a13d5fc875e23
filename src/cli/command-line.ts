import { Command, CommanderError } from 'commander';
import { InputError, type FieldError } from '../domain/errors';
import { nextCommand } from './next';
import type { Shell } from './shell';

/** What was typed is wrong. */
const WRONG_INPUT = 2;

/** Carries out one command line. @returns the exit status: 0, or 2 with one message on standard error when the input is wrong */
export async function runCommandLine(args: readonly string[], shell: Shell): Promise<number> {
  const program = new Command('escapement')
    .description('A job scheduler and job queue for AWS that also runs whole on a laptop.')
    .addCommand(nextCommand(shell));
  for (const command of [program, ...program.commands]) {
    command
      .helpOption('-h, --help', 'show this')
      .exitOverride()
      .configureOutput({ writeOut: (text) => shell.print(text), writeErr: () => {} });
  }
  program.helpCommand('help [command]', 'show the help of a command');
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const message = error instanceof CommanderError ? usageMessage(error) : inputMessage(error);
    if (message === undefined) return 0;
    shell.printError(`error: ${message}\n`);
    return WRONG_INPUT;
  }
}

/** undefined where nothing is wrong, but help was asked for */
function usageMessage({ code, exitCode, message }: CommanderError): string | undefined {
  if (exitCode === 0) return undefined;
  const text = visible(message.replace(/^error: /, '').replace('\n(', ' ('));
  switch (code) {
    case 'commander.excessArguments':
      return `${text} Put the expression in quotes: escapement next '0 9 * * MON-FRI'`;
    case 'commander.missingArgument':
      return `${text}: write for example escapement next 'cron(0 9 * * ? *)'`;
    case 'commander.unknownOption': {
      // An expression, rather than an option, where it has blanks.
      const word = /'(.*)'/s.exec(text)?.[1] ?? '';
      if (/\s/.test(word))
        return `expression: "${word}" begins with "-", as none does: write for example 0 9 * * MON-FRI`;
      return `${text}; see escapement next --help`;
    }
    default:
      return text;
  }
}

/** One line for each wrong word. */
function inputMessage(error: unknown): string {
  if (!(error instanceof InputError)) throw error;
  return error.errors.map(({ field, message }) => `${wordOf(field)}: ${visible(message)}`).join('\n       ');
}

/** What was typed is shown, but shall neither break the line nor move the cursor. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** `dstGap` is `--dst-gap` here. */
function wordOf(field: FieldError['field']): string {
  return field === 'expression' ? field : `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
