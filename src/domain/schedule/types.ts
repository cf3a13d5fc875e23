/** What to do with local times that a change of the clocks skips or repeats. */
export interface DstOptions {
  /** a local time that does not exist: skip it (default), or run at the end of the gap */
  gap?: 'skip' | 'run-after';
  /** a fixed local time that exists twice: run at the first (default), the second, or both */
  overlap?: 'first' | 'second' | 'both';
}

/** The one error that parsing a schedule throws. `message` is a whole sentence that says what to write instead. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
  /** the part that is wrong: `expression`, `timezone`, or a field of the expression such as `day-of-week` */
  readonly field: string;
  /** the text that was found there */
  readonly value: string;
  constructor(field: string, value: string, message: string) {
    super(message);
    this.field = field;
    this.value = value;
  }
}
