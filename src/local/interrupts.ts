/** One Ctrl-C may arrive more than once: from the terminal, and again from npm, which passes it on. */
const SAME_INTERRUPT_MS = 1_000;

/** What to do about each signal to stop: the first one finishes what is at work, a later one stops at once. */
export class Interrupts {
  #firstAt: number | undefined;

  /** @param at epoch ms */
  next(at: number): 'finish' | 'ignore' | 'stop-at-once' {
    if (this.#firstAt === undefined) {
      this.#firstAt = at;
      return 'finish';
    }
    return at - this.#firstAt < SAME_INTERRUPT_MS ? 'ignore' : 'stop-at-once';
  }
}
