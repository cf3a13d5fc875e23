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

/**
 * Each instant of [from, to] that a rate names, counted from the epoch, has a run that is over, or is covered by a record that says
 * why. Instants are epoch ms. Answers those runs.
 */
export async function settled(
  cloud: Cloud,
  jobId: string,
  {
    from,
    to,
    everySeconds = 1,
    withinSeconds = 60,
  }: { from: number; to: number; everySeconds?: number; withinSeconds?: number },
): Promise<Json[]> {
  const step = everySeconds * SECOND;
  const instants: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) instants.push(at);
  return until(`all runs of ${jobId} are over`, withinSeconds, async (isLast) => {
    const runs = await cloud.runsOf(jobId);
    const missing = instants.filter((at) => !runs.some((run) => covers(run, at, step)));
    if (isLast)
      equal(
        missing.map((at) => new Date(at).toISOString()),
        [],
        'instants without a run that is over',
      );
    return missing.length === 0 ? runs.filter(({ nominalAt }) => instants.includes(Date.parse(nominalAt))) : undefined;
  });
}

function covers({ nominalAt, state, alsoCovers = 0 }: Json, at: number, step: number): boolean {
  if (!['DONE', 'SKIPPED'].includes(state)) return false;
  const last = Date.parse(nominalAt);
  return at <= last && at >= last - alsoCovers * step;
}

/** How often the code was called for each attempt of the runs of jobs whose ids begin so, which is a pattern. */
export async function callsOf(cloud: Cloud, jobIds: string): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  for (const { text } of await cloud.log('job-hello')) {
    const attempt = new RegExp(`hello from (?:${jobIds})\\S* run (\\S+ attempt \\d+)`).exec(text)?.[1];
    if (attempt !== undefined) calls.set(attempt, (calls.get(attempt) ?? 0) + 1);
  }
  return calls;
}

/** No attempt of these jobs called their code twice: at least once is once, unless somebody dies. */
export async function checkNoAttemptTwice(cloud: Cloud, jobIds: string): Promise<void> {
  const calls = [...(await callsOf(cloud, jobIds))];
  isTrue(calls.length > 0, `the code of ${jobIds} was never called`);
  equal(
    calls.filter(([, count]) => count > 1),
    [],
    'attempts whose code was called twice',
  );
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
