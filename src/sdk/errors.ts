/** Thrown by a handler: no further attempt can help, and the run is FAILED at once. */
export class NonRetriableError extends Error {
  override readonly name = 'NonRetriableError';
}

/** Thrown by a handler: it wants to be called again later, which uses no attempt. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError';

  /**
   * @param after in so many seconds, 0 to ten years, whole milliseconds; or at this instant
   * @throws RangeError
   */
  constructor(after: number | Date, message = '') {
    super(`${typeof after === 'number' ? secondsText(after) : after.toISOString()} ${message}`.trimEnd());
  }
}

/** The reason of the signal that a handler gets, once its run is to be cancelled. */
export class RunCancelledError extends Error {
  override readonly name = 'RunCancelledError';
}

/** The runner reads it from the beginning of the message: digits, and nothing such as 1e-7. */
function secondsText(seconds: number): string {
  if (seconds >= 0 && seconds <= 315_576_000) return String(Math.ceil(seconds * 1000) / 1000);
  throw new RangeError(`a RetryAfterError takes 0 to 315,576,000 seconds, not ${seconds}`);
}
