import { ConflictError } from '../domain/errors';
import { digestOf, guidFrom } from '../domain/guid';
import type { Ports } from '../ports';

/** How long a key keeps its meaning. */
const KEY_KEPT_MS = 24 * 3_600_000;

/**
 * Does the work, and binds the caller's key to its content once it is done: what was refused may be sent again, corrected.
 * Without this a key would be compared only with the job of the id that the request names, and one key could make two jobs.
 * @param isBinding whether the work was done as a whole; absent: it was, if it did not throw
 * @throws ConflictError when the key was used for another content
 */
export async function underKey<Done>(
  key: string,
  content: unknown,
  { clock, control }: Pick<Ports, 'clock' | 'control'>,
  work: () => Promise<Done>,
  isBinding: (done: Done) => boolean = () => true,
): Promise<Done> {
  const name = nameOf(key);
  const value = digestOf(JSON.stringify(content));
  const first = await control.read(name);
  if (first && first.value !== value) throw usedBefore(key);
  const done = await work();
  if (!first && isBinding(done)) await control.put({ name, value, expiresAt: clock.now() + KEY_KEPT_MS });
  return done;
}

/**
 * As `underKey`, for work that a repeat would do once more: what it answered the first time is kept, and answered again.
 * @throws ConflictError when the key was used for another content
 */
export async function answeredOnce<Answer>(
  key: string,
  content: unknown,
  { clock, control }: Pick<Ports, 'clock' | 'control'>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const name = nameOf(key);
  const digest = digestOf(JSON.stringify(content));
  const first = await control.read(name);
  if (first) {
    const [ofFirst, answer] = first.value.split('\n');
    if (ofFirst !== digest || answer === undefined) throw usedBefore(key);
    return JSON.parse(answer) as Answer;
  }
  const answer = await work();
  const value = `${digest}\n${JSON.stringify(answer)}`;
  await control.put({ name, value, expiresAt: clock.now() + KEY_KEPT_MS });
  return answer;
}

function nameOf(key: string): string {
  return `request:${guidFrom('request', key)}`;
}

function usedBefore(key: string): ConflictError {
  return new ConflictError(
    'requestId',
    `request id ${JSON.stringify(key)} was already used for another job or request; choose a new one, or send the same content`,
  );
}
