/** By the store that the thing lies in: what two processes do is for conditions to keep apart, and two stores have nothing in common. */
const lastOf = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Does work on one thing of a store after the other within this process. The runs of one batch of messages end together, and
 * would lose their conditional writes to one another, each of which is paid for.
 */
export function inTurn<Done>(store: object, what: string, work: () => Promise<Done>): Promise<Done> {
  const last = lastOf.get(store) ?? new Map<string, Promise<unknown>>();
  lastOf.set(store, last);
  const before = last.get(what);
  const done = before ? before.then(work, work) : work();
  last.set(what, done);
  const forget = () => {
    if (last.get(what) === done) last.delete(what);
  };
  done.then(forget, forget);
  return done;
}
