export type OutputStream = 'out' | 'err';

export interface LogLine {
  functionName: string;
  /** the run that wrote it; absent for what was written while loading or by a program that the handler started */
  runId?: string;
  stream: OutputStream;
}

/** What one handler may print each second: a flood of more would keep the system from its own work, and nobody reads it. */
const WINDOW_MS = 1_000;
const MOST_LINES = 10_000;
const MOST_CHARACTERS = 4_000_000;
/** A longer line is shown in pieces, as CloudWatch takes 256 KB as one event. */
const LONGEST_LINE = 262_144;

/** The lines of one handler's process: whole ones, in order, and so many a second; what is left out is counted and said. */
export class HandlerLog {
  readonly #show: (line: string, stream: OutputStream, runId?: string) => void;
  readonly #partial = { out: '', err: '' };
  #lines = 0;
  #characters = 0;
  #leftOut = 0;
  #window: NodeJS.Timeout | undefined;

  constructor(show: (line: string, stream: OutputStream, runId?: string) => void) {
    this.#show = show;
  }

  line(line: string, stream: OutputStream, runId?: string): void {
    this.#openWindow();
    if (this.isFull) {
      this.#leftOut += line.length + 1;
      return;
    }
    this.#lines += 1;
    this.#characters += line.length + 1;
    this.#show(line, stream, runId);
  }

  /** Text as it comes out of a pipe. A line that lacks its end is shown with the rest of it, or when the second is over. */
  raw(text: string, stream: OutputStream): void {
    this.#openWindow();
    if (this.isFull) {
      this.#leftOut += this.#partial[stream].length + text.length;
      this.#partial[stream] = '';
      return;
    }
    const lines = (this.#partial[stream] + text).split('\n');
    this.#partial[stream] = lines.pop() ?? '';
    for (const line of lines) this.line(line, stream);
    if (this.#partial[stream].length > LONGEST_LINE) this.#showPartial(stream);
  }

  /** Shows what was kept back. */
  end(): void {
    clearTimeout(this.#window);
    this.#endWindow();
  }

  /** Whether what comes in the rest of this second is left out. */
  get isFull(): boolean {
    return this.#lines >= MOST_LINES || this.#characters >= MOST_CHARACTERS;
  }

  #openWindow(): void {
    this.#window ??= setTimeout(() => this.#endWindow(), WINDOW_MS).unref();
  }

  #endWindow(): void {
    this.#window = undefined;
    if (this.#leftOut > 0) {
      const left = this.#leftOut.toLocaleString('en');
      this.#show(`… ${left} characters left out: too much in one second`, 'err');
    }
    for (const stream of ['out', 'err'] as const) this.#showPartial(stream);
    this.#lines = this.#characters = this.#leftOut = 0;
  }

  #showPartial(stream: OutputStream): void {
    const text = this.#partial[stream];
    this.#partial[stream] = '';
    if (text !== '') this.#show(text, stream);
  }
}
