import { FAULT_KINDS, FAULTS, type FaultKind } from './faults';
import type { Lived } from './worker';

/** The figures of many histories together. */
export class Summary {
  histories = 0;
  readonly broken: Lived[] = [];
  readonly #injected = new Map<string, number>();
  readonly #counts = { events: 0, calls: 0, runs: 0, invocations: 0 };
  readonly #restedAfterMs: number[] = [];
  #swept = 0;

  add(lived: Lived): void {
    this.histories++;
    if (lived.violations.length > 0) this.broken.push(lived);
    for (const [kind, count] of Object.entries(lived.injected)) {
      this.#injected.set(kind, (this.#injected.get(kind) ?? 0) + count);
    }
    for (const name of Object.keys(this.#counts) as (keyof Lived['counts'])[]) this.#counts[name] += lived.counts[name];
    this.#restedAfterMs.push(lived.restedAfterMs);
    if (lived.isSwept) this.#swept++;
  }

  injectedOf(kind: FaultKind): number {
    return this.#injected.get(kind) ?? 0;
  }

  get text(): string {
    const { events, calls, runs, invocations } = this.#counts;
    const rested = [...this.#restedAfterMs].sort((a, b) => a - b);
    const minutes = (part: number) => ((rested[Math.floor((rested.length - 1) * part)] ?? 0) / 60_000).toFixed(1);
    return [
      `${count(this.histories)} histories, ${count(this.broken.length)} broken`,
      `${count(events)} events, ${count(calls)} calls of ports, ${count(runs)} runs, ${count(invocations)} calls of code`,
      `at rest after the faults: half within ${minutes(0.5)} min, the last after ${minutes(1)} min; ${count(this.#swept)} needed the daily sweep`,
      'faults injected:',
      ...FAULT_KINDS.map(
        (kind) => `  ${count(this.injectedOf(kind)).padStart(9)}  ${kind.padEnd(11)}  ${FAULTS[kind]}`,
      ),
    ].join('\n');
  }
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
