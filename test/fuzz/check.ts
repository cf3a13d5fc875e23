import fc from 'fast-check';

/** What was printed when it failed, to run the same case again and to make it smaller. */
const { ESCAPEMENT_FUZZ_SEED: seed, ESCAPEMENT_FUZZ_PATH: path } = process.env;
const LONGEST_SHOWN = 4_000;

/**
 * Tries a property so many times. The first failure ends it: making a case of a hundred inputs smaller takes minutes, and is done
 * when that case is run again.
 */
export async function check<Inputs>(property: fc.IAsyncProperty<Inputs>, numRuns: number): Promise<void> {
  const again = seed === undefined ? { endOnFailure: true } : { seed: Number(seed), ...(path ? { path } : {}) };
  const found = await fc.check(property, { numRuns, unbiased: true, ...again });
  if (!found.failed) return;
  const replay = `ESCAPEMENT_FUZZ_SEED=${found.seed} ESCAPEMENT_FUZZ_PATH=${found.counterexamplePath ?? ''}`;
  const shown = fc.stringify(found.counterexample).slice(0, LONGEST_SHOWN);
  throw new Error(`failed at case ${found.numRuns}; again, and smaller, with\n${replay}\n${shown}`, {
    cause: found.errorInstance,
  });
}
