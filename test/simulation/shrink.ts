import { FAULT_KINDS } from './faults';
import { liveThrough, type History, type HistoryOptions } from './history';

/** A history is lived through again so often, at most, in search of a smaller one that breaks the same law. */
const MOST_TRIES = 1_500;

/** The same law broken by fewer operations and fewer faults. */
export async function shrink(
  found: History,
  options: HistoryOptions,
): Promise<{ options: HistoryOptions; history: History }> {
  const law = found.violations[0]!.law;
  let tries = 0;
  let best: { options: HistoryOptions; history: History } = { options, history: found };
  const stillBreaks = async (tried: HistoryOptions) => {
    if (tries++ >= MOST_TRIES) return false;
    const history = await liveThrough(tried);
    if (!history.violations.some((violation) => violation.law === law)) return false;
    best = { options: tried, history };
    return true;
  };

  // Of the faults first those that took place, by name: what is left out then shifts nothing else.
  for (const kind of options.faults ?? FAULT_KINDS) {
    const faults = (best.options.faults ?? FAULT_KINDS).filter((other) => other !== kind);
    await stillBreaks({ ...best.options, faults });
  }
  await stillBreaks({ ...best.options, only: namesOf(best.history) });
  if (best.options.only) {
    await fewer(best.options.only, (only) => stillBreaks({ ...best.options, only }));
  }
  const places = best.options.operations ?? best.history.operations.map((_, place) => place);
  await fewer(places, (operations) => stillBreaks({ ...best.options, operations }));
  if (best.options.only) await fewer(best.options.only, (only) => stillBreaks({ ...best.options, only }));
  return best;
}

function namesOf({ injected }: History): string[] {
  return injected.map(({ kind, ordinal }) => `${kind}:${ordinal}`);
}

/** Leaves parts of a list out, large ones first, for as long as what is left passes. */
async function fewer<Item>(items: readonly Item[], passes: (left: Item[]) => Promise<boolean>): Promise<void> {
  let left = [...items];
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length;) {
      const without = left.filter((_, index) => index < from || index >= from + size);
      if (await passes(without)) left = without;
      else from += size;
    }
  }
}
