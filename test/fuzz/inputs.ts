/** Says once, after the tests of a file, how many inputs each of its doors got. */
export class Inputs {
  readonly #counts = new Map<string, number>();

  constructor() {
    afterAll(() => {
      const counts = [...this.#counts].map(([door, count]) => `${door} ${count}`);
      process.stdout.write(`inputs: ${counts.join(', ')}\n`);
    });
  }

  count(door: string, inputs = 1): void {
    this.#counts.set(door, this.of(door) + inputs);
  }

  of(door: string): number {
    return this.#counts.get(door) ?? 0;
  }
}
