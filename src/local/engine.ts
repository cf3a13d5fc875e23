import { answerCommand } from '../operations/answer-command';
import { deliverNotices } from '../operations/deliver-notices';
import { runActivations } from '../operations/run-activation';
import { sweep } from '../operations/sweep';
import { tick } from '../operations/tick';
import type { CommandName, Invoker, Ports } from '../ports';
import { startConsumer } from './consumer';
import { runRule } from './loop';

const DAY_MS = 24 * 3_600_000;
/** What is past its retention stands for at most a tenth of it more, so that a store is never much larger than what it is to keep. */
const REMOVALS_PER_RETENTION = 10;
const COMMAND_NAMES: readonly CommandName[] = ['job-create', 'job-delete', 'notify-create', 'notify-delete'];

export interface Engine {
  /** Takes nothing new and resolves when what is at work is over. */
  stop(): Promise<void>;
  /** messages at work */
  active(): number;
  /** Begins a loop now instead of at the instant, by the clock as it was, that it waits for. */
  clockWasSetBack(): void;
}

/**
 * What moves the system when nobody asks anything of it: the loop, the consumers of the queues, the daily sweep. Deployed,
 * these are EventBridge, Step Functions and the event source mappings.
 */
export function startEngine(options: {
  ports: Ports;
  /** Calls the subscribers, so that they need not wait for a place beside long jobs; without it `ports.invoker` does. */
  notifierInvoker?: Invoker;
  /** attempts side by side */
  concurrency: number;
  /** Removes from the store what is past its retention: ten times in the shorter of the retentions, and each day at least. */
  removeExpired?: () => Promise<void>;
}): Engine {
  const { ports, concurrency, removeExpired } = options;
  const { clock, journal, settings } = ports;
  const notifierPorts: Ports = { ...ports, invoker: options.notifierInvoker ?? ports.invoker };
  const stopping = new AbortController();
  const consumers = [
    ...[ports.highActivations, ports.activations].map((queue) =>
      startConsumer({
        queue,
        concurrency,
        carry: (messages) => runActivations(messages, ports, queue),
        clock,
        journal,
      }),
    ),
    startConsumer({
      queue: ports.notify,
      concurrency,
      carry: (messages) => deliverNotices(messages, notifierPorts),
      clock,
      journal,
    }),
    ...COMMAND_NAMES.map((name) =>
      startConsumer({
        queue: ports.commands[name],
        concurrency,
        carry: async ([message]) => {
          await answerCommand(name, message!, ports);
          return [];
        },
        clock,
        journal,
      }),
    ),
  ];
  let setBack = new AbortController();
  const startRule = () =>
    runRule({
      clock,
      tick: (input) => tick(input, ports),
      journal,
      stopping: AbortSignal.any([stopping.signal, setBack.signal]),
    });
  let rule: Promise<unknown> = startRule();

  const noted = async (work: (() => Promise<unknown>) | undefined) => {
    try {
      await work?.();
    } catch (error) {
      journal.note('sweep-failed', { error: (error as Error).name });
    }
  };
  const sweepNowAndThen = async () => {
    const periodMs = Math.min(settings.retentionMs, settings.failedRetentionMs) / REMOVALS_PER_RETENTION;
    let nextDayAt = clock.now();
    while (!stopping.signal.aborted) {
      const startedAt = clock.now();
      await noted(removeExpired);
      if (startedAt >= nextDayAt) {
        nextDayAt = startedAt + DAY_MS;
        await noted(() => sweep(ports, { paceMs: 0 }));
      }
      await clock.waitUntil(Math.min(clock.now() + periodMs, nextDayAt), stopping.signal);
    }
  };
  const sweeping = sweepNowAndThen();

  return {
    active: () => consumers.reduce((sum, consumer) => sum + consumer.active(), 0),
    clockWasSetBack() {
      setBack.abort();
      setBack = new AbortController();
      rule = Promise.all([rule, startRule()]);
    },
    async stop() {
      stopping.abort();
      await Promise.all([rule, sweeping, ...consumers.map((consumer) => consumer.stop())]);
    },
  };
}
