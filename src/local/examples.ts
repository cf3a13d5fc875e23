import { ConflictError, NotFoundError } from '../domain/errors';
import type { JobRow } from '../domain/job';
import type { JobRequest } from '../domain/job-request';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import { DEFAULT_RETRY } from '../domain/retry-policy';
import { createJob } from '../operations/create-job';
import { createNotification } from '../operations/create-notification';
import { pauseJob, resumeJob } from '../operations/pause-job';
import type { Ports } from '../ports';

const CREATED = 'examples-created';
const CENTURY_MS = 100 * 365 * 86_400_000;

const arn = (name: string) => `arn:aws:lambda:eu-west-1:111122223333:function:${name}`;

type Example = Partial<JobRequest> & { jobId: string; functionArn: string; isAnnounced?: boolean };

const EXAMPLES: readonly Example[] = [
  {
    jobId: 'example-heartbeat',
    name: 'heartbeat',
    functionArn: arn('job-heartbeat'),
    schedule: { kind: 'expression', expression: 'rate(1 second)', timezone: 'UTC' },
  },
  {
    jobId: 'example-flaky',
    name: 'flaky',
    functionArn: arn('job-flaky'),
    retry: { maxAttempts: 3, backoff: { kind: 'fixed', seconds: 2 }, jitter: 'none' },
    isAnnounced: true,
  },
  {
    jobId: 'example-delayed',
    name: 'delayed report',
    functionArn: arn('job-report'),
    schedule: { kind: 'delay', delaySeconds: 10 },
    payload: '{"rows":3,"source":"the examples"}',
    isAnnounced: true,
  },
];

/** The jobs that a newcomer sees first. Made once per store: who deletes them has them deleted. */
export async function createExamples(ports: Ports): Promise<void> {
  const { clock, control } = ports;
  if (await control.read(CREATED)) return;
  for (const example of EXAMPLES) await createExample(example, ports);
  await control.put({ name: CREATED, value: 'true', expiresAt: clock.now() + CENTURY_MS });
}

async function createExample({ isAnnounced, ...example }: Example, ports: Ports): Promise<void> {
  const { jobId } = example;
  const request: JobRequest = {
    tags: ['example'],
    schedule: { kind: 'immediate' },
    payload: 'null',
    retry: DEFAULT_RETRY,
    misfire: DEFAULT_MISFIRE,
    timeoutSeconds: 60,
    ...example,
  };
  try {
    await createJob(requestIdOf(jobId), request, ports);
    if (!isAnnounced) return;
    await createNotification(`notify ${jobId}`, { jobId, state: 'DONE', functionArn: arn('notify-print') }, ports);
  } catch (error) {
    // The id is taken by a job of the user's own, or an earlier start made the example and it was deleted since.
    if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
    ports.journal.note('example-skipped', { jobId, reason: error.name });
  }
}

/** Who paused an example, so that nobody else's pause is taken back. */
const BY_US = 'escapement';

/** Where the handlers are others, the examples have no code: they rest until it is there again. */
export async function pauseExamples(ports: Ports): Promise<void> {
  for (const row of await ownExamples(ports)) {
    if (row.state !== 'ACTIVE') continue;
    await pauseJob(row.jobId, { reason: 'the handlers are not those of the examples', by: BY_US }, ports);
  }
}

export async function resumeExamples(ports: Ports): Promise<void> {
  for (const row of await ownExamples(ports)) if (row.pause?.by === BY_US) await resumeJob(row.jobId, ports);
}

async function ownExamples({ jobs }: Ports): Promise<JobRow[]> {
  const rows = await jobs.readRows(EXAMPLES.map(({ jobId }) => jobId));
  return rows.filter(({ jobId, requestId, state }) => requestId === requestIdOf(jobId) && state !== 'DELETED');
}

function requestIdOf(jobId: string): string {
  return `create ${jobId}`;
}
