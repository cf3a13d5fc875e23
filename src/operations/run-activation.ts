import { runIdOf, type Activation } from '../domain/activation';
import { runInPlaceOf, decideArrival, decideClaim, LEASE_MS, type ClaimDecision } from '../domain/claim';
import { failed, RETRIED } from '../domain/conclude';
import { UnreadableMessageError } from '../domain/errors';
import type { Job } from '../domain/job';
import { hasBegun, isFinal, transition, type Run } from '../domain/run';
import { parseActivation } from '../messages/activation';
import type { Queue, ReceivedMessage } from '../ports';
import { announce } from './announce';
import { advancePart, parsePartWork } from './advance-part';
import { attempt, goOnAfter, OVER, RENEWAL_MS, sendAgain, type RunnerPorts } from './attempt';
import { asOfNow, definitionOf } from './definition';
import { followUp } from './follow-up';
import { releaseHolds, takeHolds } from './holds';
import { putRun } from './put-run';
import { endForGroup } from './settle-member';
import { takePlace } from './overlap';

/** How often a message may lose its write before it is left for another delivery. */
const MOST_LOST_WRITES = 10;
/** A message may overtake the row of its job: waits in ms between the looks for it, before the message is sent again. */
const ROW_WAITS_MS = [5, 20, 75, 300];

/**
 * The runner's part: carries the messages of one batch, all of this queue, side by side and renews their visibility while they
 * last.
 * @returns the ids of the messages that have to come again; all others may be removed
 */
export async function runActivations(
  messages: readonly ReceivedMessage[],
  ports: RunnerPorts,
  queue: Queue = ports.activations,
): Promise<string[]> {
  const unfinished = new Map(messages.map((message) => [message.messageId, message]));
  const finished: string[] = [];
  const failed: string[] = [];
  const over = new AbortController();
  const keeping = keepHidden(unfinished, finished, over.signal, queue, ports);
  await Promise.all(
    messages.map(async (message) => {
      try {
        await runActivation(message, ports);
        finished.push(message.receipt);
      } catch (error) {
        failed.push(message.messageId);
        const { name } = error as Error;
        ports.journal.note('message-left', { messageId: message.messageId, receives: message.receives, error: name });
      } finally {
        unfinished.delete(message.messageId);
      }
    }),
  );
  over.abort(OVER);
  await keeping;
  return failed;
}

/** Renews the visibility of what is still at work, and removes what is done: a long neighbour must not bring it back. */
async function keepHidden(
  unfinished: ReadonlyMap<string, ReceivedMessage>,
  finished: string[],
  over: AbortSignal,
  queue: Queue,
  { clock, journal }: RunnerPorts,
) {
  for (;;) {
    await clock.waitUntil(clock.now() + RENEWAL_MS, over);
    if (over.aborted) return;
    try {
      await queue.hide(
        [...unfinished.values()].map(({ receipt }) => receipt),
        LEASE_MS,
      );
      if (finished.length > 0) await queue.remove(finished.splice(0));
    } catch (error) {
      journal.note('visibility-not-renewed', { error: (error as Error).name });
    }
  }
}

/** One activation from its arrival to its acknowledgement. Resolves when the message may be removed; throws when it has to come again. */
async function runActivation(message: ReceivedMessage, ports: RunnerPorts): Promise<void> {
  const { clock, journal } = ports;
  const activation = parseActivation(message.body);
  const partWork = activation ? undefined : parsePartWork(message.body);
  if (partWork) return advancePart(partWork, message.sentAt, ports);
  if (!activation) throw new UnreadableMessageError(`message ${message.messageId} is no activation`);

  const arrival = decideArrival(activation, clock.now());
  if (arrival.action === 'send-again') return sendAgain(arrival, ports);
  if (arrival.action === 'wait') await clock.waitUntil(arrival.untilAt);

  const runId = runIdOf(activation);
  // A first attempt has no row, most likely: the condition of the claim finds out at no extra cost. What has waited for a limit may
  // have begun by another message since, and must take nothing of that limit then.
  let isRead = activation.sequence > 1 || activation.waits !== undefined;
  let run = isRead ? await ports.runs.read(activation.jobId, runId) : undefined;
  let looks = 0;
  for (let lost = 0; lost < MOST_LOST_WRITES; lost++) {
    const job = await ports.jobs.read(activation.jobId);
    const under = await whatItGoesBy(activation, run, job, ports);
    const decision = decideClaim({
      ...under,
      activation: {
        ...activation,
        generation: under.generation,
        waitingSince: activation.waitingSince ?? message.sentAt,
      },
      job,
      now: clock.now(),
      chance: ports.random.next(),
      ...ports.settings,
    });
    const waitMs = decision.reason === 'no-row-yet' ? ROW_WAITS_MS[looks++] : undefined;
    if (waitMs !== undefined) {
      await clock.waitUntil(clock.now() + waitMs);
      continue;
    }
    if (decision.action === 'drop' && !isRead) {
      run = await ports.runs.read(activation.jobId, runId);
      isRead = true;
      if (run) continue;
    }
    if (await carryOut(decision, activation, asOfNow(under.generation, under.definition, job), ports)) {
      if (decision.action === 'drop')
        journal.note('activation-dropped', { jobId: activation.jobId, runId, reason: decision.reason });
      return;
    }
    run = await ports.runs.read(activation.jobId, runId);
    isRead = true;
  }
  throw new Error(`run ${runId} changed ${MOST_LOST_WRITES} times while it was to be claimed`);
}

/**
 * Whichever message comes, what has begun goes on under the definition that it began with. The run of a job that was deleted may
 * stand where one of the new job of its id belongs, which has the same instant: that one replaces it.
 */
async function whatItGoesBy(
  activation: Activation,
  run: Run | undefined,
  job: Job | undefined,
  ports: RunnerPorts,
): Promise<{ generation: string; definition: Job | undefined; run: Run | undefined; replaced?: Run }> {
  const isUnderWay = run !== undefined && (hasBegun(run) || isFinal(run.state));
  const generation = isUnderWay ? run.generation : activation.generation;
  const definition = await definitionOf({ ...activation, generation }, job, ports);
  const isKnown = (id: string) => job !== undefined && job.generations.some((known) => known.id === id);
  const isOfDeleted = isUnderWay && isFinal(run.state) && !isKnown(generation) && definition?.lifeId !== job?.lifeId;
  if (!isOfDeleted || !isKnown(activation.generation)) return { generation, definition, run };
  const own = activation.generation;
  const replacing = await definitionOf(activation, job, ports);
  return { generation: own, definition: replacing, run: undefined, replaced: run };
}

/** @returns false when a write lost its condition, so that the run has to be looked at again */
async function carryOut(
  decision: ClaimDecision,
  activation: Activation,
  job: Job | undefined,
  ports: RunnerPorts,
): Promise<boolean> {
  switch (decision.action) {
    case 'drop':
      return true;
    case 'fence':
      return fence(activation, ports);
    case 'send-again':
      // Announced before the message goes out: once that is under way, nobody sees this state of the run again.
      if (decision.seen && isNews(decision.seen, activation)) await announce([decision.seen], job, ports);
      await sendAgain(decision, ports);
      return true;
    case 'repeat':
      await followUp(decision.run, job, ports);
      return true;
    case 'record':
      if (decision.seen && isNews(decision.seen, activation)) await announce([decision.seen], job, ports);
      if (!(await putRun(decision.run, decision.seen, ports))) return false;
      ports.journal.transition(decision.run, job);
      await goOnAfter(decision.run, job, ports);
      return true;
    case 'claim':
      if (decision.seen && isNews(decision.seen, activation)) await announce([decision.seen], job, ports);
      if (needsPlace(decision.run, job!)) {
        const place = await takePlace(decision.run, job!, activation, ports);
        if (place === 'queue') return true;
        if (place === 'skip') return endUnbegun(decision.seen, activation, 'SKIPPED', 'overlap', job!, ports);
      }
      return beginOrHold(decision, activation, job!, ports);
  }
}

/** What is left to ask once the run itself may be claimed: its chain or batch, and the limits that it shares with others. */
async function beginOrHold(
  { run, seen }: Extract<ClaimDecision, { action: 'claim' }>,
  activation: Activation,
  job: Job,
  ports: RunnerPorts,
): Promise<boolean> {
  const end = await endForGroup(run, job, ports);
  if (end) return endUnbegun(seen, activation, end.state, end.reason, job, ports);
  const hold = await takeHolds(run, activation, job, ports);
  switch (hold.action) {
    case 'skip':
      return endUnbegun(seen, activation, 'SKIPPED', hold.reason, job, ports);
    case 'wait': {
      const waiting = { ...activation, isQueued: true, waits: (activation.waits ?? 0) + 1 };
      await sendAgain({ activation: waiting, deliverAt: hold.untilAt, reason: hold.reason }, ports);
      return true;
    }
    case 'fail':
      return endUnbegun(seen, activation, 'FAILED', hold.reason, job, ports);
    case 'begin': {
      const begun = job.completion === 'callback' ? { ...run, completionToken: ports.ids.guid() } : run;
      if (!(await putRun(begun, seen, ports))) return false;
      ports.journal.transition(begun, job);
      await releaseAtStart(begun, job, ports);
      return attempt(begun, job, ports);
    }
  }
}

/** What a run holds until it starts. A failure must not lose the attempt that is claimed: at the run's end it is given back again. */
async function releaseAtStart(run: Run, job: Job, ports: RunnerPorts) {
  try {
    await releaseHolds(run, job, ports);
  } catch (error) {
    ports.journal.note('hold-not-released', { jobId: run.jobId, runId: run.runId, error: (error as Error).name });
  }
}

/** The overlap policy is for what the schedule starts: a person who triggers a run wants it now. */
function needsPlace(run: Run, job: Job): boolean {
  return (job.overlap ?? 'allow') !== 'allow' && run.origin === 'scheduled' && run.attempt === 1 && !run.series;
}

/** Ends a run that was not to begin its attempt. @returns false when it changed meanwhile */
async function endUnbegun(
  seen: Run | undefined,
  activation: Activation,
  state: 'SKIPPED' | 'CANCELLED' | 'FAILED',
  reason: string,
  job: Job,
  ports: RunnerPorts,
): Promise<boolean> {
  const now = ports.clock.now();
  const isOfThisJob = seen !== undefined && !isFinal(seen.state);
  const run = isOfThisJob ? seen : runInPlaceOf(activation, seen, ports.settings.retentionMs);
  const ended =
    state === 'FAILED'
      ? failed(run, now, reason, run.error ?? { type: 'NotBegun', message: reason }, ports.settings.failedRetentionMs)
      : transition(run, state, now, { reason, finishedAt: now });
  if (!(await putRun(ended, seen, ports))) return false;
  ports.journal.transition(ended, job);
  await followUp(ended, job, ports);
  return true;
}

/**
 * May this state of the run never have been announced? A retry's message goes out after its RELEASED was announced, so that
 * only what the message does not know of is in doubt, an attempt whose runner died, and what the due index leads to since a person
 * sent it again.
 */
function isNews(seen: Run, activation: Activation): boolean {
  // What is over was told by whoever acted on it, or belongs to another job that was deleted.
  if (isFinal(seen.state)) return false;
  return seen.state === 'STARTED' || seen.sequence > activation.sequence || seen.reason === RETRIED;
}

/** No create came for this message within its time: from now on a late one meets a tombstone and makes a due key. */
async function fence(activation: Activation, ports: RunnerPorts): Promise<boolean> {
  const now = ports.clock.now();
  return ports.jobs.put({
    jobId: activation.jobId,
    revision: 1,
    state: 'DELETED',
    generations: [],
    lifeId: '',
    tags: [],
    functionArn: '',
    codeId: '',
    schedule: { kind: 'once', at: activation.nominalAt, timezone: 'UTC' },
    retry: { maxAttempts: 1, backoff: { kind: 'fixed', seconds: 0 }, jitter: 'none' },
    misfire: { policy: 'run-once', graceSeconds: 0 },
    timeoutSeconds: 1,
    createdAt: now,
    subscribedStates: [],
    expiresAt: now + ports.settings.retentionMs,
    payload: 'null',
  });
}
