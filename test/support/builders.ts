import type { Activation } from '../../src/domain/activation';
import { scheduledRun } from '../../src/domain/activation';
import { codeIdOf } from '../../src/domain/guid';
import type { Job, JobSchedule } from '../../src/domain/job';
import { DEFAULT_MISFIRE } from '../../src/domain/misfire';
import { DEFAULT_RETRY } from '../../src/domain/retry-policy';
import { transition, type Run, type RunChanges } from '../../src/domain/run';

export const NOON = Date.UTC(2027, 4, 4, 12, 0, 0);
export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
export const RETENTION_MS = 30 * DAY;

export function functionArn(name: string): string {
  return `arn:aws:lambda:eu-west-1:111122223333:function:${name}`;
}

export function every(expression: string, anchorAt = NOON): JobSchedule {
  return { kind: 'recurring', expression, timezone: 'UTC', anchorAt };
}

export function onceAt(at: number): JobSchedule {
  return { kind: 'once', at, timezone: 'UTC' };
}

export function aJob(changes: Partial<Job> = {}): Job {
  const arn = changes.functionArn ?? functionArn('job-report');
  return {
    jobId: 'report',
    revision: 1,
    state: 'ACTIVE',
    generations: [{ id: 'g1', startedAt: NOON - HOUR }],
    lifeId: 'g1',
    requestId: 'request-1',
    requestDigest: 'digest-1',
    tags: [],
    functionArn: arn,
    codeId: codeIdOf(arn),
    schedule: onceAt(NOON),
    retry: DEFAULT_RETRY,
    misfire: DEFAULT_MISFIRE,
    timeoutSeconds: 840,
    createdAt: NOON - HOUR,
    subscribedStates: [],
    payload: 'null',
    ...changes,
  };
}

export function anActivation(changes: Partial<Activation> = {}): Activation {
  return {
    version: 1,
    jobId: 'report',
    generation: 'g1',
    origin: 'scheduled',
    nominalAt: NOON,
    dueAt: NOON,
    sequence: 1,
    ...changes,
  };
}

/** The run of `anActivation()`, begun at NOON unless said otherwise. */
export function aStartedRun(changes: RunChanges = {}): Run {
  return transition(scheduledRun(anActivation(), RETENTION_MS), 'STARTED', NOON, {
    attempt: 1,
    startedAt: NOON,
    latenessMs: 0,
    leaseUntil: NOON + MINUTE,
    ...changes,
  });
}
