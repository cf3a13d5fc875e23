import { PART_JOBS, type GroupPart } from './group';
import { placesOf, stretchesOf } from './group-part';

/** Jobs dealt out to parts: neighbours, which end at about the same time, fall into different ones. */
export function dealtOut<Member extends readonly unknown[]>(members: readonly Member[]): Member[][] {
  const jobs = members.reduce((sum, { length }) => sum + length, 0);
  const count = Math.min(members.length, Math.ceil(jobs / PART_JOBS));
  const parts = Array.from({ length: count }, (): Member[] => []);
  const sizes = parts.map(() => 0);
  for (const member of members) {
    const nth = smallest(sizes);
    parts[nth]!.push(member);
    sizes[nth]! += member.length;
  }
  return parts;
}

/** The one that is dealt to next: chains are of any length, and no part must be much larger than another. */
function smallest(sizes: readonly number[]): number {
  return sizes.indexOf(Math.min(...sizes));
}

/** The places of all jobs in the order in which they were asked for; `parts` in the order of the group's head. */
export function inOrder(parts: readonly GroupPart[]): { part: GroupPart; index: number }[] {
  return together(parts).flatMap((dealt) => {
    const left = dealt.map((part) => stretchesOf(part));
    const sizes = dealt.map(() => 0);
    const places: { part: GroupPart; index: number }[] = [];
    while (left.some(({ length }) => length > 0)) {
      const nth = smallest(sizes.map((size, one) => (left[one]!.length > 0 ? size : Infinity)));
      const all = placesOf(left[nth]!.shift()!);
      places.push(...all.map((index) => ({ part: dealt[nth]!, index })));
      sizes[nth]! += all.length;
    }
    return places;
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
