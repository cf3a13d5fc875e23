import { TTL_ATTRIBUTE } from './table-layout';

/** An item as the document client takes it. */
export type Attributes = Record<string, unknown>;

/** Attributes that a store adds; no row of the domain carries them. */
const ADDED = new Set<string>([
  'writeId',
  'dueShard',
  'dueKey',
  'failedShard',
  'failedKey',
  'part',
  'payload',
  'payloadItemId',
  'stateAndId',
  TTL_ATTRIBUTE,
]);

/**
 * One attribute per field. Fields named in `nested` are kept as JSON text: numbers inside them are the caller's own, such as a
 * backoff of 1e-7 s, and DynamoDB's numbers are not a double's.
 */
export function toAttributes<Row extends object>(row: Row, nested: readonly (keyof Row & string)[]): Attributes {
  const attributes: Attributes = {};
  for (const [field, value] of Object.entries(row)) {
    if (value === undefined) continue;
    attributes[field] = nested.includes(field as keyof Row & string) ? JSON.stringify(value) : value;
  }
  return attributes;
}

export function fromAttributes<Row extends object>(item: Attributes, nested: readonly (keyof Row & string)[]): Row {
  const row: Attributes = {};
  for (const [field, value] of Object.entries(item)) {
    if (ADDED.has(field)) continue;
    row[field] = nested.includes(field as keyof Row & string) ? JSON.parse(value as string) : value;
  }
  return row as Row;
}

/** The TTL attribute, where there is an end; never before it. */
export function ttlAttributes(expiresAt: number | undefined): Attributes {
  return expiresAt === undefined ? {} : { [TTL_ATTRIBUTE]: Math.ceil(expiresAt / 1000) };
}
