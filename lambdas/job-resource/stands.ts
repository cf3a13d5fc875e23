import { isDeepStrictEqual } from 'node:util';

/**
 * Does a job stand as a stack wants it? What stands has defaults that nobody wrote, so only what is written counts; what was
 * written before and is no longer must not stand any more.
 */
export function stands(standing: unknown, now: object, before: object = {}): boolean {
  const of = members(standing);
  const said = Object.entries(now).every(([name, value]) => {
    if (name === 'payload' || !isObject(value)) return isDeepStrictEqual(of[name], value);
    return isObject(of[name]) && stands(of[name], value, members(members(before)[name]));
  });
  const isGone = (name: string, value: unknown) => !(name in of) || !stands(of, { [name]: value });
  return said && Object.entries(before).every(([name, value]) => name in now || isGone(name, value));
}

function members(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
