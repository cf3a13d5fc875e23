/** Lives through histories in a thread of its own; the fleet hands it one seed after the other. */
import { parentPort } from 'node:worker_threads';
import type { FaultKind } from './faults';
import { liveThrough } from './history';

export interface Lived {
  seed: number;
  violations: { law: string; about: string; at: number }[];
  injected: Partial<Record<FaultKind, number>>;
  counts: { events: number; calls: number; runs: number; invocations: number };
  restedAfterMs: number;
  isSwept: boolean;
}

export interface Asked {
  seed: number;
  faults: readonly FaultKind[];
}

parentPort!.on('message', ({ seed, faults }: Asked) => {
  void liveThrough({ seed, faults }).then(
    ({ violations, injected, counts, restedAfterMs, isSwept }) => {
      const perKind: Lived['injected'] = {};
      for (const { kind } of injected) perKind[kind] = (perKind[kind] ?? 0) + 1;
      parentPort!.postMessage({ seed, violations, injected: perKind, counts, restedAfterMs, isSwept } satisfies Lived);
    },
    (error: Error) => {
      const violations = [{ law: 'a history is lived through', about: error.stack ?? error.message, at: 0 }];
      const counts = { events: 0, calls: 0, runs: 0, invocations: 0 };
      parentPort!.postMessage({
        seed,
        violations,
        injected: {},
        counts,
        restedAfterMs: 0,
        isSwept: false,
      } satisfies Lived);
    },
  );
});
