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

/** Lives through these histories, every third of them calm, with this fault of ours planted, until one breaks a law. */
export async function hunt(mutation: Mutation, seeds: readonly number[], threads: number): Promise<Catch> {
  const broken: { place: number; law: string }[] = [];
  await liveThroughAll({
    histories: seeds.map((seed): Asked => ({ seed, faults: seed % 3 === 0 ? [] : FAULT_KINDS })),
    mutation,
    threads,
    onLived: ({ seed, violations: [first] }) => {
      if (first) broken.push({ place: seeds.indexOf(seed), law: first.law });
      return broken.length === 0;
    },
  });
  broken.sort((a, b) => a.place - b.place);
  return { mutation, histories: broken[0] ? broken[0].place + 1 : seeds.length, law: broken[0]?.law };
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
