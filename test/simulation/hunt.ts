import { FAULT_KINDS } from './faults';
import { liveThroughAll, type Mutation } from './fleet';
import type { Asked } from './worker';

/** What found a planted fault: how many histories it took, and which law it broke there. */
export interface Catch {
  mutation: Mutation;
  histories: number;
  /** undefined: it was not found */
  law: string | undefined;
}

/** Lives through histories with this fault of ours planted, every third of them calm, until one breaks a law. */
export async function hunt(mutation: Mutation, mostHistories: number, threads: number): Promise<Catch> {
  const broken: { seed: number; law: string }[] = [];
  await liveThroughAll({
    histories: upTo(mostHistories),
    mutation,
    threads,
    onLived: ({ seed, violations: [first] }) => {
      if (first) broken.push({ seed, law: first.law });
      return broken.length === 0;
    },
  });
  broken.sort((a, b) => a.seed - b.seed);
  return { mutation, histories: broken[0]?.seed ?? mostHistories, law: broken[0]?.law };
}

function* upTo(most: number): Generator<Asked> {
  for (let seed = 1; seed <= most; seed++) yield { seed, faults: seed % 3 === 0 ? [] : FAULT_KINDS };
}

/** A table of what was planted and how it was found. */
export function tableOf(catches: readonly Catch[]): string {
  const longest = Math.max(...catches.map(({ mutation }) => mutation.name.length));
  return catches
    .map(
      ({ mutation, histories, law }) =>
        `${mutation.name.padEnd(longest)}  ${String(histories).padStart(4)}  ${law ?? 'NOT FOUND'}`,
    )
    .join('\n');
}
