import { PART_JOBS, type GroupPart } from './group';
import { placesOf, stretchesOf } from './group-part';

/** Jobs dealt out to parts: neighbours, which end at about the same time, fall into different ones. */
export function dealtOut<Member extends readonly unknown[]>(members: readonly Member[]): Member[][] {
  const jobs = members.reduce((sum, { length }) => sum + length, 0);
  const count = Math.min(members.length, Math.ceil(jobs / PART_JOBS));
  const parts = Array.from({ length: count }, (): Member[] => []);
  members.forEach((member, nth) => parts[nth % count]!.push(member));
  return parts;
}

/** The places of all jobs in the order in which they were asked for; `parts` in the order of the group's head. */
export function inOrder(parts: readonly GroupPart[]): { part: GroupPart; index: number }[] {
  return together(parts).flatMap((dealt) => {
    const hands = dealt.map((part) => ({ part, stretches: stretchesOf(part) }));
    const rounds = Math.max(...hands.map(({ stretches }) => stretches.length));
    return Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
      hands.flatMap(({ part, stretches }) => {
        const stretch = stretches[round];
        return stretch ? placesOf(stretch).map((index) => ({ part, index })) : [];
      }),
    );
  });
}

/** Parts among which jobs were dealt out together: their ids differ in the number only. */
function together(parts: readonly GroupPart[]): GroupPart[][] {
  const deals = new Map<string, GroupPart[]>();
  for (const part of parts) {
    const deal = part.partId.replace(/\d+$/, '');
    deals.set(deal, [...(deals.get(deal) ?? []), part]);
  }
  return [...deals.values()];
}
