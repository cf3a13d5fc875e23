import type { JobRequest } from '../domain/job-request';
import { DEFAULT_MISFIRE } from '../domain/misfire';
import { DEFAULT_RETRY } from '../domain/retry-policy';
import { createJob } from '../operations/create-job';
import { createNotification } from '../operations/create-notification';
import type { Ports } from '../ports';

const CREATED = 'examples-created';
const CENTURY_MS = 100 * 365 * 86_400_000;

const arn = (name: string) => `arn:aws:lambda:eu-west-1:111122223333:function:${name}`;

const EXAMPLES: readonly (Partial<JobRequest> & { jobId: string; functionArn: string })[] = [
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
  },
  {
    jobId: 'example-delayed',
    name: 'delayed report',
    functionArn: arn('job-report'),
    schedule: { kind: 'delay', delaySeconds: 10 },
    payload: '{"rows":3,"source":"the examples"}',
  },
];

/** The jobs that a newcomer sees first. Made once per store: who deletes them has them deleted. */
export async function createExamples(ports: Ports): Promise<void> {
  const { clock, control } = ports;
  if (await control.read(CREATED)) return;
  for (const example of EXAMPLES) {
    const request: JobRequest = {
      tags: ['example'],
      schedule: { kind: 'immediate' },
      payload: 'null',
      retry: DEFAULT_RETRY,
      misfire: DEFAULT_MISFIRE,
      timeoutSeconds: 60,
      ...example,
    };
    await createJob(`create ${example.jobId}`, request, ports);
  }
  for (const jobId of ['example-flaky', 'example-delayed']) {
    const request = { jobId, state: 'DONE', functionArn: arn('notify-print') } as const;
    await createNotification(`notify ${jobId}`, request, ports);
  }
  await control.put({ name: CREATED, value: 'true', expiresAt: clock.now() + CENTURY_MS });
}
