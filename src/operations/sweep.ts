import { activationOf } from '../domain/activation';
import type { Group } from '../domain/group';
import type { JobRow } from '../domain/job';
import { occurrence } from '../domain/occurrences';
import type { Run } from '../domain/run';
import type { PartWork } from '../messages/part-work';
import type { Page, Ports } from '../ports';
import { firstActivation } from './dispatch';
import { onlyRunOf } from './only-run';
import { wasReminded } from './reminders';
import { sendActivations, type ActivationPorts, type Departure } from './send-activations';

/** What should have gone on so long ago has lost its message. */
const OVERDUE_MS = 3_600_000;
/** With a pause of 200 ms between pages a million rows take a few minutes, less than a Lambda may last. */
const PAGE_ITEMS = 1_000;

type SweepPorts = Pick<Ports, 'clock' | 'jobs' | 'runs' | 'groups' | 'journal' | 'settings' | 'control'> &
  ActivationPorts;

/**
 * The daily look at everything that is stored, for what no message and no due key leads to any more: one-off jobs past
 * due without a run, runs whose lease or due instant passed an hour ago, and chains and batches that are not over. They are
 * sent again; claims decide. `paceMs` is the pause between two pages, so that a large table is read slowly.
 * @returns how many messages were sent again
 */
export async function sweep(
  ports: SweepPorts,
  { paceMs = 200 }: { paceMs?: number } = {},
): Promise<{ sentAgain: number }> {
  const { clock, jobs, runs, groups, journal } = ports;
  let sentAgain = 0;
  const send = async (departures: Departure[]) => {
    await sendActivations(departures, ports);
    sentAgain += departures.length;
  };
  const eachPage = async <Item>(
    read: (page: { limit: number; cursor?: string }) => Promise<Page<Item>>,
    look: (items: Item[], now: number) => Promise<void>,
  ) => {
    let cursor: string | undefined;
    do {
      const page = await read({ limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) });
      const now = clock.now();
      await look(page.items, now);
      cursor = page.cursor;
      if (cursor !== undefined) await clock.waitUntil(now + paceMs);
    } while (cursor !== undefined);
  };

  await eachPage(
    (page) => jobs.list(page),
    async (rows, now) => {
      const lost = await Promise.all(rows.map((job) => lostOneOff(job, now, ports)));
      await send(lost.flat());
    },
  );
  await eachPage(
    (page) => runs.scan(page),
    async (rows, now) => {
      const lost = rows.filter((run) => isLost(run, now));
      await send(lost.map((run) => ({ activation: activationOf(run), deliverAt: now })));
    },
  );
  await eachPage(
    (page) => groups.list(page),
    async (heads, now) => {
      for (const head of heads.filter((one) => mayBeStuck(one, now))) {
        const work = await pendingParts(head, ports);
        await ports.activations.send(work.map((part) => ({ body: JSON.stringify(part) })));
        sentAgain += work.length;
      }
    },
  );
  journal.note('swept', { sentAgain });
  return { sentAgain };
}

async function lostOneOff(job: JobRow, now: number, ports: SweepPorts): Promise<Departure[]> {
  const { schedule } = job;
  const { runs, settings } = ports;
  if (schedule.kind !== 'once' || job.state !== 'ACTIVE' || job.dueAt !== undefined || job.member) return [];
  // Past its retention the record of its run may be gone before it: that must not look like a run that never was.
  if (schedule.at > now - OVERDUE_MS || schedule.at <= now - settings.retentionMs) return [];
  if (await onlyRunOf(job, { runs })) return [];
  if (await wasReminded(job, now, ports)) return [];
  return [{ activation: firstActivation(job, occurrence(job, schedule.at)), deliverAt: now }];
}

function isLost(run: Run, now: number): boolean {
  if (run.state === 'STARTED') return (run.leaseUntil ?? 0) < now - OVERDUE_MS;
  return run.state === 'RELEASED' && (run.indexDueAt ?? run.dueAt) < now - OVERDUE_MS;
}

/** A group that runs, or was taken back and has not ended all that it holds. */
function mayBeStuck({ state, createdAt, parts }: Group, now: number): boolean {
  if (createdAt > now - OVERDUE_MS) return false;
  return state === 'RUNNING' || (state === 'CANCELLED' && Object.values(parts).some((revision) => revision <= 0));
}

async function pendingParts({ groupId, state, parts: heard }: Group, { groups }: SweepPorts): Promise<PartWork[]> {
  const parts = await groups.readParts(groupId);
  const pending = parts.filter(({ partId, states }) => states.includes('P') || (heard[partId] ?? 0) < 0);
  // Where everything is over and the head has heard of it all, any part may tell it so.
  const asked = pending.length === 0 && state === 'RUNNING' ? parts.slice(0, 1) : pending;
  return asked.map(({ partId }) => ({ version: 1, kind: 'part', groupId, partId, isReminder: true }));
}
