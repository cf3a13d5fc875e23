import { LEASE_MS } from '../../../src/domain/claim';
import type { Job } from '../../../src/domain/job';
import { hasBegun, isFinal, type Run } from '../../../src/domain/run';
import { creationOwner, isLockedAtCreation } from '../../../src/domain/unique';
import type { Invocation, RunWrite } from '../witness';
import { grouped, keyOf, LEASE_MARGIN_MS, SKEW_MS, type Facts } from './facts';

/** Limits hold across everything that shares their key, and of a job that must not overlap one run is at work. */
export function checkHolds(facts: Facts): void {
  const calls = facts.witness.invocations.filter(({ event }) => typeof event['attempt'] === 'number');
  checkConcurrency(calls, facts);
  checkRate(facts);
  checkOverlap(calls, facts);
  checkUnique(facts);
}

function jobOfCall({ event, at }: Invocation, facts: Facts): { run: Run; job: Job } | undefined {
  const run = facts.runAt(`${String(event['jobId'])} ${String(event['runId'])}`, at);
  const job = run && facts.jobOf(run);
  return job ? { run, job } : undefined;
}

/** Is the attempt in somebody's hands, whose lease has never ended meanwhile? */
function isHeld(key: string, at: number, facts: Facts): boolean {
  const writes = facts.runWrites.get(key) ?? [];
  const last = writes.findLastIndex((write) => write.at <= at);
  const run = writes[last]?.after;
  if (run?.state !== 'STARTED' || (run.leaseUntil ?? 0) < at + SKEW_MS + LEASE_MARGIN_MS) return false;
  // One that stood still past its lease may have lost what it held, though it goes on.
  const ofAttempt = writes.slice(0, last + 1).filter(({ after }) => after.sequence === run.sequence);
  return ofAttempt.every(({ at: written, after }, index) => {
    const next = ofAttempt[index + 1]?.at ?? at;
    return next < (after.leaseUntil ?? 0) - SKEW_MS && next - written < LEASE_MS;
  });
}

function checkConcurrency(calls: readonly Invocation[], facts: Facts): void {
  for (const call of calls) {
    const { run, job } = jobOfCall(call, facts) ?? {};
    if (!run || !job?.concurrency || !isHeld(keyOf(run), call.at, facts)) continue;
    const { key, limit } = job.concurrency;
    const others = [...facts.runWrites.keys()].filter((other) => {
      const standing = facts.runAt(other, call.at);
      return (
        standing &&
        other !== keyOf(run) &&
        facts.jobOf(standing)?.concurrency?.key === key &&
        isHeld(other, call.at, facts)
      );
    });
    if (others.length >= limit)
      facts.accuse('a concurrency limit holds', `${keyOf(run)} beside ${others.join(', ')}`, call.at);
  }
}

/** When a start was counted is known to lie between its claim and its write, by the clock of its process. */
function checkRate(facts: Facts): void {
  const starts = [...facts.runWrites.values()].flat().flatMap(({ at, skewMs, before, after }) => {
    const rate = facts.jobOf(after)?.rateLimit;
    if (!rate || after.state !== 'STARTED' || after.sequence === before?.sequence) return [];
    return [{ rate, from: after.startedAt!, to: at + skewMs, at, about: keyOf(after) }];
  });
  for (const start of starts) {
    const { key, perSeconds, limit } = start.rate;
    // Others of the key may have other limits: each start is judged by its own, looking back.
    const before = starts.filter(
      ({ rate, from, to }) => rate.key === key && to <= start.from && from > start.to - perSeconds * 1000,
    );
    if (before.length >= limit)
      facts.accuse(
        'a rate limit holds',
        `${start.about} (counted in [${start.from}, ${start.to}]) after ${before.map(({ about, from, to }) => `${about} [${from}, ${to}]`).join(', ')}, within ${perSeconds} s`,
        start.at,
      );
  }
}

function checkOverlap(calls: readonly Invocation[], facts: Facts): void {
  for (const call of calls) {
    const { run, job } = jobOfCall(call, facts) ?? {};
    // Under "cancel-previous" the code of what was cancelled may go on.
    if (!run || !job || !['skip', 'queue-one'].includes(job.overlap ?? '') || run.origin !== 'scheduled' || run.series)
      continue;
    // A process that stood still between its claim and its call is past any law.
    if (run.attempt !== 1 || !isHeld(keyOf(run), call.at, facts)) continue;
    for (const other of facts.runWrites.keys()) {
      if (!other.startsWith(`${run.jobId} `) || other === keyOf(run)) continue;
      const standing = facts.runAt(other, call.at);
      if (!standing || standing.origin !== 'scheduled' || standing.series || !hasBegun(standing)) continue;
      if (facts.jobOf(standing)?.lifeId !== job.lifeId || facts.jobOf(standing)?.overlap !== job.overlap) continue;
      const isAtWork = standing.state === 'RELEASED' || isHeld(other, call.at, facts);
      if (isAtWork && !isFinal(standing.state))
        facts.accuse('runs of a job do not overlap', `${keyOf(run)} beside ${other}`, call.at);
    }
  }
}

interface Holding {
  owner: string;
  key: string;
  from: number;
  to: number;
}

/** From when to when who held which unique key: no longer than its lock lasts. */
function checkUnique(facts: Facts): void {
  const holdings = [...facts.runWrites.values()].flatMap((writes) => holdingsOf(writes, facts));
  for (const sameKey of grouped(holdings, ({ key }) => key).values()) {
    for (const one of sameKey) {
      const other = sameKey.find(({ owner, from, to }) => owner !== one.owner && from < one.from && to > one.from);
      if (other) facts.accuse('a unique key is held once', `${one.owner} beside ${other.owner}`, one.from);
    }
  }
}

function holdingsOf(writes: readonly RunWrite[], facts: Facts): Holding[] {
  const { after: last } = writes.at(-1)!;
  const job = facts.jobOf(last);
  if (!job?.unique || job.unique.until === 'start') return [];
  const { key, forSeconds } = job.unique;
  const holdings: Holding[] = [];
  for (const [index, { at, before, after }] of writes.entries()) {
    const isFirst = !before && after.state === 'STARTED';
    const isNewSeries = after.state === 'RELEASED' && after.series?.number !== before?.series?.number;
    if (!isFirst && !isNewSeries) continue;
    const end = writes.slice(index).find((write) => isFinal(write.after.state))?.at ?? Infinity;
    const deletedAt = facts.jobWrites
      .get(job.jobId)
      ?.find((write) => write.after.lifeId === job.lifeId && write.after.state === 'DELETED')?.at;
    const isCreations = isLockedAtCreation(job) && after.origin === 'scheduled' && isFirst;
    const owner = isCreations ? creationOwner(job) : `${keyOf(after)}#${after.series?.number ?? 1}`;
    const takenAt = isCreations ? job.createdAt : isFirst ? after.startedAt! : after.dueAt;
    const lastsUntil = takenAt - 2 * SKEW_MS + forSeconds * 1000;
    holdings.push({
      owner,
      key,
      from: isCreations ? writtenAt(job, facts) : at,
      to: Math.min(end, deletedAt ?? Infinity, lastsUntil),
    });
  }
  return holdings;
}

/** When the first row of this life of the job was written: its creation has the key by then. */
function writtenAt({ jobId, lifeId }: Job, facts: Facts): number {
  return facts.jobWrites.get(jobId)!.find(({ after }) => after.lifeId === lifeId)!.at;
}
