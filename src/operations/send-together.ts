import type { Clock, OutgoingMessage, Queue } from '../ports';

/** So long a message waits for its neighbours, at most: one of them may be slow. */
const PATIENCE_MS = 1_000;

interface Waiting {
  queue: Queue;
  messages: readonly OutgoingMessage[];
  sent: () => void;
  failed: (error: unknown) => void;
}

/**
 * SQS is paid by the request, and takes ten messages in one. The messages of a batch are carried side by side, each by
 * itself: here what one of them sends waits until every other one waits too or is over, and then goes out with theirs.
 */
export class SendTogether {
  readonly #clock: Clock;
  #carried: number;
  #waiting: Waiting[] = [];
  #patience = new AbortController();

  /** `carried`: messages of the batch */
  constructor(carried: number, clock: Clock) {
    this.#carried = carried;
    this.#clock = clock;
  }

  /** The same ports, but what they send goes together: queues among them, and in records among them. */
  through<Ports extends object>(ports: Ports): Ports {
    const through = (port: unknown): unknown => {
      if (isQueue(port)) return { ...bound(port), send: (messages) => this.#send(port, messages) } satisfies Queue;
      const isRecord = typeof port === 'object' && port !== null && Object.values(port).some(isQueue);
      return isRecord ? this.through(port) : port;
    };
    return Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, through(port)])) as Ports;
  }

  /** One message of the batch has been carried, or left. */
  over(): void {
    this.#carried -= 1;
    this.#sendIfAllWait();
  }

  #send(queue: Queue, messages: readonly OutgoingMessage[]): Promise<void> {
    return new Promise((sent, failed) => {
      this.#waiting.push({ queue, messages, sent, failed });
      if (this.#waiting.length === 1) this.#losePatience(this.#patience.signal);
      this.#sendIfAllWait();
    });
  }

  #losePatience(noNeed: AbortSignal): void {
    void this.#clock.waitUntil(this.#clock.now() + PATIENCE_MS, noNeed).then(() => {
      if (!noNeed.aborted) this.#sendAll();
    });
  }

  #sendIfAllWait(): void {
    if (this.#waiting.length > 0 && this.#waiting.length >= this.#carried) this.#sendAll();
  }

  #sendAll(): void {
    this.#patience.abort();
    this.#patience = new AbortController();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const queue of new Set(waiting.map((one) => one.queue))) {
      void sendAsOne(waiting.filter((one) => one.queue === queue));
    }
  }
}

/** If that fails each is sent by itself, some of them again: a message that a queue refuses must not harm its neighbours. */
async function sendAsOne(waiting: readonly Waiting[]): Promise<void> {
  try {
    await waiting[0]!.queue.send(waiting.flatMap(({ messages }) => messages));
    for (const { sent } of waiting) sent();
  } catch (error) {
    if (waiting.length === 1) return waiting[0]!.failed(error);
    await Promise.all(waiting.map((one) => sendAsOne([one])));
  }
}

function isQueue(port: unknown): port is Queue {
  return typeof port === 'object' && port !== null && 'send' in port && 'receive' in port;
}

function bound(queue: Queue): Omit<Queue, 'send'> {
  return {
    receive: (max, options) => queue.receive(max, options),
    remove: (receipts) => queue.remove(receipts),
    hide: (receipts, forMs) => queue.hide(receipts, forMs),
  };
}
