import { cutBytes } from '../../domain/conclude';
import type { RunError } from '../../domain/run';
import type { InvokeOutcome } from '../../ports';

const MESSAGE_BYTES = 2_048;
const TYPE_BYTES = 256;

/** Lambda, or what it needs to start the function, has no room just now. */
const THROTTLED = new Set([
  'TooManyRequestsException',
  'ThrottlingException',
  'EC2ThrottledException',
  'ENILimitReachedException',
  'KMSThrottlingException',
  'SubnetIPAddressLimitReachedException',
]);

/** The function is being made, changed or woken, or the file system did not answer: passes by itself. */
const NOT_READY = new Set([
  'EFSIOException',
  'EFSMountConnectivityException',
  'EFSMountTimeoutException',
  'ResourceConflictException',
  'ResourceNotReadyException',
  'S3FilesMountConnectivityException',
  'S3FilesMountTimeoutException',
  'SnapStartNotReadyException',
  'SnapStartTimeoutException',
]);

/** Our own credentials are old or not there yet, which says nothing about the function. */
const OWN_CREDENTIALS = new Set([
  'CredentialsProviderError',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'UnrecognizedClientException',
]);

/** Ours to call the function, or the function's own to read its key or to reach its network: a person has to grant it. */
const NOT_PERMITTED = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'EC2AccessDeniedException',
  'KMSAccessDeniedException',
]);

/**
 * The function is broken as it was deployed, although Lambda answers some of these with 502. No reason of a refusal fits, and waiting
 * alone does not mend them: they count as failed attempts, so that a deployment between two attempts still helps, and the end is bounded.
 */
const BROKEN_FUNCTION = new Set([
  'InvalidRuntimeException',
  'InvalidSecurityGroupIDException',
  'InvalidSubnetIDException',
  'InvalidZipFileException',
  'KMSDisabledException',
  'KMSInvalidStateException',
  'KMSNotFoundException',
]);

/** What an Invoke that threw says about the attempt. The names are those of the Lambda API reference, "Invoke: Errors". */
export function outcomeOfError(thrown: unknown): InvokeOutcome {
  const error = thrown instanceof Error ? thrown : new Error(shown(thrown));
  const { name } = error;
  const message = cutBytes(error.message || name, MESSAGE_BYTES);
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

  if (name === 'ResourceNotFoundException') return { kind: 'refused', reason: 'function-not-found', message };
  if (NOT_PERMITTED.has(name)) return { kind: 'refused', reason: 'not-permitted', message };
  if (name === 'InvalidParameterValueException') return { kind: 'refused', reason: 'malformed-arn', message };
  if (THROTTLED.has(name) || status === 429) return { kind: 'held-back', reason: 'throttled', message };
  if (BROKEN_FUNCTION.has(name)) return { kind: 'failed', error: { type: name, message } };
  // without a status no answer came: the network, or our own side
  if (NOT_READY.has(name) || OWN_CREDENTIALS.has(name) || status === undefined || status >= 500) {
    return { kind: 'held-back', reason: 'service-error', message };
  }
  return { kind: 'failed', error: { type: cutBytes(name, TYPE_BYTES), message } };
}

function shown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'what was thrown cannot be shown as text';
  }
}

/**
 * What the function said of its error: usually `{ errorType, errorMessage }`, but each runtime is free to answer anything.
 * @param functionError the answer's FunctionError, `Handled` or `Unhandled`
 */
export function failureOf(text: string, functionError: string): RunError {
  const { errorType, errorMessage } = parsedObject(text);
  const message = errorMessage === undefined ? text : asText(errorMessage);
  // Lambda itself reports a function that ran out of time, by these words and no type or one of its own
  const isTimeout = /Task timed out after [\d.]+ seconds/.test(message) && !isNamed(errorType);
  const type = isTimeout ? 'Timeout' : isNamed(errorType) ? errorType : functionError;
  return { type: cutBytes(type, TYPE_BYTES), message: cutBytes(message, MESSAGE_BYTES) };
}

function isNamed(errorType: unknown): errorType is string {
  return typeof errorType === 'string' && errorType !== '' && errorType !== 'Sandbox.Timedout';
}

function parsedObject(text: string): { errorType?: unknown; errorMessage?: unknown } {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
