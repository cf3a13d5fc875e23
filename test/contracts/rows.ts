import type { Group, GroupPart } from '../../src/domain/group';
import type { Job } from '../../src/domain/job';
import type { Notification } from '../../src/domain/notification';
import type { Run } from '../../src/domain/run';
import { freshId } from './contract';

/** 2026-03-01T12:00:00Z */
export const NOON = 1_772_366_400_000;

export function aJob(fields: Partial<Job> = {}): Job {
  return {
    jobId: freshId('job'),
    revision: 1,
    state: 'ACTIVE',
    generations: [{ id: '019c0000-0000-7000-8000-000000000001', startedAt: NOON }],
    lifeId: '019c0000-0000-7000-8000-00000000000a',
    requestId: 'request-1',
    requestDigest: 'digest-1',
    name: 'nightly report',
    tags: [],
    functionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:job-report',
    codeId: '019c0000-0000-7000-8000-0000000000c0',
    schedule: { kind: 'recurring', expression: 'rate(10 minutes)', timezone: 'Europe/London', anchorAt: NOON },
    retry: {
      maxAttempts: 3,
      backoff: { kind: 'exponential', initialSeconds: 0.5, factor: 2, maxSeconds: 3600 },
      jitter: 'none',
    },
    misfire: { policy: 'run-once', graceSeconds: 60 },
    timeoutSeconds: 60,
    createdAt: NOON,
    subscribedStates: [],
    payload: '{"any":"JSON"}',
    ...fields,
  };
}

/** The id begins with the nominal instant, as text that sorts by time. */
export function aRun(fields: Partial<Run> = {}): Run {
  const nominalAt = fields.nominalAt ?? NOON;
  return {
    jobId: freshId('job'),
    runId: `${nominalAt.toString().padStart(15, '0')}-${freshId('run')}`,
    revision: 1,
    sequence: 2,
    state: 'STARTED',
    generation: '019c0000-0000-7000-8000-000000000001',
    origin: 'scheduled',
    nominalAt,
    dueAt: nominalAt,
    attempt: 1,
    startedAt: nominalAt + 3,
    changedAt: nominalAt + 3,
    leaseUntil: nominalAt + 60_003,
    attempts: [],
    expiresAt: nominalAt + 30 * 86_400_000,
    ...fields,
  };
}

export function aNotification(fields: Partial<Notification> = {}): Notification {
  return {
    jobId: freshId('job'),
    notifyId: freshId('notify'),
    state: 'DONE',
    functionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:notify-report',
    codeId: '019c0000-0000-7000-8000-0000000000c1',
    lifeId: '019c0000-0000-7000-8000-00000000000a',
    createdAt: NOON,
    ...fields,
  };
}

export function aGroup(fields: Partial<Group> = {}): Group {
  return {
    groupId: freshId('group'),
    kind: 'batch',
    revision: 1,
    sequence: 1,
    state: 'RUNNING',
    callbacks: {},
    parts: { '0': 0 },
    createdAt: NOON,
    requestDigest: 'digest-1',
    expiresAt: NOON + 30 * 86_400_000,
    ...fields,
  };
}

export function aPart(fields: Partial<GroupPart> = {}): GroupPart {
  return {
    groupId: freshId('group'),
    partId: '0',
    revision: 1,
    states: 'PPP',
    expiresAt: NOON + 30 * 86_400_000,
    ...fields,
  };
}
