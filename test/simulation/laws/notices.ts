import type { Notification } from '../../../src/domain/notification';
import { OF_ALL } from '../../../src/domain/notification';
import type { Invocation } from '../witness';
import { grouped, keyOf, SKEW_MS, type Facts } from './facts';
import { isAcknowledged } from './groups';

/** A process remembers for so long who subscribed to all jobs. */
const REMEMBERED_MS = 5_000;

/** Who subscribed hears of each transition that comes after, and of none that did not happen. */
export function checkNotices(facts: Facts): void {
  const { witness, cloud } = facts;
  const heard = grouped(
    witness.invocations.filter(({ event }) => event['specversion'] === '1.0'),
    ({ functionName }) => functionName,
  );
  const happened = new Set(witness.runs.map(({ after }) => `${after.runId}:${after.sequence} ${after.state}`));
  for (const { event, at } of [...heard.values()].flat()) {
    const { state, runId } = event['data'] as { state: string; runId?: string };
    if (runId === undefined || state === 'SCHEDULED') continue;
    if (!happened.has(`${String(event['id'])} ${state}`))
      facts.accuse('nobody hears of what did not happen', `${String(event['id'])} ${state}`, at);
  }

  checkStrangers(facts);
  checkOfGroups(heard, facts);
  const dead = cloud.queues.deadNotices.bodies.join('\n');
  for (const { operation, kind, detail, at: answeredAt } of witness.answers) {
    if (operation.kind !== 'subscribe' || operation.by !== 'api' || kind !== 'done') continue;
    const { jobId, state, lifeId, notifyId } = detail as Notification;
    const isOver = witness.answers.some(
      ({ operation: other }) => other.kind === 'unsubscribe' && other.subscribed === operation.requestId,
    );
    if (isOver || state === 'SCHEDULED') continue;
    const ids = new Set((heard.get(operation.subscriber) ?? []).map(({ event }) => String(event['id'])));
    const subscribedAt =
      facts.jobWrites.get(jobId)?.find(({ after }) => after.lifeId === lifeId && after.subscribedStates.includes(state))
        ?.after.revision ?? Infinity;
    for (const { at, before, after, jobRevisions } of witness.runs) {
      if (after.state !== state || after.sequence === before?.sequence) continue;
      const job = facts.jobOf(after);
      const isMeant =
        jobId === OF_ALL.jobId
          ? at > answeredAt + REMEMBERED_MS + SKEW_MS
          : at > answeredAt &&
            after.jobId === jobId &&
            job?.lifeId === lifeId &&
            isAliveAfter(jobId, lifeId, at, facts) &&
            jobRevisions.length > 0 &&
            Math.min(...jobRevisions) >= subscribedAt;
      const id = `${after.runId}:${after.sequence}`;
      if (!isMeant || ids.has(id) || dead.includes(`"${id}"`)) continue;
      facts.accuse('who subscribed hears of it', `${notifyId} of ${id} ${state} of ${keyOf(after)}`, at);
    }
  }
}

/** Who subscribed to a state of all chains or batches hears of each that comes to it. */
function checkOfGroups(heard: ReadonlyMap<string, Invocation[]>, facts: Facts): void {
  const { witness, cloud } = facts;
  const dead = cloud.queues.deadNotices.bodies.join('\n');
  for (const { operation, kind, at: answeredAt } of witness.answers) {
    if (operation.kind !== 'subscribe' || operation.by !== 'api' || kind !== 'done') continue;
    const isOver = witness.answers.some(
      ({ operation: other }) => other.kind === 'unsubscribe' && other.subscribed === operation.requestId,
    );
    if (isOver) continue;
    const ids = new Set((heard.get(operation.subscriber) ?? []).map(({ event }) => String(event['id'])));
    for (const { at, before, after } of witness.groups) {
      const state = `${after.kind.toUpperCase()}_${after.state}`;
      if (Object.keys(after.parts).length === 0 && !isAcknowledged(after.groupId, facts)) continue;
      const isNews = after.sequence !== before?.sequence && at > answeredAt + REMEMBERED_MS + SKEW_MS;
      const id = `${after.groupId}:${after.sequence}`;
      if (state === operation.state && isNews && !ids.has(id) && !dead.includes(`"${id}"`))
        facts.accuse('who subscribed hears of it', `${operation.requestId} of ${id} ${state}`, at);
    }
  }
}

/** Of a job only those hear who subscribed to that job, and not to another one of the same id. */
function checkStrangers(facts: Facts): void {
  const { witness, cloud } = facts;
  for (const { event, functionName, at } of witness.invocations) {
    const { jobId, runId } = (event['data'] ?? {}) as { jobId?: string; runId?: string };
    const run = facts.runWrites.get(`${jobId} ${runId}`)?.at(-1)?.after;
    const lifeId = run && facts.jobOf(run)?.lifeId;
    if (lifeId === undefined) continue;
    const isSubscribed = cloud.stores.notifications.ever.some(
      (one) => one.functionArn.endsWith(`:${functionName}`) && [lifeId, OF_ALL.lifeId].includes(one.lifeId),
    );
    if (!isSubscribed)
      facts.accuse('nobody hears of a job of another', `${functionName} of ${String(event['id'])}`, at);
  }
}

/** The notifications of a deleted job go with it. */
function isAliveAfter(jobId: string, lifeId: string, at: number, facts: Facts): boolean {
  const end =
    facts.jobWrites.get(jobId)?.find(({ after }) => after.lifeId === lifeId && after.state === 'DELETED')?.at ??
    Infinity;
  return end > at + 3_600_000;
}
