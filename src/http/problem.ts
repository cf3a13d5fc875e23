import type { Context } from 'hono';
import {
  ConflictError,
  InputError,
  NotFoundError,
  PayloadTooLargeError,
  PreconditionError,
  type FieldError,
} from '../domain/errors';
import { InvalidCursorError, NoRoomError, type Journal } from '../ports';

/** An answer that is not what the caller asked for, see RFC 9457. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: ProblemStatus;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Record<string, string>;
  constructor(
    status: ProblemStatus,
    detail: string,
    options: { errors?: readonly FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.status = status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

/** Each status has one meaning here, and so one type. */
const KINDS = {
  400: { type: 'invalid-request', title: 'Invalid request' },
  403: { type: 'forbidden', title: 'Forbidden' },
  404: { type: 'not-found', title: 'Not found' },
  405: { type: 'method-not-allowed', title: 'Method not allowed' },
  409: { type: 'conflict', title: 'Conflict' },
  412: { type: 'precondition-failed', title: 'Precondition failed' },
  413: { type: 'too-large', title: 'Content too large' },
  415: { type: 'unsupported-media-type', title: 'Unsupported media type' },
  422: { type: 'key-used-before', title: 'Idempotency key used before' },
  500: { type: 'internal-error', title: 'Internal error' },
  507: { type: 'insufficient-storage', title: 'Insufficient storage' },
} as const;

type ProblemStatus = keyof typeof KINDS;

/** The answer to whatever a route threw. What is not a caller's fault is noted, and told to nobody. */
export function answerError(error: unknown, c: Context, journal: Journal): Response {
  const problem = problemOf(error);
  if (problem) return problemResponse(problem);
  noteFault(error, c, journal);
  return problemResponse(new Problem(500, 'Something went wrong on our side; the request may be sent again.'));
}

/** What is not a caller's fault is noted. */
export function noteFault(error: unknown, c: Context, journal: Journal): void {
  const { name } = error instanceof Error ? error : { name: typeof error };
  journal.note('request-failed', { method: c.req.method, path: c.req.path, error: name });
}

/** @returns undefined for what nobody but us can do anything about */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof InputError) {
    const { errors } = error;
    const count = errors.length === 1 ? 'One field is' : `${errors.length} fields are`;
    return new Problem(error instanceof PayloadTooLargeError ? 413 : 400, `${count} wrong; nothing was changed.`, {
      errors,
    });
  }
  if (error instanceof NotFoundError) return new Problem(404, error.message, { errors: [entry(error)] });
  if (error instanceof InvalidCursorError) {
    const message = 'is not one that this list gave out; leave it out to begin again';
    return problemOf(new InputError([{ field: 'cursor', message }]));
  }
  if (error instanceof PreconditionError) {
    return new Problem(412, error.message, { errors: [{ field: 'If-Match', message: error.message }] });
  }
  if (error instanceof ConflictError) {
    if (error.field !== 'requestId') return new Problem(409, error.message, { errors: [entry(error)] });
    const { message } = error;
    return new Problem(422, message, { errors: [{ field: 'Idempotency-Key', message }] });
  }
  if (error instanceof NoRoomError) {
    return new Problem(507, `${error.message} Make room, and send the request again.`);
  }
  return undefined;
}

function entry({ field, message }: NotFoundError | ConflictError): FieldError {
  return { field, message };
}

function problemResponse({ status, message: detail, errors, headers }: Problem): Response {
  const { type, title } = KINDS[status];
  const body = { type: `urn:escapement:problem:${type}`, title, status, detail, ...(errors ? { errors } : {}) };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  });
}
