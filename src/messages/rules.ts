import * as z from 'zod';
import { parseFunctionArn } from '../domain/arn';
import { InputError, type FieldError } from '../domain/errors';
import { LIMITS } from '../domain/limits';
import { OF_ALL } from '../domain/notification';
import { parseInstant } from './instant';

/** What a schema says of a wrong value: the rule, in words that tell what to write, and what was found. */
export function rule(text: string) {
  return {
    error: ({ input }: { input?: unknown }) =>
      input === undefined ? `is missing; it ${text}` : `${text}; got ${shown(input)}`,
  };
}

/** An object that has these fields and no others. */
export function object<Shape extends z.core.$ZodLooseShape>(shape: Shape, form: string) {
  const known = Object.keys(shape);
  const { error } = rule(`must be ${form}`);
  return z.strictObject(shape, {
    // One line for each unknown field, in their order, see errorsOf.
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => unknownField(key, known)).join('\n') : error(issue),
  });
}

export function wholeNumber(least: number, most: number) {
  const says = rule(`must be a whole number from ${least} to ${most}`);
  return z.int(says).min(least, says).max(most, says);
}

/** Fractions are allowed. `of` says what is counted. */
export function amount(of: string, least: number, most: number) {
  const says = rule(`must be a number ${of}from ${least} to ${most}`);
  return z.number(says).min(least, says).max(most, says);
}

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, rule(`must be one of ${values.join(', ')}`));
}

/** Text for people: no control characters and no half characters; its length counts characters, not code units. */
export function plainText(most: number, without?: 'commas') {
  const says = rule(
    `must be text of 1 to ${most} characters without ${without ? `${without} or ` : ''}control characters`,
  );
  const refused = without ? /[\p{Cc},]/u : /\p{Cc}/u;
  const isRight = (text: string) => text.isWellFormed() && !refused.test(text) && [...text].length <= most;
  return z.string(says).min(1, says).refine(isRight, says).meta({ maxLength: most });
}

/** Schedules name nothing beyond these years. */
const FIRST_INSTANT = Date.UTC(1970, 0, 1);
const END_OF_INSTANTS = Date.UTC(2200, 0, 1);

/** An instant as text, to be read by `parseInstant`. */
export function instant() {
  const says = rule(
    'must be an instant with Z or an offset in the years 1970 to 2199, such as 2027-06-01T09:00:00Z or 2027-06-01T10:00:00+01:00',
  );
  const isRight = (text: string) => {
    const at = parseInstant(text);
    return at !== undefined && at >= FIRST_INSTANT && at < END_OF_INSTANTS;
  };
  return z.string(says).refine(isRight, says).meta({ format: 'date-time' });
}

export function identifier() {
  const says = rule(`must be 1 to ${LIMITS.idCharacters} letters, digits, - or _`);
  return z.string(says).regex(ID, says);
}

const ID = new RegExp(`^[A-Za-z0-9_-]{1,${LIMITS.idCharacters}}$`);

/** Can a job, a run or a notification have this id? */
export function isId(id: string): boolean {
  return ID.test(id);
}

/** Subscriptions are to one job, or to all there are. */
export function jobIdOrAll() {
  const says = rule(`must be 1 to ${LIMITS.idCharacters} letters, digits, - or _, or * for all jobs`);
  return z.string(says).refine((id) => ID.test(id) || id === OF_ALL.jobId, says);
}

export function requestId() {
  const says = rule(`must be 1 to ${LIMITS.requestIdCharacters} printable ASCII characters`);
  return z.string(says).regex(REQUEST_ID, says);
}

const REQUEST_ID = new RegExp(`^[\\x20-\\x7e]{1,${LIMITS.requestIdCharacters}}$`);

export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}

/** The code that is to be called. */
export function target() {
  const says = rule(
    'must be the ARN of a Lambda function, such as arn:aws:lambda:eu-west-1:111122223333:function:job-report',
  );
  const functionArn = z
    .string(says)
    .max(LIMITS.arnCharacters, says)
    .refine((arn) => parseFunctionArn(arn) !== undefined, says);
  return object({ functionArn }, 'an object { "functionArn": "arn:aws:lambda:..." }');
}

export type Checked<Value> = { value: Value; errors?: never } | { value?: never; errors: FieldError[] };

/** Checks a value against a schema. @returns the value with its defaults, or an entry per wrong field */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): Checked<z.output<Schema>> {
  const checked = schema.safeParse(value);
  return checked.success ? { value: checked.data } : { errors: oneEach(errorsOf(checked.error)) };
}

/** The value with its defaults. @throws InputError with an entry per wrong field */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { value: right, errors } = check(schema, value);
  if (errors) throw new InputError(errors);
  return right;
}

function errorsOf(error: z.ZodError): FieldError[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ field: fieldOf(issue.path), message: issue.message }];
    const messages = issue.message.split('\n');
    return issue.keys.map((key, i) => ({ field: fieldOf([...issue.path, key]), message: messages[i]! }));
  });
}

/** One entry per field: what was found first. */
export function oneEach(errors: readonly FieldError[]): FieldError[] {
  const first = new Map<string, FieldError>();
  for (const error of errors) if (!first.has(error.field)) first.set(error.field, error);
  return [...first.values()];
}

/** `retry.backoff.seconds[1]`; the whole is `body`. */
function fieldOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body';
  return path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`;
    const name = step === '' ? '""' : cut(String(step).toWellFormed(), 64);
    return field === '' ? name : `${field}.${name}`;
  }, '');
}

function unknownField(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: distanceBetween(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  // Further away than this, a guess says less than the list.
  const isNear = nearest !== undefined && nearest.distance <= Math.max(2, Math.floor(nearest.candidate.length / 3));
  if (isNear) return `unknown field; did you mean ${nearest.candidate}?`;
  return known.length === 0 ? 'unknown field; leave it out' : `unknown field; the known ones are ${known.join(', ')}`;
}

/** How many letters have to be put in, taken out or changed (Levenshtein). */
function distanceBetween(a: string, b: string): number {
  if (a.length > 64) return a.length;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** A value as an error message shows it: its beginning, on one line. */
export function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : cut(JSON.stringify(value), 80);
}

function cut(text: string, characters: number): string {
  const all = [...text];
  return all.length <= characters ? text : `${all.slice(0, characters).join('')}…`;
}
