import { InputError, UnreadableMessageError } from '../domain/errors';
import { LIMITS } from '../domain/limits';
import { describeJsonFault } from './json-fault';
import { depthOf } from './raw-json';

/** @throws UnreadableMessageError when the text is not JSON, with the place where it ceases to be */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableMessageError(describeJsonFault(text), { cause });
  }
}

/**
 * For a text that JSON.parse accepts. @throws InputError when it is larger, or nests deeper, than what we look into:
 * deep nesting brings down whoever reads it by recursion.
 */
export function refuseUnwieldy(text: string, mostBytes: number = LIMITS.bodyBytes): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes) {
    throw new InputError([{ field: 'body', message: `must be at most ${mostBytes} bytes of UTF-8; got ${bytes}` }]);
  }
  const depth = depthOf(text);
  if (depth > LIMITS.jsonDepth) {
    const message = `must nest objects and arrays at most ${LIMITS.jsonDepth} deep; got ${depth}`;
    throw new InputError([{ field: 'body', message }]);
  }
}
