/** How the checks look at the system from outside, and how they say what is wrong. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Cloud, Json } from './cloud';

export const SECOND = 1_000;

const arn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;
export const target = (name: string) => ({ functionArn: arn(name) });

export async function created(cloud: Cloud, job: object): Promise<void> {
  const answer = await cloud.request('POST', '/jobs', job);
  equal(answer.status, 201, `status of the creation (${JSON.stringify(answer.json).slice(0, 200)})`);
}

/** The only run of a job, once it is over. */
export function finished(cloud: Cloud, jobId: string): Promise<Json> {
  return until(`job ${jobId} is over`, 90, async () => {
    const [run] = await cloud.runsOf(jobId);
    return ['DONE', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(run?.state ?? '') ? run : undefined;
  });
}

/** Each second of [from, to] has a run that is over, or is covered by a record that says why. */
export async function settled(
  cloud: Cloud,
  jobId: string,
  from: number,
  to: number,
  withinSeconds = 60,
): Promise<Json[]> {
  const seconds: number[] = [];
  for (let at = Math.ceil(from / SECOND) * SECOND; at <= to; at += SECOND) seconds.push(at);
  return until(`all runs of ${jobId} are over`, withinSeconds, async (isLast) => {
    const runs = await cloud.runsOf(jobId);
    const missing = seconds.filter((at) => !runs.some((run) => covers(run, at)));
    if (isLast)
      equal(
        missing.map((at) => new Date(at).toISOString()),
        [],
        'seconds without a run that is over',
      );
    return missing.length === 0 ? runs.filter(({ nominalAt }) => seconds.includes(Date.parse(nominalAt))) : undefined;
  });
}

function covers({ nominalAt, state, alsoCovers = 0 }: Json, at: number): boolean {
  if (!['DONE', 'SKIPPED'].includes(state)) return false;
  const last = Date.parse(nominalAt);
  return at <= last && at >= last - alsoCovers * SECOND;
}

/** How often the code was called for each run of a job. */
export async function callsOf(cloud: Cloud, jobId: string): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  for (const { text } of await cloud.log('job-hello')) {
    const runId = new RegExp(`hello from ${jobId} run (\\S+)`).exec(text)?.[1];
    if (runId !== undefined) calls.set(runId, (calls.get(runId) ?? 0) + 1);
  }
  return calls;
}

/** Asks once a second until there is an answer, so many seconds at most. */
export async function until<Found>(
  what: string,
  seconds: number,
  ask: (isLast: boolean) => Promise<Found | undefined>,
): Promise<Found> {
  for (const end = Date.now() + seconds * SECOND; ;) {
    const isLast = Date.now() > end;
    const found = await ask(isLast);
    if (found !== undefined) return found;
    if (isLast) throw new Error(`after ${seconds} s there is still not: ${what}`);
    await wait(SECOND);
  }
}

export function equal(got: unknown, wanted: unknown, what: string): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: got ${a}, wanted ${b}`);
}

export function isTrue(claim: boolean, otherwise: string): void {
  if (!claim) throw new Error(otherwise);
}
