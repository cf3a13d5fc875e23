import type { Activation } from '../domain/activation';
import { LIMITS } from '../domain/limits';
import type { RunKey, RunOrigin } from '../domain/run';

const JOB_ID = new RegExp(`^[A-Za-z0-9_-]{1,${LIMITS.idCharacters}}$`);
const ORIGINS: readonly string[] = ['scheduled', 'manual', 'backfill'] satisfies RunOrigin[];

/**
 * The activation in a message's body, or undefined when it is none. Checked by hand: the runner and the scheduler only
 * read what we wrote ourselves, and carry no validation library.
 */
export function parseActivation(body: string): Activation | undefined {
  const value = parseJsonObject(body);
  if (!value || value['version'] !== 1) return undefined;
  const { jobId, generation, origin, nominalAt, dueAt, sequence, waitingSince, isQueued, waits, returns } = value;
  const { priority, previous } = value;
  if (typeof jobId !== 'string' || !JOB_ID.test(jobId) || typeof generation !== 'string') return undefined;
  if (typeof origin !== 'string' || !ORIGINS.includes(origin)) return undefined;
  if (!isInstant(nominalAt) || !isInstant(dueAt) || !isCount(sequence)) return undefined;
  return {
    version: 1,
    jobId,
    generation,
    origin: origin as RunOrigin,
    nominalAt,
    dueAt,
    sequence,
    ...(isInstant(waitingSince) ? { waitingSince } : {}),
    ...(isQueued === true ? { isQueued } : {}),
    ...(isCount(waits) ? { waits } : {}),
    ...(priority === 'high' ? { priority } : {}),
    ...(isRunKey(previous) ? { previous } : {}),
    ...(isCount(returns) ? { returns } : {}),
  };
}

export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isRunKey(value: unknown): value is RunKey {
  const { jobId, runId } = (value ?? {}) as Record<string, unknown>;
  return typeof jobId === 'string' && typeof runId === 'string';
}

/** The range of a Date. */
function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) <= 8.64e15;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
