import type { ConcurrencyPolicy, OverlapPolicy, Priority, RateLimitPolicy, UniquePolicy } from './job';
import type { MisfirePolicy } from './misfire';
import type { RetryPolicy } from './retry-policy';
import type { DstOptions } from './schedule';

/** What a caller asks for when creating a job, checked and with its defaults filled in. */
export interface JobRequest {
  /** the caller's own id for the job */
  jobId?: string;
  name?: string;
  tags: readonly string[];
  functionArn: string;
  schedule: ScheduleRequest;
  /** JSON text exactly as the caller wrote it */
  payload: string;
  retry: RetryPolicy;
  misfire: MisfirePolicy;
  overlap?: OverlapPolicy;
  jitterSeconds?: number;
  maxRuns?: number;
  timeoutSeconds: number;
  /** absent: normal */
  priority?: Priority;
  unique?: UniquePolicy;
  concurrency?: ConcurrencyPolicy;
  rateLimit?: RateLimitPolicy;
  completion?: 'callback';
  heartbeatSeconds?: number;
}

export type ScheduleRequest =
  | { kind: 'immediate' }
  | { kind: 'delay'; delaySeconds: number }
  /** well-formed; whether it still names anything is judged when the job is created */
  | {
      kind: 'expression';
      expression: string;
      timezone: string;
      dst?: DstOptions;
      /** epoch ms */
      startAt?: number;
      /** epoch ms */
      endAt?: number;
    };
