import { LocalCodeStore } from '../adapters/local/code-store';
import { LocalControlStore } from '../adapters/local/control-store';
import type { Database } from '../adapters/local/database';
import { LocalJobStore } from '../adapters/local/job-store';
import { LocalGroupStore } from '../adapters/local/group-store';
import { LocalNotificationStore } from '../adapters/local/notification-store';
import { LocalQueue } from '../adapters/local/queue';
import { LocalRunStore } from '../adapters/local/run-store';
import { sweepExpired } from '../adapters/local/sweep';
import { cachedCode } from '../operations/cached-code';
import type { Ports } from '../ports';

const VISIBILITY_MS = 60_000;
/** Taking a message costs a commit: activations come so much earlier, and the runner waits for their instant. */
const LEAD_MS = 40;
/** A message that was taken so often without success goes to the dead-letter queue. */
const MOST_RECEIVES = 5;

/** The ports of the local system over one database, and what a new holder of that database does first. */
export interface LocalPorts {
  ports: Ports;
  /** Ends the leases and visibilities that a predecessor left, so that what was in flight runs again at once. */
  takeOver: () => Promise<{ runs: number; messages: number }>;
  /** Removes what is past its retention. */
  sweepExpired: () => Promise<void>;
}

export function localPorts(
  database: Database,
  rest: Pick<Ports, 'clock' | 'ids' | 'random' | 'invoker' | 'journal' | 'settings'>,
): LocalPorts {
  const { clock, settings } = rest;
  const all: LocalQueue[] = [];
  const plainQueue = (name: string): LocalQueue => {
    const queue = new LocalQueue(database, { name, clock, visibilityMs: VISIBILITY_MS });
    all.push(queue);
    return queue;
  };
  const consumedQueue = (name: string, deadLetters = plainQueue(`${name}-dead`), leadMs = 0): LocalQueue => {
    const options = {
      name,
      clock,
      leadMs,
      visibilityMs: VISIBILITY_MS,
      deadLetters: { queue: deadLetters, maxReceives: MOST_RECEIVES },
    };
    const queue = new LocalQueue(database, options);
    all.push(queue);
    return queue;
  };
  const deadActivations = plainQueue('job-activation-dead');
  const jobs = new LocalJobStore(database, settings);
  const runs = new LocalRunStore(database, settings);
  const notifications = new LocalNotificationStore(database);
  const ports: Ports = {
    ...rest,
    jobs,
    runs,
    notifications,
    code: cachedCode(new LocalCodeStore(database)),
    control: new LocalControlStore(database, { clock }),
    groups: new LocalGroupStore(database),
    deadActivations,
    activations: consumedQueue('job-activation', deadActivations, LEAD_MS),
    highActivations: consumedQueue('job-activation-high', deadActivations, LEAD_MS),
    notify: consumedQueue('notify'),
    commands: {
      'job-create': consumedQueue('job-create'),
      'job-delete': consumedQueue('job-delete'),
      'notify-create': consumedQueue('notify-create'),
      'notify-delete': consumedQueue('notify-delete'),
    },
    replies: {
      'job-created': plainQueue('job-created'),
      'job-deleted': plainQueue('job-deleted'),
      'notify-created': plainQueue('notify-created'),
      'notify-deleted': plainQueue('notify-deleted'),
    },
  };
  return {
    ports,
    async takeOver() {
      const messages = await Promise.all(all.map((queue) => queue.makeAllVisible()));
      return { runs: await runs.releaseLeases(), messages: messages.reduce((sum, count) => sum + count, 0) };
    },
    async sweepExpired() {
      await sweepExpired(database, { jobs, runs, notifications }, clock.now());
    },
  };
}
