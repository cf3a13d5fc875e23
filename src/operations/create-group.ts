import { ConflictError, InputError, NotFoundError } from '../domain/errors';
import { groupIdOf, tallyOf, type Group, type GroupKind, type MemberState, type Tally } from '../domain/group';
import { longestMs, membersOf, type Deal } from '../domain/group-members';
import type { GroupRequest } from '../domain/group-request';
import { digestOf, guidFrom } from '../domain/guid';
import type { JobRequest } from '../domain/job-request';
import { LIMITS } from '../domain/limits';
import type { Ports } from '../ports';
import type { FollowUpPorts } from './follow-up';
import { keepUntil } from './keep-group';
import { changeHead, followGroup, listed } from './tell-group';
import { checkMembers, fieldOf, takeBack, writeMembers } from './write-members';

export type GroupPorts = FollowUpPorts & Pick<Ports, 'notifications'>;

export interface GroupStanding {
  group: Group;
  tally: Tally;
}

/** A job of a group as it stands. `runId` names its run, which has a row once it has begun or ended. */
export interface Member {
  jobId: string;
  runId: string;
  state: MemberState;
}

/** How long the answer to a request is remembered. */
const REQUEST_KEPT_MS = 24 * 3_600_000;
/** A batch of more additions would have a head that is large to write. */
const MOST_PARTS = 1_000;

/**
 * Creates a chain or batch with all its jobs, and puts what comes first on its way. A repeat of the same request changes
 * nothing more.
 * @throws InputError with fields such as `jobs[3].target.functionArn`; ConflictError as in `createJob`
 */
export async function createGroup(
  kind: GroupKind,
  requestId: string,
  request: GroupRequest,
  ports: GroupPorts,
): Promise<GroupStanding> {
  const groupId = groupIdOf(kind, requestId);
  const requestDigest = digestOf(JSON.stringify(request));
  const standing = await ports.groups.read(groupId);
  if (standing) return repeatOf(standing, requestId, requestDigest, ports);

  const { name, members, callbacks, allowFailures } = request;
  checkMembers(kind, members, callbacks, ports.settings);
  const createdAt = await askedAtFor(groupId, ports);
  const expiresAt = createdAt + keptMs(members, ports);
  const group: Group = {
    groupId,
    kind,
    revision: 1,
    sequence: 1,
    state: 'RUNNING',
    ...(name === undefined ? {} : { name }),
    callbacks,
    ...(allowFailures ? { allowFailures } : {}),
    parts: {},
    createdAt,
    requestDigest,
    expiresAt,
  };
  // Another content under the same request id, be it at the same time, makes other rows: the head knows one of the two.
  const deal: Deal = { group, members, prefix: `${requestDigest.slice(0, 12)}-`, askedAt: createdAt, expiresAt };
  const parts = await write(kind, deal, ports);
  const isEmpty = members.length === 0;
  const head: Group = isEmpty ? { ...group, sequence: 2, state: 'DONE', finishedAt: createdAt } : { ...group, parts };
  if (!(await ports.groups.put(head))) {
    const other = await ports.groups.read(groupId);
    if (other && other.requestDigest !== requestDigest) await takeBack(membersOf(deal).jobs, ports);
    return repeatOf(other ?? head, requestId, requestDigest, ports);
  }
  await followGroup(head, true, ports);
  return standingOf(head, ports);
}

/** @returns the parts as the head is to know them */
async function write(kind: GroupKind, deal: Deal, ports: GroupPorts): Promise<Group['parts']> {
  const { parts, jobs } = membersOf(deal);
  const fields = new Map(
    deal.members.flatMap((member, nth) =>
      member.flatMap(({ jobId }, step) =>
        jobId === undefined ? [] : [[jobId, fieldOf(kind, deal.members, nth, step)] as const],
      ),
    ),
  );
  await writeMembers({ jobs, parts, fields }, ports);
  return Object.fromEntries(parts.map(({ partId, revision }) => [partId, -revision]));
}

/** @throws ConflictError when the request had another content */
async function repeatOf(
  standing: Group,
  requestId: string,
  requestDigest: string,
  ports: GroupPorts,
): Promise<GroupStanding> {
  if (standing.requestDigest !== requestDigest) {
    throw new ConflictError(
      'requestId',
      `request id ${JSON.stringify(requestId)} was already used for another ${standing.kind}; choose a new one, or send the same content`,
    );
  }
  await followGroup(standing, false, ports);
  return standingOf(standing, ports);
}

/** When a request came first: what is written for it once more is the same then, to the last byte. */
async function askedAtFor(id: string, { clock, control }: GroupPorts): Promise<number> {
  const name = `group-request:${id}`;
  const now = clock.now();
  if (await control.put({ name, value: String(now), expiresAt: now + REQUEST_KEPT_MS })) return now;
  return Number((await control.read(name))?.value ?? now);
}

function keptMs(members: GroupRequest['members'], { settings }: GroupPorts): number {
  return Math.max(settings.retentionMs, settings.failedRetentionMs) + longestMs(members);
}

export async function standingOf(group: Group, { groups }: Pick<Ports, 'groups'>): Promise<GroupStanding> {
  return { group, tally: tallyOf(listed(group, await groups.readParts(group.groupId))) };
}

/** @throws NotFoundError when there is no such group of this kind */
export async function headOf(kind: GroupKind, groupId: string, { groups }: Pick<Ports, 'groups'>): Promise<Group> {
  const head = await groups.read(groupId);
  if (head?.kind === kind) return head;
  throw new NotFoundError(`${kind}Id`, `there is no ${kind} ${JSON.stringify(groupId)}`);
}

/** Adds jobs to a batch that is still RUNNING. @throws NotFoundError; ConflictError when it is over; InputError */
export async function addToBatch(
  batchId: string,
  requestId: string,
  members: readonly (readonly JobRequest[])[],
  ports: GroupPorts,
): Promise<GroupStanding> {
  const head = await headOf('batch', batchId, ports);
  const request = guidFrom('added', batchId, requestId);
  const prefix = `${request.slice(0, 13)}-${digestOf(JSON.stringify(members)).slice(0, 12)}-`;
  const isRepeat = ({ parts }: Group) => {
    const known = Object.keys(parts).find((partId) => partId.startsWith(`${request.slice(0, 13)}-`));
    if (known !== undefined && !known.startsWith(prefix)) throw usedForOther(requestId);
    return known !== undefined;
  };
  if (members.length === 0 || isRepeat(head)) return standingOf(head, ports);

  refuseOver(head);
  checkMembers('batch', members, {}, ports.settings);
  await refuseTooMany(head, members, ports);
  const askedAt = await askedAtFor(request, ports);
  const expiresAt = Math.max(head.expiresAt, askedAt + keptMs(members, ports));
  const deal: Deal = { group: head, members, prefix, askedAt, expiresAt };
  const parts = await write('batch', deal, ports);
  try {
    const extended = await changeHead(
      batchId,
      async (seen) => {
        if (isRepeat(seen)) return seen;
        refuseOver(seen);
        return { ...seen, parts: { ...seen.parts, ...parts } };
      },
      ports,
    );
    // All of a batch has one end.
    if (expiresAt > head.expiresAt) await keepUntil(batchId, expiresAt, ports);
    return await standingOf(extended ?? head, ports);
  } catch (error) {
    if (error instanceof ConflictError) await takeBack(membersOf(deal).jobs, ports);
    throw error;
  }
}

function usedForOther(requestId: string): ConflictError {
  return new ConflictError(
    'requestId',
    `request id ${JSON.stringify(requestId)} was already used for other jobs; choose a new one, or send the same content`,
  );
}

/** @throws ConflictError */
function refuseOver({ groupId, state, stoppedAt }: Group): void {
  if (state === 'RUNNING' && stoppedAt === undefined) return;
  const why = state === 'RUNNING' ? 'was stopped by a failure' : `is ${state}`;
  throw new ConflictError('batchId', `batch ${groupId} ${why}; nothing can be added to it, create another batch`);
}

/** @throws InputError, ConflictError */
async function refuseTooMany(
  head: Group,
  members: readonly (readonly JobRequest[])[],
  ports: GroupPorts,
): Promise<void> {
  const added = members.reduce((sum, { length }) => sum + length, 0);
  const { tally } = await standingOf(head, ports);
  if (tally.total + added > LIMITS.batchJobs) {
    const message = `must not bring the batch above ${LIMITS.batchJobs} jobs; it has ${tally.total}`;
    throw new InputError([{ field: 'jobs', message }]);
  }
  if (Object.keys(head.parts).length >= MOST_PARTS) {
    throw new ConflictError(
      'batchId',
      `batch ${head.groupId} was added to too often; add more jobs at a time, or create another`,
    );
  }
}
