/**
 * Gathers the lines of one turn of the event loop into one write: each write to a terminal, a pipe or a file stops the
 * whole process until it is done.
 */
export class LineWriter {
  readonly #stream: { write(text: string): unknown };
  #lines: string[] = [];

  constructor(stream: { write(text: string): unknown }) {
    this.#stream = stream;
  }

  write(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    this.#stream.write(`${lines.join('\n')}\n`);
  }
}
