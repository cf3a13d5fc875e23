import { Chance } from '../simulation/chance';
import { SCENARIOS } from './scenarios';
import type { Scenario } from './scenarios/play';

export interface Step {
  name: string;
  scenario: Scenario;
  /** begins the ids of its jobs */
  id: string;
  chance: Chance;
  /** since the first step, in ms */
  atMs: number;
}

/** A scenario that makes no job counts as a fifth of one. */
const LEAST_JOBS = 0.2;

/** What is played and when, without end: the same for the same seed, whatever the system does meanwhile. */
export function* planOf(seed: number, jobsPerSecond: number, scenarios = SCENARIOS): Generator<Step> {
  const chance = new Chance(seed, 'plan');
  const names = Object.entries(scenarios).flatMap(([name, { weight }]) => Array<string>(weight).fill(name));
  for (let number = 0, atMs = 0; ; number++) {
    const name = chance.pick(names);
    const scenario = scenarios[name]!;
    const id = `${name.replaceAll(' ', '-')}-${number}`;
    yield { name, scenario, id, chance: new Chance(seed, id), atMs };
    atMs += (Math.max(scenario.jobs, LEAST_JOBS) / jobsPerSecond) * 1_000;
  }
}
