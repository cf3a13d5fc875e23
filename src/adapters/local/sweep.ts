import type { Group, GroupPart } from '../../domain/group';
import { currentGeneration, type JobRow } from '../../domain/job';
import type { Run } from '../../domain/run';
import type { ControlEntry } from '../../ports';
import type { Database, Key } from './database';
import type { LocalJobStore } from './job-store';
import type { LocalNotificationStore } from './notification-store';
import type { LocalRunStore } from './run-store';

/** Rows looked at in one step, a few milliseconds: nothing else is read or written meanwhile. */
const ROWS_PER_STEP = 500;

interface Swept {
  jobs: number;
  runs: number;
  controlEntries: number;
  definitions: number;
  groups: number;
  groupParts: number;
}

/**
 * Removes jobs, runs, groups and control entries whose `expiresAt` has passed at `now` (epoch ms), and with a job its payload and notifications,
 * and its former definitions once no run of it is left that could be shown or sent again by them. In DynamoDB the tables' TTL does this. Reads all rows, in bounded steps with everything else in between.
 */
export async function sweepExpired(
  database: Database,
  stores: { jobs: LocalJobStore; runs: LocalRunStore; notifications: LocalNotificationStore },
  now: number,
): Promise<Swept> {
  const control = database.table('control');
  const heads = database.table('groups');
  const parts = database.table('group-parts');
  return {
    jobs: await sweepTable<JobRow>(database, 'jobs', now, (job) => {
      stores.jobs.expunge(job);
      stores.notifications.expungeAllOf(job.jobId);
    }),
    runs: await sweepTable<Run>(database, 'runs', now, (run) => stores.runs.expunge(run)),
    definitions: await sweepTable<{ job: JobRow; expiresAt: number }>(
      database,
      'definitions',
      now,
      ({ job }) => void database.table('definitions').removeSync([job.jobId, currentGeneration(job)!.id]),
      ({ job }) => !stores.jobs.isKnown(job.jobId) && !stores.runs.hasSome(job.jobId),
    ),
    controlEntries: await sweepTable<ControlEntry>(
      database,
      'control',
      now,
      ({ name }) => void control.removeSync(name),
    ),
    groups: await sweepTable<Group>(database, 'groups', now, ({ groupId }) => void heads.removeSync(groupId)),
    groupParts: await sweepTable<GroupPart>(
      database,
      'group-parts',
      now,
      ({ groupId, partId }) => void parts.removeSync([groupId, partId]),
    ),
  };
}

async function sweepTable<Row extends { expiresAt?: number }>(
  database: Database,
  name: string,
  now: number,
  expunge: (row: Row) => void,
  isUseless: (row: Row) => boolean = () => false,
): Promise<number> {
  const table = database.table(name);
  let removed = 0;
  let after: Key | undefined;
  do {
    after = await database.change(() => {
      // The whole step is read before it changes anything under the range's feet.
      const entries = [
        ...table.getRange({ limit: ROWS_PER_STEP, ...(after !== undefined && { start: after, exclusiveStart: true }) }),
      ];
      for (const { value } of entries) {
        const row = JSON.parse(value) as Row;
        const isPast = row.expiresAt !== undefined && row.expiresAt <= now;
        if (!isPast && !isUseless(row)) continue;
        expunge(row);
        removed += 1;
      }
      return entries.length === ROWS_PER_STEP ? entries.at(-1)?.key : undefined;
    });
  } while (after !== undefined);
  return removed;
}
