interface Event {
  at: number;
  /** of two at the same instant the one that was asked for first comes first */
  order: number;
  happen: () => void;
}

/**
 * Time that goes from one event to the next. After each event everything happens that follows from it without time: promises settle.
 * Nothing else moves in a history, so that the same events come in the same order each time.
 */
export class VirtualTime {
  now: number;
  /** events so far */
  events = 0;
  readonly #heap: Event[] = [];
  #ordered = 0;

  /** epoch ms */
  constructor(startAt: number) {
    this.now = startAt;
  }

  /** At once, when `at` has passed. Instants are whole. */
  at(at: number, happen: () => void): void {
    const heap = this.#heap;
    const event = { at: Math.max(Math.ceil(at), this.now), order: this.#ordered++, happen };
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (isBefore(heap[above]!, event)) break;
      heap[place] = heap[above]!;
      place = above;
    }
    heap[place] = event;
  }

  after(ms: number, happen: () => void): void {
    this.at(this.now + ms, happen);
  }

  /** Lets everything happen up to `until`. */
  async run(until: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#takeFirst();
      this.now = next.at;
      this.events++;
      next.happen();
      await new Promise((settled) => setImmediate(settled));
    }
    this.now = Math.max(this.now, until);
  }

  #takeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (isBefore(last, heap[below]!)) break;
      heap[place] = heap[below]!;
      place = below;
    }
    heap[place] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
