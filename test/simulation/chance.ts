/** Chance that a seed decides: the same seed and the same questions give the same answers. */
export class Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Streams of other names are independent: what one part of the simulator asks does not shift what another is told. */
  constructor(seed: number, stream: string) {
    this.#a = hashOf(`a ${seed} ${stream}`);
    this.#b = hashOf(`b ${seed} ${stream}`);
    this.#c = hashOf(`c ${seed} ${stream}`);
    for (let mixed = 0; mixed < 12; mixed++) this.next();
  }

  /** In [0, 1). Small fast counter, after Chris Doty-Humphrey's PractRand. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  isHit(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Between these, small ones far more often than large ones. */
  mostlySmall(least: number, most: number): number {
    return Math.round(least + this.next() ** 4 * (most - least));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)]!;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const left = [...items];
    return items.map(() => left.splice(Math.floor(this.next() * left.length), 1)[0]!);
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}
