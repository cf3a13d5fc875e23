import type { Activation } from '../domain/activation';
import type { JobRow } from '../domain/job';
import type { Run } from '../domain/run';
import type { Ports } from '../ports';

export type HoldPorts = Pick<Ports, 'clock' | 'runs' | 'control'>;

/** May this attempt begin, as the limits that it shares with others have it? */
export type Hold =
  | { action: 'begin' }
  | { action: 'wait'; untilAt: number; reason: string }
  | { action: 'skip'; reason: string }
  | { action: 'fail'; reason: string };

/** Takes what this attempt needs of its unique key, its concurrency and its rate: all of it, or nothing. */
export async function takeHolds(_run: Run, _activation: Activation, _job: JobRow, _ports: HoldPorts): Promise<Hold> {
  return { action: 'begin' };
}

/** Gives back what a run in this state needs no longer; doing it twice does no harm. */
export async function releaseHolds(_run: Run, _job: JobRow, _ports: HoldPorts): Promise<void> {}
