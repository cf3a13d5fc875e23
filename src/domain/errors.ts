/** One wrong field of what a caller sent; `field` is a path such as `retry.maxAttempts`. */
export interface FieldError {
  field: string;
  message: string;
}

/** An answer names no more wrong fields than these: it must fit into a message itself. */
export const MOST_ERRORS = 50;

/** What the caller sent is wrong; nothing was changed. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly errors: readonly FieldError[];
  constructor(errors: readonly FieldError[]) {
    const named = errors.slice(0, MOST_ERRORS);
    if (named.length < errors.length) named.push({ field: 'body', message: 'has more wrong fields than these' });
    super(named.map(({ field, message }) => `${field}: ${message}`).join('; '));
    this.errors = named;
  }
}

/** What the caller names is not there. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

export function noSuchJob(jobId: string): NotFoundError {
  return new NotFoundError('jobId', `there is no job ${JSON.stringify(jobId)}`);
}

/** What the caller asks for collides with what is there; nothing was changed. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The caller wants to change a version of something that is not the current one; nothing was changed. */
export class PreconditionError extends Error {
  override readonly name = 'PreconditionError';
}

/** A message that nobody can make sense of. It is left, and ends in the dead-letter queue. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

/** An InputError whose first cause is a payload above its limit. */
export class PayloadTooLargeError extends InputError {}
