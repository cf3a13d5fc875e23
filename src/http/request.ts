import type { Context } from 'hono';
import * as z from 'zod';
import { InputError, UnreadableMessageError } from '../domain/errors';
import { LIMITS } from '../domain/limits';
import { tag } from '../messages/job-fields';
import { parseJson, refuseUnwieldy } from '../messages/json-text';
import { failedFilter } from '../messages/run-actions';
import { check, checked, object, requestId, rule, shown } from '../messages/rules';
import type { Ids } from '../ports';
import { Problem } from './problem';

export interface JsonBody {
  /** as it was sent */
  text: string;
  value: unknown;
}

/** @throws Problem 415, or 400 where it is no JSON; InputError where it nests too deep */
export async function readJsonBody(c: Context, mostBytes: number = LIMITS.bodyBytes): Promise<JsonBody> {
  refuseOtherMedia(c.req.header('content-type'));
  const text = await readText(c, mostBytes);
  if (text.trim() === '') throw new Problem(400, 'The body is empty; send a JSON object.', wrongBody('is empty'));
  return parsed(text, mostBytes);
}

/**
 * A body that may be left out, whatever type it then has, checked.
 * @throws as `readJsonBody`; InputError with an entry per wrong field
 */
export async function readOptionalBody<Schema extends z.ZodType>(c: Context, schema: Schema) {
  const text = await readText(c);
  if (text.trim() === '') return checked(schema, {});
  refuseOtherMedia(c.req.header('content-type'));
  return checked(schema, parsed(text).value);
}

function parsed(text: string, mostBytes?: number): JsonBody {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof UnreadableMessageError)) throw error;
    throw new Problem(400, `The body ${error.message}.`, wrongBody(error.message));
  }
  refuseUnwieldy(text, mostBytes);
  return { text, value };
}

/** @throws Problem 400 when the bytes are no UTF-8: replacing what is wrong would change a payload unseen */
export async function readText(c: Context, mostBytes: number = LIMITS.bodyBytes): Promise<string> {
  const bytes = await readBytes(c, mostBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Problem(400, 'The body is not UTF-8.', wrongBody('must be UTF-8'));
  }
}

/** Stops reading where the limit is passed. @throws Problem 413 */
async function readBytes(c: Context, mostBytes: number): Promise<ArrayBuffer | Uint8Array> {
  const declared = c.req.header('content-length');
  if (declared !== undefined && Number(declared) <= mostBytes) return c.req.arrayBuffer();
  const chunks: Uint8Array[] = [];
  let bytes = Number(declared ?? 0);
  if (bytes <= mostBytes) {
    for await (const chunk of (c.req.raw.body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > mostBytes) break;
    }
  }
  if (bytes <= mostBytes) return Buffer.concat(chunks);
  const message = `must be at most ${mostBytes} bytes`;
  // The rest of the body is not read, so that nothing more can come over this connection.
  const headers = { connection: 'close' };
  throw new Problem(413, `The body ${message}; nothing was changed.`, { ...wrongBody(message), headers });
}

function wrongBody(message: string) {
  return { errors: [{ field: 'body', message }] };
}

/** Nothing said is taken for JSON. */
function refuseOtherMedia(contentType: string | undefined) {
  const media = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  if (media === '' || media === 'application/json' || /^application\/[^ ]+\+json$/.test(media)) return;
  const detail = `The body must be JSON; set the header Content-Type to application/json (got ${media}).`;
  throw new Problem(415, detail, { headers: { accept: 'application/json' } });
}

/** The caller's Idempotency-Key, or a fresh id. @throws InputError */
export function requestIdOf(c: Context, ids: Ids): string {
  return idempotencyKeyOf(c) ?? ids.guid();
}

/** @throws InputError */
export function idempotencyKeyOf(c: Context): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  const { value, errors } = check(requestId(), key);
  if (errors) throw new InputError(errors.map(({ message }) => ({ field: 'Idempotency-Key', message })));
  return value;
}

/**
 * The versions that the caller would change, as `ETag` names them; undefined for any. Tags that are weak are left out: they
 * never match here, see RFC 9110, section 13.1.1. @throws InputError
 */
export function ifMatchOf(c: Context): readonly string[] | undefined {
  const header = c.req.header('if-match')?.trim();
  if (header === undefined || header === '*') return undefined;
  if (!ENTITY_TAGS.test(header)) {
    const message = `must be * or versions as the header ETag gives them, each in double quotes; got ${shown(header)}`;
    throw new InputError([{ field: 'If-Match', message }]);
  }
  return [...header.matchAll(ENTITY_TAG)].flatMap(([, weak, tag]) => (weak === undefined ? [tag!] : []));
}

const ENTITY_TAG = /(W\/)?"([^"\s]*)"/g;
const ENTITY_TAGS = /^(?:W\/)?"[^"\s]*"(?:[ \t]*,(?:[ \t]*(?:W\/)?"[^"\s]*")?)*$/;

/** Has the caller asked for an answer before the work is done? See RFC 7240. */
export function prefersAsync(c: Context): boolean {
  const preferences = (c.req.header('prefer') ?? '').split(',').map((one) => one.split(';')[0]!.trim().toLowerCase());
  return preferences.includes('respond-async');
}

const count = (most: number) => {
  const says = rule(`must be a whole number from 1 to ${most}`);
  return z.string(says).refine((digits) => /^[0-9]{1,9}$/.test(digits) && +digits >= 1 && +digits <= most, says);
};
const page = { limit: count(LIMITS.pageItems).optional(), cursor: z.string().optional() };
const pageQuery = object(page, 'limit and cursor');
export const jobsQuery = object({ ...page, tag: tag.optional() }, 'limit, cursor and tag');
export const failedQuery = object({ ...failedFilter, ...page }, 'job, since, reason, limit and cursor');
export const flushQuery = object(failedFilter, 'job, since and reason');
export const takeQuery = object({ max: count(10).optional() }, 'max');

/** The query parameters, each once. @throws InputError */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  return checked(schema, c.req.query());
}

/** @throws InputError */
export function readPage(c: Context): { limit: number; cursor?: string } {
  const { limit, cursor } = readQuery(c, pageQuery);
  return toPage(limit, cursor);
}

export function toPage(limit: string | undefined, cursor: string | undefined): { limit: number; cursor?: string } {
  return {
    limit: limit === undefined ? LIMITS.defaultPageItems : Number(limit),
    ...(cursor === undefined ? {} : { cursor }),
  };
}
