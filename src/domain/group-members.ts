import { memberJobIdOf, type Group, type GroupPart } from './group';
import { dealtOut } from './group-order';
import { codeIdOf, guidFrom } from './guid';
import type { Job } from './job';
import type { JobRequest } from './job-request';
import { longestBackoffMs } from './retry-policy';

/** Jobs that are put into a group together. */
export interface Deal {
  group: Pick<Group, 'groupId' | 'kind' | 'createdAt' | 'callbacks'>;
  members: readonly (readonly JobRequest[])[];
  /** the ids of their parts begin with it */
  prefix: string;
  /** when they were asked for, epoch ms */
  askedAt: number;
  expiresAt: number;
}

/** The parts and jobs of a deal: the same for the same deal, so that it may be written twice. */
export function membersOf(deal: Deal): { parts: GroupPart[]; jobs: Job[] } {
  const hands = dealtOut(deal.members);
  const parts = hands.map((hand, nth) => partOf(hand, nth, hands.length, deal));
  const jobs = hands.flatMap((hand, nth) =>
    hand.flat().map((request, index) => jobOf(request, parts[nth]!, index, deal)),
  );
  return { parts, jobs };
}

function partOf(hand: readonly (readonly JobRequest[])[], nth: number, parts: number, deal: Deal): GroupPart {
  const jobs = hand.flat();
  const own = jobs.flatMap(({ jobId }, index) => (jobId === undefined ? [] : [[index, jobId] as const]));
  const lengths = hand.map(({ length }) => length);
  return {
    groupId: deal.group.groupId,
    partId: `${deal.prefix}${nth}`,
    revision: 1,
    states: 'P'.repeat(jobs.length),
    ...(lengths.every((length) => length === 1) ? {} : { lengths }),
    ...(own.length === 0 ? {} : { jobIds: Object.fromEntries(own) }),
    ...(deal.group.callbacks.progress === undefined ? {} : { progressParts: parts }),
    expiresAt: deal.expiresAt,
  };
}

function jobOf(request: JobRequest, part: GroupPart, index: number, { group, askedAt, expiresAt }: Deal): Job {
  const { jobId: _own, schedule, ...definition } = request;
  const { groupId, kind, createdAt } = group;
  const { partId } = part;
  const jobId = memberJobIdOf(part, index);
  const generation = guidFrom('member-generation', groupId, partId, String(index));
  return {
    ...definition,
    jobId,
    revision: 1,
    state: 'ACTIVE',
    generations: [{ id: generation, startedAt: askedAt }],
    lifeId: generation,
    codeId: codeIdOf(request.functionArn),
    schedule: {
      kind: 'once',
      at: createdAt,
      timezone: 'UTC',
      ...(schedule.kind === 'delay' ? { delaySeconds: schedule.delaySeconds } : {}),
    },
    member: { groupId, kind, partId, index },
    createdAt: askedAt,
    subscribedStates: [],
    expiresAt,
  };
}

/** The longest that the jobs of a group may take by what they say themselves, in ms: all delays, attempts and waits between them. */
export function longestMs(members: readonly (readonly JobRequest[])[]): number {
  return members.reduce(
    (most, member) =>
      Math.max(
        most,
        member.reduce((sum, job) => sum + longestOfJobMs(job), 0),
      ),
    0,
  );
}

function longestOfJobMs({ schedule, retry, timeoutSeconds, heartbeatSeconds = 0 }: JobRequest): number {
  const delaySeconds = schedule.kind === 'delay' ? schedule.delaySeconds : 0;
  const attemptsSeconds = (timeoutSeconds + heartbeatSeconds) * retry.maxAttempts;
  return (delaySeconds + attemptsSeconds) * 1000 + longestBackoffMs(retry) * (retry.maxAttempts - 1);
}
