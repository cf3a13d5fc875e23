import { createHash } from 'node:crypto';

/**
 * A GUID that the same words always give: a UUID of version 8 (RFC 9562) over their SHA-256.
 * `kind` keeps GUIDs of different things apart.
 */
export function guidFrom(kind: string, ...words: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, ...words]))
    .digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** The GUID under which the `code` table keeps a function. */
export function codeIdOf(functionArn: string): string {
  return guidFrom('code', functionArn);
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
