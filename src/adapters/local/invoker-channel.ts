export interface Failure {
  type: string;
  message: string;
  stack?: string;
}

export type CodeOutcome = { kind: 'returned'; result: string } | { kind: 'failed'; error: Failure };

/** What the child says, one JSON text a line. */
export type FromChild =
  | { kind: 'loaded' }
  | { kind: 'unloadable'; error: Failure }
  /** `call` is the number that came with the event */
  | { kind: 'over'; call: number; outcome: CodeOutcome; spoilt: boolean }
  | { kind: 'leftover'; runId?: string; error: Failure }
  | { kind: 'log'; stream: 'out' | 'err'; runId?: string; line: string };

/** More than twice Lambda's limit on an answer: JSON inside JSON has at most two characters for each. */
export const LONGEST_MESSAGE = 16_000_000;

/**
 * What a line from the child says, or undefined when it is none of that: the handler shares the process, and may write to
 * the channel's descriptor itself.
 */
export function readMessage(line: string): FromChild | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isMessage(value) ? value : undefined;
}

function isMessage(value: unknown): value is FromChild {
  if (!isObject(value)) return false;
  switch (value['kind']) {
    case 'loaded':
      return true;
    case 'unloadable':
      return isFailure(value['error']);
    case 'over':
      return typeof value['call'] === 'number' && typeof value['spoilt'] === 'boolean' && isOutcome(value['outcome']);
    case 'leftover':
      return isTextOrAbsent(value['runId']) && isFailure(value['error']);
    case 'log':
      return (
        (value['stream'] === 'out' || value['stream'] === 'err') &&
        isTextOrAbsent(value['runId']) &&
        typeof value['line'] === 'string'
      );
    default:
      return false;
  }
}

function isOutcome(value: unknown): value is CodeOutcome {
  if (!isObject(value)) return false;
  if (value['kind'] === 'returned') return typeof value['result'] === 'string';
  return value['kind'] === 'failed' && isFailure(value['error']);
}

function isFailure(value: unknown): value is Failure {
  return (
    isObject(value) &&
    typeof value['type'] === 'string' &&
    typeof value['message'] === 'string' &&
    isTextOrAbsent(value['stack'])
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
