/** `npm run simulate`: lives through histories of the whole system in a cloud that misbehaves, and tells of any that breaks a law. */
import { Command, InvalidArgumentError } from 'commander';
import { FAULT_KINDS, FAULTS, type FaultKind } from './faults';
import { liveThroughAll } from './fleet';
import { liveThrough, type HistoryOptions } from './history';
import { shrink } from './shrink';
import { commandOf, storyOf } from './story';
import { Summary } from './summary';
import type { Asked } from './worker';

const MOST_TOLD = 3;

interface Options {
  seeds: number;
  from: number;
  seed?: number;
  faults?: FaultKind[];
  operations?: number[];
  only?: string[];
}

const program = new Command('simulate')
  .description('Lives through histories of the whole system in a cloud that misbehaves, each decided by its seed.')
  .option('--seeds <n>', 'how many histories', wholeNumber, 300)
  .option('--from <seed>', 'the first seed', wholeNumber, 1)
  .option('--seed <seed>', 'one history, told whole', wholeNumber)
  .option('--faults <kinds>', 'what may go wrong, with commas between; "none", or all of it if left out', faultKinds)
  .option('--operations <places>', 'with --seed: of its operations only these, counted from 0', places)
  .option('--only <faults>', 'with --seed: of its faults only these, such as crash:12,late:3; or "none"', names)
  .addHelpText('after', `\nFaults:\n${FAULT_KINDS.map((kind) => `  ${kind.padEnd(12)} ${FAULTS[kind]}`).join('\n')}`);

async function main(): Promise<number> {
  const { seed, seeds, from, ...rest } = program.parse().opts<Options>();
  if (seed !== undefined) return tellOne({ seed, ...rest });
  const summary = new Summary();
  const shownAt = { histories: 0 };
  await liveThroughAll({
    histories: histories(from, seeds, rest.faults ?? FAULT_KINDS),
    onLived: (lived) => {
      summary.add(lived);
      for (const { law, about } of lived.violations.slice(0, 1))
        console.log(`seed ${lived.seed} breaks "${law}": ${about}`);
      progress(summary, seeds, shownAt);
    },
  });
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  console.log(summary.text);
  const told = [...summary.broken].sort((a, b) => a.seed - b.seed).slice(0, MOST_TOLD);
  for (const lived of told) {
    console.log(`\nlooking for a smaller history than that of seed ${lived.seed} …`);
    const options = { seed: lived.seed, ...(rest.faults ? { faults: rest.faults } : {}) };
    const smaller = await shrink(await liveThrough(options), options);
    console.log(`${storyOf(smaller.history)}\nagain: ${commandOf(smaller.options)}`);
  }
  return summary.broken.length === 0 ? 0 : 1;
}

async function tellOne(options: HistoryOptions): Promise<number> {
  const history = await liveThrough(options);
  console.log(history.violations.length > 0 ? storyOf(history) : `seed ${history.seed}: every law holds`);
  const { events, calls, runs, invocations } = history.counts;
  console.log(
    `${events} events, ${calls} calls of ports, ${runs} runs, ${invocations} calls of code, ${history.injected.length} faults`,
  );
  return history.violations.length === 0 ? 0 : 1;
}

function progress({ histories }: Summary, of: number, shownAt: { histories: number }): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${histories} of ${of} histories `);
  else if (histories - shownAt.histories >= 500) {
    shownAt.histories = histories;
    console.log(`${histories} of ${of} histories`);
  }
}

function* histories(from: number, count: number, faults: readonly FaultKind[]): Generator<Asked> {
  for (let seed = from; seed < from + count; seed++) yield { seed, faults };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number.');
  return Number(text);
}

function list(text: string): string[] {
  return text === 'none' ? [] : text.split(',');
}

function faultKinds(text: string): FaultKind[] {
  return list(text).map((kind) => {
    if (FAULT_KINDS.includes(kind as FaultKind)) return kind as FaultKind;
    throw new InvalidArgumentError(`${kind} is none of ${FAULT_KINDS.join(', ')}.`);
  });
}

function places(text: string): number[] {
  return list(text).map(wholeNumber);
}

function names(text: string): string[] {
  return list(text);
}

void main().then((status) => (process.exitCode = status));
