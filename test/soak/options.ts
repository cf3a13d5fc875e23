import { Command, InvalidArgumentError } from 'commander';

export interface Options {
  minutes: number;
  seed: number;
  /** absent: a folder that is removed afterwards */
  data?: string;
  jobsPerSecond: number;
  retentionSeconds: number;
  concurrency: number;
}

/**
 * What is sent ahead may lie in a queue for the horizon of 130 s: its job must not be past its retention when it comes. Nobody else
 * has so short a retention, a day is the shortest that can be asked for.
 */
const SHORTEST_RETENTION_SECONDS = 150;

/** Writes the help, or what is wrong, and ends the process where there is nothing to run. */
export function readOptions(): Options {
  return new Command('soak')
    .description(
      'Runs the local system under a mixed load and looks whether anything is lost or grows: jobs, memory, file handles, the store.',
    )
    .option('--minutes <number>', 'how long the load lasts', number(0.5, 1_440), 1)
    .option(
      '--seed <number>',
      'another seed plays another load; the same one plays the same again',
      whole(0, 2 ** 31),
      1,
    )
    .option('--jobs-per-second <number>', 'how many jobs are made', number(1, 1_000), 50)
    .option(
      '--retention-seconds <number>',
      'how long the system keeps what is over',
      whole(SHORTEST_RETENTION_SECONDS, 86_400),
      SHORTEST_RETENTION_SECONDS,
    )
    .option('--concurrency <number>', 'attempts side by side', whole(1, 100), 8)
    .option('--data <dir>', 'a new folder in which the store is kept; without it one that is removed afterwards')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run soak -- --minutes 10\n  npm run soak -- --minutes 1 --seed 7 --jobs-per-second 20\n\nWhether the store is bounded can be told from 7 minutes on: it must have been full for half of the load.\nIt ends with 0 when all is well, with 1 and a sentence when something was lost or grew.',
    )
    .parse()
    .opts<Options>();
}

function whole(least: number, most: number) {
  return numberFrom(/^\d+$/, 'whole number', least, most);
}

function number(least: number, most: number) {
  return numberFrom(/^\d+(\.\d+)?$/, 'number', least, most);
}

function numberFrom(form: RegExp, what: string, least: number, most: number) {
  return (text: string): number => {
    const value = form.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a ${what} from ${least} to ${most}.`);
  };
}
