/** What waits in a queue for its instant. The heap keeps `position` up to date; -1 while it is not in the heap. */
export interface Waiting {
  visibleAt: number;
  /** arrival, which decides between two of the same instant */
  order: number;
  position: number;
}

/** A binary heap, earliest first, from which any element can be taken. */
export class VisibilityHeap<Item extends Waiting> {
  readonly #items: Item[] = [];

  get first(): Item | undefined {
    return this.#items[0];
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Taking what is not in the heap is no error. */
  take(item: Item): void {
    const hole = item.position;
    if (hole < 0) return;
    item.position = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#rise(last, hole);
    this.#sink(last, last.position);
  }

  #rise(item: Item, from: number): void {
    let position = from;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = this.#items[parentPosition]!;
      if (!isBefore(item, parent)) break;
      this.#place(parent, position);
      position = parentPosition;
    }
    this.#place(item, position);
  }

  #sink(item: Item, from: number): void {
    let position = from;
    for (;;) {
      let childPosition = 2 * position + 1;
      let child = this.#items[childPosition];
      if (child === undefined) break;
      const right = this.#items[childPosition + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childPosition += 1;
      }
      if (!isBefore(child, item)) break;
      this.#place(child, position);
      position = childPosition;
    }
    this.#place(item, position);
  }

  #place(item: Item, position: number): void {
    this.#items[position] = item;
    item.position = position;
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.visibleAt === other.visibleAt ? one.order < other.order : one.visibleAt < other.visibleAt;
}
