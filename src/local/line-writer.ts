/**
 * Gathers the lines of one turn of the event loop into one write: each write to a terminal, a pipe or a file stops the
 * whole process until it is done.
 */
export class LineWriter {
  readonly #stream: { write(text: string): unknown };
  #lines: string[] = [];
  #isDropped = false;

  constructor(stream: { write(text: string): unknown }) {
    this.#stream = stream;
  }

  /** Writes nothing any more: the stream has failed. */
  drop(): void {
    this.#isDropped = true;
  }

  write(line: string): void {
    if (this.#isDropped) return;
    this.#lines.push(line);
    if (this.#lines.length === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const lines = this.#lines;
    if (lines.length === 0 || this.#isDropped) return;
    this.#lines = [];
    this.#stream.write(`${lines.join('\n')}\n`);
  }
}
