import { activationOf, runIdOf, scheduledRun, type Activation } from '../domain/activation';
import { afterLease, holdsLease } from '../domain/claim';
import { failed } from '../domain/conclude';
import { decideLoopStart, decideNextTick, HORIZON_MS, mayHaveBegun, TICK_MARGIN_MS } from '../domain/loop';
import type { JobRow } from '../domain/job';
import { isFinal, revise, type Run } from '../domain/run';
import type { Page, Ports } from '../ports';
import { parseActivation } from '../messages/activation';
import { parsePartWork } from '../messages/part-work';
import { announce } from './announce';
import { keepJob } from './keep-job';
import { putRun } from './put-run';
import { dispatchJobs, type DispatchPorts } from './dispatch';
import { sendActivations } from './send-activations';

export type TickPorts = DispatchPorts & Pick<Ports, 'deadActivations'>;

/** What a loop hands from tick to tick. Instants are epoch ms. */
export interface TickInput {
  loopStartedAt: number;
  /** the first tick of its loop */
  isFirst: boolean;
}

export type TickResult = { done: true; reason: string } | { done: false; wakeAt: number; reason: string };

const NEWEST_LOOP = 'newest-loop';
const NEWEST_LOOP_KEPT_MS = 3_600_000;
const PAGE_ITEMS = 500;
const ROWS_AT_ONCE = 100;
/** An activation that came back from the dead-letter queue so often is given up. */
const MOST_RETURNS = 3;
/** So often one comes back that only asks to repeat what follows from a run that is over. What it did not reach, others find: a lock's
 * end, a look at who is at work, the daily sweep. */
const MOST_RETURNS_AFTER_END = 10;
/** Messages taken from the dead-letter queue in one tick, so that a flood does not hold up what is due. */
const MOST_REDRIVEN = 1_000;

/**
 * One invocation of the scheduler: dispatches what falls due, and says when to come back, or that this loop is over.
 * It reads what is due, never what is stored. Ticks may be late, doubled or overlap: claims decide.
 */
export async function tick(input: TickInput, ports: TickPorts): Promise<TickResult> {
  const { clock, settings } = ports;
  const { loopStartedAt, isFirst } = input;
  const ended = decideLoopStart({
    now: clock.now(),
    loopStartedAt,
    newestLoopStartedAt: isFirst ? undefined : await newestLoopStartedAt(ports),
  });
  if (ended) return { done: true, reason: ended.reason };

  const startedAt = clock.now();
  const found = await findDue(startedAt + HORIZON_MS, ports);
  const dispatchUntil = startedAt + settings.tickSeconds * 1000 + TICK_MARGIN_MS;
  const nextDueAt = await dispatchFound(found, dispatchUntil, ports);
  if (isFirst) await redriveOrNote(ports);

  const next = decideNextTick({ now: clock.now(), loopStartedAt, nextDueAt, tickSeconds: settings.tickSeconds });
  if (next.action === 'end') {
    const rest = found.filter(({ dueAt }) => dueAt > dispatchUntil);
    await dispatchFound(rest, startedAt + HORIZON_MS, ports);
    return { done: true, reason: next.reason };
  }
  if (isFirst) await writeNewestLoop(loopStartedAt, ports);
  return { done: false, wakeAt: next.wakeAt, reason: next.reason };
}

type Found = { jobId: string; runId?: string; dueAt: number };

async function findDue(until: number, ports: TickPorts): Promise<Found[]> {
  const shards = Array.from({ length: ports.settings.shards }, (_, shard) => shard);
  const pages = await Promise.all(
    shards.flatMap((shard) => [
      allPages((page) => ports.jobs.due({ shard, until, ...page })),
      allPages((page) => ports.runs.due({ shard, until, ...page })),
    ]),
  );
  return pages.flat();
}

async function allPages(read: (page: { limit: number; cursor?: string }) => Promise<Page<Found>>): Promise<Found[]> {
  const all: Found[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

/** @returns the earliest instant among what was found, or follows from it, that lies beyond `untilAt` */
async function dispatchFound(found: readonly Found[], untilAt: number, ports: TickPorts): Promise<number | undefined> {
  const nextDueAts: number[] = found.filter(({ dueAt }) => dueAt > untilAt).map(({ dueAt }) => dueAt);
  const due = found.filter(({ dueAt }) => dueAt <= untilAt);
  const jobs = due.filter(({ runId }) => runId === undefined);
  const runs = due.filter(({ runId }) => runId !== undefined);
  for (const some of chunks(jobs, ROWS_AT_ONCE)) {
    const rows = await ports.jobs.readRows(some.map(({ jobId }) => jobId));
    const next = await dispatchJobs(rows, untilAt, ports);
    if (next !== undefined) nextDueAts.push(next);
  }
  for (const some of chunks(runs, ROWS_AT_ONCE)) await dispatchRuns(some, untilAt, ports);
  return nextDueAts.length === 0 ? undefined : nextDueAts.reduce((a, b) => Math.min(a, b));
}

/**
 * Runs that wait longer than a queue can delay, and attempts whose completion is awaited until their lease ends: send first,
 * then take them out of the index. Nothing is lost by that: the message is in the queue, whoever claims by it finds the run as it
 * is, and a sign of life in between loses its condition, is written anew and brings the run back into the index.
 */
async function dispatchRuns(found: readonly Found[], untilAt: number, ports: TickPorts) {
  const rows = await Promise.all(found.map(({ jobId, runId }) => ports.runs.read(jobId, runId!)));
  const due = rows.filter(
    (run): run is Run => run !== undefined && run.indexDueAt !== undefined && run.indexDueAt <= untilAt,
  );
  await sendActivations(
    due.map((run) => ({
      activation: activationOf(run),
      deliverAt: run.state === 'STARTED' ? afterLease(run) : run.dueAt,
    })),
    ports,
  );
  await Promise.all(due.map((run) => ports.runs.put(revise(run, { indexDueAt: undefined }), run)));
}

async function newestLoopStartedAt(ports: TickPorts): Promise<number | undefined> {
  const entry = await ports.control.read(NEWEST_LOOP);
  return entry && Number(entry.value);
}

async function writeNewestLoop(loopStartedAt: number, ports: TickPorts) {
  for (;;) {
    const seen = await ports.control.read(NEWEST_LOOP);
    const now = ports.clock.now();
    if (seen && Number(seen.value) >= loopStartedAt && mayHaveBegun(Number(seen.value), now)) return;
    const expiresAt = now + NEWEST_LOOP_KEPT_MS;
    if (await ports.control.put({ name: NEWEST_LOOP, value: String(loopStartedAt), expiresAt }, seen)) return;
  }
}

/** What is due has gone out already, and must go out the next minute too, whatever lies in the dead-letter queue. */
async function redriveOrNote(ports: TickPorts) {
  try {
    await redriveDeadActivations(ports);
  } catch (error) {
    ports.journal.note('dead-letters-not-sent-again', { error: (error as Error).name });
  }
}

/** What lies in the dead-letter queue is sent again as new messages; what came back too often ends as FAILED. */
async function redriveDeadActivations(ports: TickPorts) {
  for (let taken = 0; taken < MOST_REDRIVEN;) {
    const messages = await ports.deadActivations.receive(10);
    if (messages.length === 0) return;
    taken += messages.length;
    const parsed = messages.map((message) => ({ message, activation: parseActivation(message.body) }));
    // What cannot be parsed stays: it is hidden for a while and lies there for a person to look at.
    const known = parsed.filter(({ activation }) => activation !== undefined);
    const parts = messages.filter(({ body }) => parsePartWork(body) !== undefined);
    await ports.activations.send(parts.map(({ body }) => ({ body })));
    const again = known.filter(({ activation }) => (activation!.returns ?? 0) < MOST_RETURNS);
    await sendActivations(
      again.map(({ activation }) => ({
        activation: { ...activation!, returns: (activation!.returns ?? 0) + 1 },
        deliverAt: activation!.dueAt,
      })),
      ports,
    );
    const hopeless = known.filter((one) => !again.includes(one));
    const given = await Promise.allSettled(hopeless.map(({ activation }) => giveUp(activation!, ports)));
    const done = [...again, ...hopeless.filter((_, index) => given[index]!.status === 'fulfilled')];
    const receipts = [...done.map(({ message }) => message.receipt), ...parts.map(({ receipt }) => receipt)];
    await ports.deadActivations.remove(receipts);
    const count = known.length + parts.length;
    if (count > 0) ports.journal.note('dead-letters-sent-again', { count });
  }
}

async function giveUp(activation: Activation, ports: TickPorts) {
  const { jobId } = activation;
  const job = (await ports.jobs.readRows([jobId]))[0];
  for (;;) {
    const seen = await ports.runs.read(jobId, runIdOf(activation));
    // A run of another life of the same job has messages of its own.
    if (seen && seen.generation !== activation.generation) return;
    if (seen && isFinal(seen.state)) return afterGivenUp(seen, job, activation, ports);
    const now = ports.clock.now();
    if (seen && holdsLease(seen, now)) {
      return sendActivations([{ activation, deliverAt: afterLease(seen) }], ports);
    }
    const error = { type: 'Undeliverable', message: `no runner took this run in ${MOST_RETURNS + 1} rounds` };
    const { retentionMs, failedRetentionMs } = ports.settings;
    // Whoever wrote what stands there may have died before anybody heard of it.
    if (seen) await announce([seen], job, ports);
    const standing = seen ?? scheduledRun(activation, retentionMs);
    const over = failed(standing, now, 'undeliverable', error, failedRetentionMs);
    if (!(await putRun(over, seen, ports))) continue;
    ports.journal.transition(over, job);
    return afterGivenUp(over, job, activation, ports);
  }
}

/**
 * What follows from the end of a run that no runner took. A runner does what concerns others: asked once more, it finds the run
 * over and does no more than that.
 */
async function afterGivenUp(run: Run, job: JobRow | undefined, { returns = 0 }: Activation, ports: TickPorts) {
  await announce([run], job, ports);
  if (!job) return;
  await keepJob(run, job, ports);
  const concernsOthers = job.member ?? job.unique ?? job.concurrency;
  if (!concernsOthers || returns >= MOST_RETURNS_AFTER_END) return;
  const activation = { ...activationOf(run), returns: returns + 1 };
  await sendActivations([{ activation, deliverAt: ports.clock.now() }], ports);
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
