import { isAllowedFunction, parseFunctionArn } from '../domain/arn';
import { ConflictError, InputError, type FieldError } from '../domain/errors';
import type { Callbacks, GroupKind, GroupPart } from '../domain/group';
import { codeIdOf } from '../domain/guid';
import type { Job, JobRow } from '../domain/job';
import type { JobRequest } from '../domain/job-request';
import type { Ports, Settings } from '../ports';
import { removeNotifications } from './delete-notification';
import { sendPartWork } from './send-part-work';

export type WriteMembersPorts = Pick<
  Ports,
  'jobs' | 'code' | 'groups' | 'control' | 'notifications' | 'highActivations' | 'settings'
>;

/** Rows that are written one by one go so many at a time. */
const SIDE_BY_SIDE = 25;

/** The field of a job in what the caller sent: of a chain `jobs[k]`, of a batch `jobs[i]`, or `jobs[i][k]` in a chain of it. */
export function fieldOf(kind: GroupKind, members: readonly (readonly unknown[])[], nth: number, step: number): string {
  if (kind === 'chain') return `jobs[${step}]`;
  return members[nth]!.length > 1 ? `jobs[${nth}][${step}]` : `jobs[${nth}]`;
}

/** @throws InputError when a function is not allowed, or two jobs have the same id */
export function checkMembers(
  kind: GroupKind,
  members: readonly (readonly JobRequest[])[],
  callbacks: Callbacks,
  { allowedFunctions }: Settings,
): void {
  const errors: FieldError[] = [];
  const ids = new Map<string, string>();
  const refused = (functionArn: string) => {
    const name = parseFunctionArn(functionArn)?.name ?? '';
    if (isAllowedFunction(name, allowedFunctions)) return [];
    const allowed = allowedFunctions.join(', ');
    return [`function ${JSON.stringify(name)} is not one that this deployment may call; allowed: ${allowed}`];
  };
  members.forEach((member, nth) =>
    member.forEach(({ functionArn, jobId, schedule }, step) => {
      const field = fieldOf(kind, members, nth, step);
      for (const message of refused(functionArn)) errors.push({ field: `${field}.target.functionArn`, message });
      if (schedule.kind === 'expression') {
        errors.push({
          field: `${field}.schedule`,
          message: 'must be left out: a job of a chain or batch runs when its turn comes',
        });
      }
      const first = jobId === undefined ? undefined : ids.get(jobId);
      if (first !== undefined) errors.push({ field: `${field}.jobId`, message: `must differ from ${first}.jobId` });
      else if (jobId !== undefined) ids.set(jobId, field);
    }),
  );
  for (const [which, functionArn] of Object.entries(callbacks) as [string, string][]) {
    for (const message of refused(functionArn)) errors.push({ field: `${which}.functionArn`, message });
  }
  if (errors.length > 0) throw new InputError(errors);
}

/** Everything that a group consists of but its head. */
export interface Members {
  jobs: readonly Job[];
  parts: readonly GroupPart[];
  /** the fields of the jobs that have an id of their caller's own, by that */
  fields: ReadonlyMap<string, string>;
}

/**
 * Writes the code, the jobs and the parts, and then asks for the parts to be brought on their way, which waits until the head
 * knows of them. Doing it twice writes the same once more.
 * @throws ConflictError when an id is taken; what was written of the others is taken back
 */
export async function writeMembers({ jobs, parts, fields }: Members, ports: WriteMembersPorts): Promise<void> {
  const functionArns = [...new Set(jobs.map(({ functionArn }) => functionArn))];
  await eachOf(functionArns, (functionArn) =>
    ports.code.put({ codeId: codeIdOf(functionArn), kind: 'job', functionArn }),
  );
  const own = jobs.filter(({ jobId }) => fields.has(jobId));
  await writeOwn(own, fields, ports);
  await ports.jobs.putAll(jobs.filter(({ jobId }) => !fields.has(jobId)));
  await eachOf(parts, (part) => ports.groups.putPart(part));
  const [first] = parts;
  if (first)
    await sendPartWork(
      first.groupId,
      parts.map(({ partId }) => partId),
      ports,
    );
}

/** The ids are the caller's: another job may have one of them. */
async function writeOwn(jobs: readonly Job[], fields: Members['fields'], ports: WriteMembersPorts): Promise<void> {
  const written: Job[] = [];
  const taken: Job[] = [];
  await eachOf(jobs, async (job) => {
    if (taken.length > 0) return;
    if (await putOwn(job, ports)) written.push(job);
    else taken.push(job);
  });
  const [refused] = taken;
  if (!refused) return;
  await takeBack(written, ports);
  const { jobId } = refused;
  throw new ConflictError(
    `${fields.get(jobId)}.jobId`,
    `job ${jobId} exists already; delete it first, or choose another jobId`,
  );
}

async function putOwn(job: Job, ports: WriteMembersPorts): Promise<boolean> {
  if (await ports.jobs.put(job)) return true;
  const [standing] = await ports.jobs.readRows([job.jobId]);
  if (!standing) return ports.jobs.put(job);
  // Written by this very request before.
  if (standing.state !== 'DELETED') return standing.lifeId === job.lifeId;
  if (standing.lifeId !== '') await removeNotifications(standing.jobId, standing.lifeId, ports);
  return ports.jobs.put({ ...job, revision: standing.revision + 1 }, standing);
}

/** Also jobs that were added in vain: to a batch that came to its end meanwhile. */
export async function takeBack(jobs: readonly JobRow[], { jobs: store }: Pick<Ports, 'jobs'>): Promise<void> {
  const rows = await store.readRows(jobs.map(({ jobId }) => jobId));
  const lives = new Map(jobs.map(({ jobId, lifeId }) => [jobId, lifeId]));
  await eachOf(rows, async (row) => {
    if (row.lifeId !== lives.get(row.jobId) || row.state === 'DELETED') return;
    await store.update({ ...row, revision: row.revision + 1, state: 'DELETED' }, row);
  });
}

async function eachOf<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += SIDE_BY_SIDE) {
    await Promise.all(items.slice(from, from + SIDE_BY_SIDE).map(act));
  }
}
