import type { OutgoingMessage, Queue, ReceivedMessage } from '../../src/ports';
import type { Chance } from './chance';
import type { Faults } from './faults';
import type { VirtualTime } from './virtual-time';

interface Message {
  messageId: string;
  body: string;
  sentAt: number;
  visibleAt: number;
  receives: number;
  receipt: string;
  /** of earlier receives */
  oldReceipts: string[];
}

export interface QueueOptions {
  name: string;
  time: VirtualTime;
  chance: Chance;
  faults: Faults;
  visibilityMs: number;
  deadLetters?: { queue: SimulatedQueue; maxReceives: number };
}

/** A standard queue: at least once, in no order, whole seconds only. */
export class SimulatedQueue implements Queue {
  readonly name: string;
  readonly messages = new Set<Message>();
  /** called when something may have become visible */
  onVisible: () => void = () => {};
  /** bodies accepted so far */
  sent = 0;
  readonly #options: QueueOptions;
  #ids = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** All that are there, hidden ones too. */
  get bodies(): string[] {
    return [...this.messages].map(({ body }) => body);
  }

  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const message of messages) this.#accept(message);
  }

  #accept({ body, delayMs = 0 }: OutgoingMessage): void {
    const { time, chance, faults, name } = this.#options;
    if (delayMs > 900_000) throw new Error(`a message of ${name} is delayed by ${delayMs} ms, above the limit`);
    this.sent++;
    const messageId = `${name}-${++this.#ids}`;
    const arrives = () => {
      const held = faults.strikes('late', 0.04, time.now, `${messageId} is held back`);
      return (
        time.now +
        Math.floor(delayMs / 1000) * 1000 +
        chance.between(1, 20) +
        (held ? faults.amount('late', 500, 600_000) : 0)
      );
    };
    const put = (visibleAt: number) =>
      this.#put({ messageId, body, sentAt: time.now, visibleAt, receives: 0, receipt: '', oldReceipts: [] });
    put(arrives());
    if (faults.strikes('twice', 0.05, time.now, `${messageId} comes twice`)) {
      put(arrives() + faults.amount('twice', 0, 300_000));
    }
  }

  #put(message: Message): void {
    this.messages.add(message);
    this.#options.time.at(message.visibleAt, () => this.onVisible());
  }

  async receive(max: number): Promise<ReceivedMessage[]> {
    return this.take(max);
  }

  take(max: number): ReceivedMessage[] {
    const { time, chance, faults, visibilityMs, deadLetters } = this.#options;
    const visible = [...this.messages].filter(({ visibleAt }) => visibleAt <= time.now);
    if (visible.length === 0) return [];
    if (faults.strikes('disorder', 0.05, time.now, `${this.name} answers an empty page`)) {
      time.after(500, () => this.onVisible());
      return [];
    }
    const isShuffled = faults.strikes('disorder', 0.3, time.now, `${this.name} delivers in another order`);
    const taken: ReceivedMessage[] = [];
    for (const message of (isShuffled ? chance.shuffled(visible) : visible).slice(0, max)) {
      if (deadLetters && message.receives >= deadLetters.maxReceives) {
        this.messages.delete(message);
        deadLetters.queue.#put({ ...message, receives: 0, visibleAt: time.now, receipt: '', oldReceipts: [] });
        continue;
      }
      message.receives++;
      if (message.receipt !== '') message.oldReceipts.push(message.receipt);
      message.receipt = `${message.messageId}/${chance.between(0, 2 ** 30)}`;
      this.#hide(message, visibilityMs);
      const { messageId, receipt, body, receives, sentAt } = message;
      taken.push({ messageId, receipt, body, receives, sentAt });
    }
    if (visible.length > max) time.after(1, () => this.onVisible());
    return taken;
  }

  async remove(receipts: readonly string[]): Promise<void> {
    const { time, faults } = this.#options;
    const named = this.#named(receipts);
    // Who received it before may remove it under the hands of who has it now, or not: SQS promises neither.
    const old = [...this.messages].filter(({ oldReceipts }) => oldReceipts.some((one) => receipts.includes(one)));
    const removed = old.filter(({ messageId }) =>
      faults.strikes('disorder', 0.5, time.now, `${messageId} is removed by an old receipt`),
    );
    for (const message of [...named, ...removed]) {
      this.messages.delete(message);
      if (faults.strikes('twice', 0.005, time.now, `${message.messageId} comes again after it was removed`)) {
        this.#put({
          ...message,
          receipt: '',
          oldReceipts: [],
          visibleAt: time.now + faults.amount('twice', 0, 300_000),
        });
      }
    }
  }

  async hide(receipts: readonly string[], forMs: number): Promise<void> {
    const { now } = this.#options.time;
    // What is visible again is not hidden by who received it before.
    for (const message of this.#named(receipts)) if (message.visibleAt > now) this.#hide(message, forMs);
  }

  #hide(message: Message, forMs: number): void {
    const { time } = this.#options;
    message.visibleAt = time.now + Math.floor(forMs / 1000) * 1000;
    time.at(message.visibleAt, () => this.onVisible());
  }

  #named(receipts: readonly string[]): Message[] {
    const wanted = new Set(receipts);
    return [...this.messages].filter(({ receipt }) => receipt !== '' && wanted.has(receipt));
  }
}
