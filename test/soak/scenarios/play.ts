import { isFinal } from '../../../src/domain/run';
import type { Chance } from '../../simulation/chance';
import { functionArn } from '../../support/builders';
import { ended, type Account, type Heard } from '../account';
import type { Client } from '../client';

/** What one scenario has to play with. Whatever it draws comes from `chance`, so that a seed plays the same again. */
export interface Play {
  /** begins the id of every job that it makes */
  id: string;
  chance: Chance;
  client: Client;
  account: Account;
  wait: (ms: number) => Promise<void>;
  /** aborts when nothing more is waited for */
  over: AbortSignal;
}

export interface Scenario {
  /** how often, beside the others */
  weight: number;
  /** jobs that it makes, by which the rate is kept; 0 for one that only looks */
  jobs: number;
  play: (play: Play) => Promise<void>;
}

export type Scenarios = Readonly<Record<string, Scenario>>;

const TARGET = { functionArn: functionArn('soak-job') };
export const CALLED_BACK = { functionArn: functionArn('soak-callback') };
export const TOLD = { functionArn: functionArn('soak-notice') };
export const TRIES_TWO = { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 1 } };
export const TRIES_ONE = { maxAttempts: 1, backoff: { kind: 'fixed', seconds: 1 } };
/** A chain or batch is kept for as long as its jobs might take, beyond its retention: that has to be seconds too. */
const TIMEOUT_SECONDS = 5;

export function aJob(jobId: string, changes: object = {}) {
  return { jobId, target: TARGET, timeoutSeconds: TIMEOUT_SECONDS, retry: TRIES_ONE, ...changes };
}

export const isOver = ({ state }: Heard) => isFinal(state);

export async function create({ client, account }: Play, job: { jobId: string }, expectation = ended(1, 'DONE', 1)) {
  await client.ask('POST', '/jobs', job);
  account.expect(job.jobId, expectation);
}
