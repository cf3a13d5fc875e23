import type { ConcurrencyPolicy, OverlapPolicy, Priority, RateLimitPolicy } from './job';
import type { MisfirePolicy } from './misfire';
import type { RetryPolicy } from './retry-policy';
import type { DstOptions } from './schedule';

/** What an edit changes, checked; what is absent stays, `null` takes an optional field away. */
export interface JobChanges {
  name?: string | null;
  tags?: readonly string[];
  functionArn?: string;
  /** JSON text exactly as the caller wrote it */
  payload?: string;
  retry?: RetryPolicy;
  misfire?: MisfirePolicy;
  overlap?: OverlapPolicy | null;
  jitterSeconds?: number | null;
  maxRuns?: number | null;
  timeoutSeconds?: number;
  priority?: Priority | null;
  concurrency?: ConcurrencyPolicy | null;
  rateLimit?: RateLimitPolicy | null;
  completion?: 'callback' | null;
  heartbeatSeconds?: number | null;
  schedule?: ScheduleChanges;
}

export interface ScheduleChanges {
  expression?: string;
  timezone?: string | null;
  dst?: DstOptions | null;
  /** epoch ms */
  startAt?: number | null;
  /** epoch ms */
  endAt?: number | null;
}
