import { hasBegun, isFinal, mayBecome, type Run } from '../../../src/domain/run';
import { LEASE_MS } from '../../../src/domain/claim';
import { resultOf } from '../functions';
import type { Invocation, RunWrite } from '../witness';
import { grouped, keyOf, LEASE_MARGIN_MS, type Facts } from './facts';

/** Each run goes only where the table of transitions lets it, by one write after the other, and one attempt holds it at a time. */
export function checkRuns(facts: Facts): void {
  for (const writes of facts.runWrites.values()) for (const write of writes) checkWrite(write, facts);
  const invocations = grouped(
    facts.witness.invocations.filter(({ event }) => typeof event['attempt'] === 'number'),
    ({ event }) => `${String(event['jobId'])} ${String(event['runId'])}`,
  );
  for (const [key, calls] of invocations) checkCalls(key, calls, facts);
  for (const [key, writes] of facts.runWrites) checkEnd(writes, invocations.get(key) ?? [], facts);
}

function checkWrite({ at, skewMs, before, after, jobRevisions }: RunWrite, facts: Facts): void {
  const about = `${keyOf(after)} (${before?.state ?? 'SCHEDULED'} ${before?.sequence ?? 1} to ${after.state} ${after.sequence})`;
  // At the same instant the run of a deleted job of the same id may stand, which is over: it is replaced.
  const isReplaced = before && isFinal(before.state) && facts.jobOf(before)?.lifeId !== facts.jobOf(after)?.lifeId;
  const { sequence, state } = before && !isReplaced ? before : ({ sequence: 1, state: 'SCHEDULED' } as const);
  const revision = before?.revision ?? 0;
  if (after.revision !== revision + 1) facts.accuse('a write of a run is the next revision', about, at);
  const isTransition = after.sequence !== sequence;
  if (isTransition && after.sequence !== sequence + 1) facts.accuse('sequences of a run have no gaps', about, at);
  if (isTransition ? !mayBecome(state, after.state) : state !== after.state)
    facts.accuse('transitions of a run are legal', about, at);
  if (!isTransition || after.state !== 'STARTED') return;
  const now = at + skewMs;
  if (before?.state === 'STARTED' && (before.leaseUntil ?? 0) + LEASE_MARGIN_MS > now) {
    facts.accuse('one attempt holds the lease', `${about}: its lease lasts until ${before.leaseUntil}`, at);
  }
  if ((before?.state === 'RELEASED' ? before.dueAt : after.dueAt) > now)
    facts.accuse('nothing starts before it is due', about, at);
  if (!before || isReplaced || !hasBegun(before)) {
    const mayBegin = jobRevisions.some((one) => mayBeginUnder(after, facts.jobAt(after.jobId, one)));
    if (!mayBegin) facts.accuse('nothing begins of a job that is deleted, paused or superseded', about, at);
  }
}

/** Might somebody who read the job as it was then let this run begin? */
function mayBeginUnder({ origin, generation, nominalAt }: Run, job: ReturnType<Facts['jobAt']>): boolean {
  if (!job || job.state === 'DELETED') return false;
  if (origin !== 'scheduled') return true;
  if (job.state === 'PAUSED') return false;
  const known = job.generations.findIndex(({ id }) => id === generation);
  const successor = job.generations[known + 1];
  return known >= 0 && (!successor || nominalAt < successor.startedAt);
}

function checkCalls(key: string, calls: readonly Invocation[], facts: Facts): void {
  const writes = facts.runWrites.get(key) ?? [];
  const begun = writes.filter(({ before, after }) => after.state === 'STARTED' && after.sequence !== before?.sequence);
  for (const call of calls) {
    const about = `${key} attempt ${String(call.event['attempt'])}`;
    if (call.at + call.skewMs < Date.parse(String(call.event['dueAt'])))
      facts.accuse('no code is called before it is due', about, call.at);
    const standing = writes.findLast(({ at }) => at <= call.at)?.after;
    const job = standing && facts.jobOf(standing);
    if (job && !call.text.endsWith(`,"payload":${job.payload}}`))
      facts.accuse('a payload comes as it was written', about, call.at);
    if (call.functionName !== job?.functionArn.split(':').at(-1))
      facts.accuse('the code of a run is that of its job', about, call.at);
  }
  for (const [attempt, same] of grouped(calls, ({ event }) => String(event['attempt']))) {
    const claims = begun.filter(({ after }) => after.attempt === Number(attempt)).length;
    if (same.length > claims)
      facts.accuse(
        'code is called once for each claim',
        `${key} attempt ${attempt}: ${same.length} calls, ${claims} claims`,
        same.at(-1)!.at,
      );
  }
  for (const { at, after } of begun) {
    const overlapping = calls.filter(
      (call) => call.at < at && call.endedAt > at && Number(call.event['attempt']) < after.attempt,
    );
    for (const call of overlapping) {
      // Somebody else goes on with a run only when its lease has ended.
      if (at - call.at < LEASE_MS - LEASE_MARGIN_MS)
        facts.accuse('nobody takes a run whose code is at work', `${key} attempt ${after.attempt}`, at);
    }
  }
}

/** As many attempts as the policy allows: each of them was a call that failed, or was lost with its runner. */
function checkAttempts(run: Run, calls: readonly Invocation[], facts: Facts): void {
  const { maxAttempts = Infinity } = facts.jobOf(run)?.retry ?? {};
  const ofSeries = run.attempt - (run.series?.after ?? 0);
  if (ofSeries > maxAttempts) facts.accuse('a run has no more attempts than it may have', `${keyOf(run)}: ${ofSeries}`);
  if (run.state !== 'FAILED' || run.reason !== 'out-of-attempts' || run.series) return;
  if (ofSeries < maxAttempts) facts.accuse('a run is given up after its attempts', `${keyOf(run)} after ${ofSeries}`);
  const failed = new Set(
    calls
      .filter(({ result, isAnswerLost }) => result === 'failed' && !isAnswerLost)
      .map(({ event }) => event['attempt']),
  );
  const otherwise = run.attempts.filter(({ reason }) => reason === 'attempt-lost' || reason === 'heartbeat-missed');
  const isByCallback = facts.jobOf(run)?.completion === 'callback';
  if (!isByCallback && failed.size + otherwise.length < maxAttempts) {
    facts.accuse(
      'a run is given up after its attempts',
      `${keyOf(run)}: ${failed.size} failed, ${otherwise.length} were lost`,
    );
  }
}

function checkEnd(writes: readonly RunWrite[], calls: readonly Invocation[], facts: Facts): void {
  const { after: run } = writes.at(-1)!;
  const key = keyOf(run);
  if (!isFinal(run.state)) facts.accuse('every run comes to an end', `${key} rests in ${run.state}`);
  const job = facts.jobOf(run);
  const isByCallback = job?.completion === 'callback';
  const returned = calls.filter(({ event, result }) => result === 'returned' && event['attempt'] === run.attempt);
  if (run.state === 'DONE' && !isByCallback) {
    if (returned.length === 0) facts.accuse('DONE means that the code returned', key);
    else if (run.result !== resultOf(returned[0]!.event))
      facts.accuse('the result of a run is what its code returned', key);
  }
  checkAttempts(run, calls, facts);
  if (facts.isCalm && !isByCallback && returned.length > 0 && run.state !== 'DONE' && run.state !== 'CANCELLED') {
    facts.accuse('what returned is DONE', `${key} is ${run.state}`);
  }
}
