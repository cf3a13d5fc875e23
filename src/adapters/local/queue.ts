import type { Clock, OutgoingMessage, Queue, ReceivedMessage } from '../../ports';
import { systemIds } from '../system';
import type { Database, TextTable } from './database';
import { LAST } from './due-index';
import { VisibilityHeap, type Waiting } from './visibility-heap';

/** As SQS has it. */
const LONGEST_BODY_BYTES = 1_048_576;
const LONGEST_DELAY_MS = 900_000;
const RETENTION_MS = 14 * 86_400_000;

/** Messages that one commit makes visible when a new holder begins. */
const MESSAGES_PER_STEP = 1_000;

/** A body above 1 MiB of UTF-8. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';

  constructor(queue: string, bytes: number) {
    super(
      `A message of ${bytes} bytes is too large for the queue ${queue}: at most ${LONGEST_BODY_BYTES} bytes of UTF-8`,
    );
  }
}

export interface LocalQueueOptions {
  name: string;
  clock: Clock;
  /**
   * A message sent with a delay is delivered so much before its end, default 0: its receiver waits for the instant itself,
   * and what a delivery costs is over by then.
   */
  leadMs?: number;
  /** how long a message that was taken stays hidden */
  visibilityMs: number;
  /** A message taken so many times without being removed moves to the dead-letter queue, which lies in the same database. */
  deadLetters?: { queue: LocalQueue; maxReceives: number };
}

export interface QueueDepth {
  visible: number;
  /** sent with a delay that is not over */
  delayed: number;
  /** taken, and hidden for that */
  inFlight: number;
}

/** What the memory knows of a message; its body stays in the database. */
interface Message extends Waiting {
  readonly messageId: string;
  readonly sentAt: number;
  receives: number;
  /** hidden because it was taken, not because it was sent with a delay */
  isTaken: boolean;
}

interface Receiver {
  readonly max: number;
  give(messages: Message[]): void;
}

/**
 * A queue in the embedded store. The database is the truth and is read once, on opening; from then on an ordered view in memory
 * says what is next, so that receiving looks at nothing that is not due. In order of the instant at which messages become visible.
 */
export class LocalQueue implements Queue {
  readonly #database: Database;
  readonly #options: LocalQueueOptions;
  readonly #bodies: TextTable;
  readonly #states: TextTable;
  /** in order of arrival */
  readonly #messages = new Map<string, Message>();
  readonly #waiting = new VisibilityHeap<Message>();
  readonly #receivers = new Set<Receiver>();
  #alarm: { at: number; off: AbortController } | undefined;
  #arrivals = 0;

  constructor(database: Database, options: LocalQueueOptions) {
    this.#database = database;
    this.#options = options;
    this.#bodies = database.table('message-bodies');
    this.#states = database.table('message-states');
    for (const { key, value } of this.#states.getRange({ start: [options.name], end: [options.name, LAST] })) {
      const [visibleAt, sentAt, receives, isTaken] = JSON.parse(value) as StoredState;
      this.#admit(this.#message((key as [string, string])[1], { visibleAt, sentAt, receives, isTaken: isTaken === 1 }));
    }
  }

  /** @throws MessageTooLargeError, RangeError (a delay above 900,000 ms); nothing is sent then. */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const message of messages) this.#check(message);
    if (messages.length === 0) return;
    const { clock, leadMs = 0 } = this.#options;
    const sentAt = clock.now();
    const accepted = messages.map(({ body, delayMs = 0 }) => ({
      body,
      message: this.#message(systemIds.guid(), {
        visibleAt: sentAt + Math.max(0, delayMs - leadMs),
        sentAt,
        receives: 0,
        isTaken: false,
      }),
    }));
    const expired = this.#expired(sentAt);
    await this.#database.change(() => {
      for (const message of expired) this.#erase(message);
      for (const { message, body } of accepted) this.#write(message, body);
    });
    for (const message of expired) this.#forget(message);
    this.#arrive(accepted.map(({ message }) => message));
  }

  async receive(max: number, options: { waitMs?: number; signal?: AbortSignal } = {}): Promise<ReceivedMessage[]> {
    const { waitMs = 0, signal } = options;
    if (signal?.aborted) return [];
    let taken = await this.#take(max);
    if (taken.length === 0 && waitMs > 0) taken = await this.#wait(max, waitMs, signal);
    return this.#deliver(taken);
  }

  async remove(receipts: readonly string[]): Promise<void> {
    const removed = receipts.flatMap((receipt) => this.#delivered(receipt) ?? []);
    if (removed.length === 0) return;
    // Nobody takes anew what is being removed.
    for (const message of removed) this.#waiting.take(message);
    try {
      await this.#database.change(() => {
        for (const message of removed) this.#erase(message);
      });
    } catch (error) {
      for (const message of removed) this.#waiting.add(message);
      throw error;
    }
    for (const message of removed) this.#forget(message);
  }

  async hide(receipts: readonly string[], forMs: number): Promise<void> {
    const now = this.#options.clock.now();
    const hidden = receipts
      .flatMap((receipt) => this.#delivered(receipt) ?? [])
      // What is visible again is anybody's.
      .filter((message) => message.visibleAt > now)
      .map((message) => ({ message, next: { ...message, visibleAt: now + forMs, isTaken: forMs > 0 } }));
    await this.#change(hidden);
  }

  /**
   * Makes visible at once what is hidden because it was taken; delays go on. For a new holder of the data only, before anything
   * receives: whoever took these messages is gone.
   */
  async makeAllVisible(): Promise<number> {
    const now = this.#options.clock.now();
    const taken = [...this.#messages.values()]
      .filter((message) => message.isTaken)
      .map((message) => ({
        message,
        next: { ...message, visibleAt: Math.min(message.visibleAt, now), isTaken: false },
      }));
    for (let step = 0; step < taken.length; step += MESSAGES_PER_STEP) {
      await this.#change(taken.slice(step, step + MESSAGES_PER_STEP));
    }
    return taken.length;
  }

  /** Looks at every message. */
  depth(): QueueDepth {
    const now = this.#options.clock.now();
    const depth: QueueDepth = { visible: 0, delayed: 0, inFlight: 0 };
    for (const { visibleAt, isTaken } of this.#messages.values()) {
      if (visibleAt <= now) depth.visible += 1;
      else if (isTaken) depth.inFlight += 1;
      else depth.delayed += 1;
    }
    return depth;
  }

  #check({ body, delayMs = 0 }: OutgoingMessage): void {
    const bytes = Buffer.byteLength(body);
    if (bytes > LONGEST_BODY_BYTES) throw new MessageTooLargeError(this.#options.name, bytes);
    if (!(delayMs >= 0 && delayMs <= LONGEST_DELAY_MS)) {
      throw new RangeError(
        `A delay of ${delayMs} ms in the queue ${this.#options.name}: 0 to ${LONGEST_DELAY_MS} is possible`,
      );
    }
  }

  /** Takes what is visible, and puts aside on the way what was taken too often or lay too long. */
  async #take(max: number): Promise<Message[]> {
    const { taken, outworn, expired } = this.#takeVisible(max);
    if (outworn.length + expired.length > 0) await this.#putAside(outworn, expired);
    return taken;
  }

  #takeVisible(max: number): { taken: Message[]; outworn: Message[]; expired: Message[] } {
    const { clock, visibilityMs, deadLetters } = this.#options;
    const now = clock.now();
    const taken: Message[] = [];
    const outworn: Message[] = [];
    const expired: Message[] = [];
    for (let next = this.#waiting.first; taken.length < max && next !== undefined; next = this.#waiting.first) {
      if (next.visibleAt > now) break;
      this.#waiting.take(next);
      if (next.sentAt + RETENTION_MS <= now) expired.push(next);
      else if (deadLetters !== undefined && next.receives >= deadLetters.maxReceives) outworn.push(next);
      else taken.push(next);
    }
    for (const message of taken) {
      message.receives += 1;
      message.isTaken = true;
      message.visibleAt = now + visibilityMs;
      this.#waiting.add(message);
    }
    return { taken, outworn, expired };
  }

  /** Moves the outworn to the dead-letter queue and removes the expired. What cannot be written now is tried again by the next receiver. */
  async #putAside(outworn: readonly Message[], expired: readonly Message[]): Promise<void> {
    const gone = [...outworn, ...expired];
    const deadLetters = this.#options.deadLetters?.queue;
    try {
      const moved = await this.#database.change(() => {
        const adopted = outworn.flatMap((message) => {
          const body = this.#bodies.get(this.#key(message));
          return deadLetters === undefined || body === undefined ? [] : deadLetters.#adopt(message, body);
        });
        for (const message of gone) this.#erase(message);
        return adopted;
      });
      for (const message of gone) this.#forget(message);
      if (deadLetters !== undefined) deadLetters.#arrive(moved);
    } catch {
      for (const message of gone) if (this.#isHere(message)) this.#waiting.add(message);
    }
  }

  /** Writes a message of another queue into this one, where it counts anew; for use inside a change. */
  #adopt({ messageId, sentAt }: Message, body: string): Message {
    const visibleAt = this.#options.clock.now();
    const message = this.#message(messageId, { visibleAt, sentAt, receives: 0, isTaken: false });
    this.#write(message, body);
    return message;
  }

  /**
   * Hands the messages out while the note that they were taken is still being written: whatever the receiver writes next is
   * written after it. Should the process be killed before, nothing was done with them, and they count as never taken.
   */
  #deliver(taken: readonly Message[]): ReceivedMessage[] {
    const delivered = taken.flatMap((message): (ReceivedMessage & { key: [string, string]; state: string })[] => {
      const key = this.#key(message);
      const body = this.#bodies.get(key);
      // Whoever had it before has removed it in the meantime.
      if (body === undefined) return [];
      const { messageId, receives, sentAt } = message;
      return [
        { key, state: stateText(message), messageId, receipt: `${messageId}#${receives}`, receives, sentAt, body },
      ];
    });
    if (delivered.length === 0) return [];
    const noted = this.#database.change(() => {
      for (const { key, state } of delivered) if (this.#bodies.doesExist(key)) this.#states.putSync(key, state);
    });
    noted.catch(() => {});
    return delivered.map(({ key: _key, state: _state, ...message }) => message);
  }

  #wait(max: number, waitMs: number, signal: AbortSignal | undefined): Promise<Message[]> {
    return new Promise((resolve) => {
      const over = new AbortController();
      const receiver: Receiver = {
        max,
        give: (messages) => {
          this.#receivers.delete(receiver);
          signal?.removeEventListener('abort', callOff);
          over.abort();
          resolve(messages);
        },
      };
      const callOff = (): void => receiver.give([]);
      this.#receivers.add(receiver);
      signal?.addEventListener('abort', callOff);
      if (signal?.aborted) return callOff();
      const { clock } = this.#options;
      void clock.waitUntil(clock.now() + waitMs, over.signal).then(() => {
        // What becomes visible in the very last instant is still in time.
        if (this.#receivers.has(receiver)) this.#serve();
        if (this.#receivers.has(receiver)) callOff();
      });
      this.#serve();
    });
  }

  /** Gives what is visible to those who wait, one message each in turn, and sets the alarm for what is next. */
  #serve(): void {
    if (this.#receivers.size > 0) {
      const hands = [...this.#receivers].map((receiver) => ({ receiver, messages: [] as Message[] }));
      const { taken, outworn, expired } = this.#takeVisible(hands.reduce((sum, hand) => sum + hand.receiver.max, 0));
      if (outworn.length + expired.length > 0) void this.#putAside(outworn, expired);
      const open = [...hands];
      for (const message of taken) {
        const hand = open.shift()!;
        hand.messages.push(message);
        if (hand.messages.length < hand.receiver.max) open.push(hand);
      }
      for (const { receiver, messages } of hands) if (messages.length > 0) receiver.give(messages);
    }
    this.#setAlarm();
  }

  #setAlarm(): void {
    const at = this.#receivers.size > 0 ? this.#waiting.first?.visibleAt : undefined;
    // An alarm that comes too early finds nothing and is set again.
    if (this.#alarm !== undefined && at !== undefined && this.#alarm.at <= at) return;
    this.#alarm?.off.abort();
    this.#alarm = undefined;
    if (at === undefined) return;
    const alarm = { at, off: new AbortController() };
    this.#alarm = alarm;
    void this.#options.clock.waitUntil(at, alarm.off.signal).then(() => {
      if (this.#alarm !== alarm) return;
      this.#alarm = undefined;
      this.#serve();
    });
  }

  /** Writes new states, then lets the memory follow, but for what was taken anew or removed meanwhile. */
  async #change(changes: readonly { message: Message; next: Message }[]): Promise<void> {
    if (changes.length === 0) return;
    await this.#database.change(() => {
      for (const { message, next } of changes) {
        if (this.#bodies.doesExist(this.#key(message))) this.#states.putSync(this.#key(message), stateText(next));
      }
    });
    for (const { message, next } of changes) {
      if (!this.#isHere(message) || message.receives !== next.receives) continue;
      this.#waiting.take(message);
      message.visibleAt = next.visibleAt;
      message.isTaken = next.isTaken;
      this.#waiting.add(message);
    }
    this.#serve();
  }

  /** What this receipt's delivery brought, unless it was removed or taken anew. */
  #delivered(receipt: string): Message | undefined {
    const [messageId, receives] = receipt.split('#');
    const message = this.#messages.get(messageId!);
    return message !== undefined && String(message.receives) === receives ? message : undefined;
  }

  #expired(now: number): Message[] {
    const expired: Message[] = [];
    for (const message of this.#messages.values()) {
      if (message.sentAt + RETENTION_MS > now) break;
      expired.push(message);
    }
    return expired;
  }

  #message(messageId: string, state: Pick<Message, 'visibleAt' | 'sentAt' | 'receives' | 'isTaken'>): Message {
    return { messageId, ...state, order: 0, position: -1 };
  }

  #arrive(messages: readonly Message[]): void {
    for (const message of messages) this.#admit(message);
    this.#serve();
  }

  #admit(message: Message): void {
    message.order = this.#arrivals;
    this.#arrivals += 1;
    this.#messages.set(message.messageId, message);
    this.#waiting.add(message);
  }

  #forget(message: Message): void {
    if (!this.#isHere(message)) return;
    this.#messages.delete(message.messageId);
    this.#waiting.take(message);
  }

  #isHere(message: Message): boolean {
    return this.#messages.get(message.messageId) === message;
  }

  /** For use inside a change. */
  #write(message: Message, body: string): void {
    this.#bodies.putSync(this.#key(message), body);
    this.#states.putSync(this.#key(message), stateText(message));
  }

  /** For use inside a change. */
  #erase(message: Message): void {
    this.#bodies.removeSync(this.#key(message));
    this.#states.removeSync(this.#key(message));
  }

  #key(message: Message): [string, string] {
    return [this.#options.name, message.messageId];
  }
}

type StoredState = [visibleAt: number, sentAt: number, receives: number, isTaken: 0 | 1];

function stateText({ visibleAt, sentAt, receives, isTaken }: Message): string {
  const state: StoredState = [visibleAt, sentAt, receives, isTaken ? 1 : 0];
  return JSON.stringify(state);
}
