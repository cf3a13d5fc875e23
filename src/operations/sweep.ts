import { activationOf, scheduledRunIdOf } from '../domain/activation';
import type { JobRow } from '../domain/job';
import { occurrence } from '../domain/occurrences';
import type { Run } from '../domain/run';
import type { Ports } from '../ports';
import { firstActivation } from './dispatch';
import { sendActivations, type ActivationPorts, type Departure } from './send-activations';

/** What should have gone on so long ago has lost its message. */
const OVERDUE_MS = 3_600_000;
/** With a pause of 200 ms between pages a million rows take a few minutes, less than a Lambda may last. */
const PAGE_ITEMS = 1_000;

/**
 * The daily look at everything that is stored, for what no message and no due key leads to any more: one-off jobs past
 * due without a run, and runs whose lease or due instant passed an hour ago. They are sent again; claims decide.
 * `paceMs` is the pause between two pages, so that a large table is read slowly.
 * @returns how many activations were sent again
 */
export async function sweep(
  ports: Pick<Ports, 'clock' | 'jobs' | 'runs' | 'journal'> & ActivationPorts,
  { paceMs = 200 }: { paceMs?: number } = {},
): Promise<{ sentAgain: number }> {
  const { clock, jobs, runs, journal } = ports;
  let sentAgain = 0;
  const send = async (departures: Departure[]) => {
    await sendActivations(departures, ports);
    sentAgain += departures.length;
  };

  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await jobs.list({ limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) });
    const now = clock.now();
    const lost = await Promise.all(page.items.map((job) => lostOneOff(job, now, ports)));
    await send(lost.flat());
    cursor = page.cursor;
    if (cursor !== undefined) await clock.waitUntil(now + paceMs);
  }
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await runs.scan({ limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) });
    const now = clock.now();
    const lost = page.items.filter((run) => isLost(run, now));
    await send(lost.map((run) => ({ activation: activationOf(run), deliverAt: now })));
    cursor = page.cursor;
    if (cursor !== undefined) await clock.waitUntil(now + paceMs);
  }
  journal.note('swept', { sentAgain });
  return { sentAgain };
}

async function lostOneOff(job: JobRow, now: number, { runs }: Pick<Ports, 'runs'>): Promise<Departure[]> {
  const { schedule } = job;
  if (schedule.kind !== 'once' || job.state !== 'ACTIVE' || job.dueAt !== undefined || job.member) return [];
  if (schedule.at > now - OVERDUE_MS) return [];
  if (await runs.read(job.jobId, scheduledRunIdOf(job.jobId, schedule.at))) return [];
  return [{ activation: firstActivation(job, occurrence(job, schedule.at)), deliverAt: now }];
}

function isLost(run: Run, now: number): boolean {
  if (run.state === 'STARTED') return (run.leaseUntil ?? 0) < now - OVERDUE_MS;
  return run.state === 'RELEASED' && (run.indexDueAt ?? run.dueAt) < now - OVERDUE_MS;
}
