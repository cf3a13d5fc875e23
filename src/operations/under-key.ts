import { ConflictError } from '../domain/errors';
import { digestOf, guidFrom } from '../domain/guid';
import type { Ports } from '../ports';

/** How long a key keeps its meaning. */
const KEY_KEPT_MS = 24 * 3_600_000;

/**
 * Does the work, and binds the caller's key to its content once it is done: what was refused may be sent again, corrected.
 * Without this a key would be compared only with the job of the id that the request names, and one key could make two jobs.
 * @throws ConflictError when the key was used for another content
 */
export async function underKey<Done>(
  key: string,
  content: unknown,
  { clock, control }: Pick<Ports, 'clock' | 'control'>,
  work: () => Promise<Done>,
): Promise<Done> {
  const name = `request:${guidFrom('request', key)}`;
  const value = digestOf(JSON.stringify(content));
  const first = await control.read(name);
  if (first && first.value !== value) {
    throw new ConflictError(
      'requestId',
      `request id ${JSON.stringify(key)} was already used for another job; choose a new one, or send the same content`,
    );
  }
  const done = await work();
  if (!first) await control.put({ name, value, expiresAt: clock.now() + KEY_KEPT_MS });
  return done;
}
