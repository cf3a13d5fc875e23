import type { Ports } from '../../src/ports';

export class CrashError extends Error {
  override readonly name = 'CrashError';
}

/** Ports of a process that dies at one of its calls: from then on nothing that it does reaches the world. */
export interface DoomedProcess {
  ports: Ports;
  hasCrashed(): boolean;
  /** what it called, in order, such as `runs.put` */
  calls: readonly string[];
}

const STORES = ['jobs', 'runs', 'notifications', 'code', 'control', 'groups', 'invoker'] as const;
const QUEUES = ['activations', 'highActivations', 'deadActivations', 'notify'] as const;

/** `when` "before": the call at which it dies has no effect; "after": it has, and its answer is lost. Calls count from 1. */
export function doomedProcess(ports: Ports, crashAt: number, when: 'before' | 'after'): DoomedProcess {
  const calls: string[] = [];
  let isDead = false;
  const die = () => {
    isDead = true;
    throw new CrashError(`died ${when} call ${crashAt}: ${calls.at(-1)}`);
  };
  const doom = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (isDead) throw new CrashError('a dead process calls nothing');
          const isLast = calls.push(`${name}.${String(key)}`) === crashAt;
          if (isLast && when === 'before') die();
          const answer: unknown = await (member as (...args: unknown[]) => unknown).apply(target, args);
          if (isLast) die();
          if (isDead) throw new CrashError('a dead process hears nothing');
          return answer;
        };
      },
    });
  const each = <Name extends string, Port extends object>(record: Record<Name, Port>): Record<Name, Port> =>
    Object.fromEntries(Object.entries<Port>(record).map(([name, port]) => [name, doom(name, port)])) as Record<
      Name,
      Port
    >;
  return {
    ports: {
      ...ports,
      ...Object.fromEntries([...STORES, ...QUEUES].map((name) => [name, doom(name, ports[name])])),
      commands: each(ports.commands),
      replies: each(ports.replies),
    },
    hasCrashed: () => isDead,
    calls,
  };
}
