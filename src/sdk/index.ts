/** A small module to bundle with a handler: it imports nothing but itself, and nothing needs it. */
export { NonRetriableError, RetryAfterError, RunCancelledError } from './errors';
export { jobHandler, type HandlerOptions, type JobEvent, type JobTools } from './job-handler';
export { completionOf, type ApiOptions, type AttemptKey, type Completion, type Fetch } from './run-api';
