import * as z from 'zod';
import { InputError, MOST_ERRORS, PayloadTooLargeError, type FieldError } from '../domain/errors';
import type { Callbacks } from '../domain/group';
import type { GroupRequest } from '../domain/group-request';
import type { JobRequest } from '../domain/job-request';
import { LIMITS } from '../domain/limits';
import { within } from './commands';
import * as fields from './job-fields';
import { given, readMember } from './job-request';
import { rawAt, rawItems } from './raw-json';
import { check, object, rule, shown, target } from './rules';

const aTarget = '{ "target": { "functionArn": "arn:aws:lambda:..." } }';

/** What stands in a list of jobs is read one by one, see `memberBody`. */
function jobList(least: number, most: number, of: string) {
  const says = rule(`must be a list of ${least} to ${most} ${of}`);
  return z.array(z.unknown(), says).min(least, says).max(most, says);
}

const chained = jobList(1, LIMITS.chainJobs, 'jobs, one after another');

/** What `POST /chains` takes. */
export const chainBody = object(
  { name: fields.name.optional(), jobs: chained, catch: target().optional() },
  `an object { "jobs": [${aTarget}, ...] }`,
);

const sideBySide = (least: number) =>
  jobList(least, LIMITS.batchJobs, 'jobs, or lists of jobs of which one follows another');

/** What `POST /batches` takes. */
export const batchBody = object(
  {
    name: fields.name.optional(),
    jobs: sideBySide(0),
    then: target().optional(),
    catch: target().optional(),
    finally: target().optional(),
    progress: target().optional(),
    allowFailures: z.boolean(rule('must be true or false')).optional(),
  },
  `an object { "jobs": [${aTarget}, [${aTarget}, ${aTarget}], ...] }`,
);

/** What `POST /batches/{batchId}/jobs` takes. */
export const addedJobsBody = object({ jobs: sideBySide(1) }, `an object { "jobs": [${aTarget}, ...] }`);

/**
 * The chain that a text asks for; `value` is what JSON.parse makes of the text.
 * @throws InputError with an entry per wrong field, such as `jobs[3].target.functionArn`; PayloadTooLargeError where one of
 *   them is a payload too large
 */
export function readChain(text: string, value: unknown): GroupRequest {
  const { body, jobs } = read(chainBody, text, value, readOneChain);
  return { ...nameOf(body), members: [jobs], callbacks: callbacksOf({ catch: body.catch }) };
}

/** @throws as `readChain`, with fields such as `jobs[2][1].payload` */
export function readBatch(text: string, value: unknown): GroupRequest {
  const { body, jobs } = read(batchBody, text, value, readSideBySide);
  const { allowFailures } = body;
  return {
    ...nameOf(body),
    members: jobs,
    callbacks: callbacksOf(body),
    ...(allowFailures === undefined ? {} : { allowFailures }),
  };
}

/** @throws as `readBatch` */
export function readAddedJobs(text: string, value: unknown): readonly (readonly JobRequest[])[] {
  return read(addedJobsBody, text, value, readSideBySide).jobs;
}

function nameOf({ name }: { name?: string | undefined }) {
  return name === undefined ? {} : { name };
}

function callbacksOf(body: { [Name in keyof Callbacks]?: { functionArn: string } | undefined }): Callbacks {
  return given<Callbacks>({
    then: body.then?.functionArn,
    catch: body.catch?.functionArn,
    finally: body.finally?.functionArn,
    progress: body.progress?.functionArn,
  });
}

/** An item of a list of jobs: its text, what JSON.parse makes of it, and the field that it is, such as `jobs[3]`. */
interface Item {
  text: string;
  value: unknown;
  field: string;
}

function itemsOf({ text, value, field }: Item): Item[] {
  const texts = rawItems(text)!;
  return (value as unknown[]).map((item, i) => ({ text: texts[i]!, value: item, field: `${field}[${i}]` }));
}

function read<Schema extends z.ZodType, Jobs>(
  schema: Schema,
  text: string,
  value: unknown,
  readJobs: (list: Item, faults: Faults) => Jobs,
): { body: z.output<Schema>; jobs: Jobs } {
  const { value: body, errors = [] } = check(schema, value);
  const faults = new Faults(errors);
  const isList = !errors.some(({ field }) => field === 'body' || field === 'jobs');
  const list = isList ? (value as { jobs: unknown }).jobs : [];
  const jobs = readJobs({ text: (isList && rawAt(text, ['jobs'])) || '[]', value: list, field: 'jobs' }, faults);
  faults.refuse();
  return { body: body!, jobs };
}

function readOneChain(list: Item, faults: Faults): JobRequest[] {
  return itemsOf(list).flatMap((item) => readOne(item, faults));
}

function readSideBySide(list: Item, faults: Faults): JobRequest[][] {
  let jobs = 0;
  const members = itemsOf(list).map((item) => {
    const { value } = item;
    jobs += Array.isArray(value) ? value.length : 1;
    if (!Array.isArray(value)) return readOne(item, faults);
    if (value.length >= 1 && value.length <= LIMITS.chainJobs) return readOneChain(item, faults);
    const message = `must be a job, or a list of 1 to ${LIMITS.chainJobs} of them; got a list of ${value.length}`;
    faults.add([{ field: item.field, message }]);
    return [];
  });
  if (jobs > LIMITS.batchJobs) {
    const message = `must hold at most ${LIMITS.batchJobs} jobs in all; got ${jobs}`;
    faults.add([{ field: list.field, message }]);
  }
  return members;
}

/** @returns nothing where it is wrong */
function readOne({ text, value, field }: Item, faults: Faults): JobRequest[] {
  if (faults.areEnough) return [];
  try {
    const job = readMember(text, value);
    if (job.jobId !== undefined) faults.refuseTaken(job.jobId, field);
    return [job];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    faults.addOf(error, field);
    return [];
  }
}

/** What is wrong with a list of jobs, as it is read. */
class Faults {
  readonly #errors: FieldError[];
  /** where each id stands first */
  readonly #ids = new Map<string, string>();
  #isTooLarge = false;

  constructor(errors: readonly FieldError[]) {
    this.#errors = [...errors];
  }

  /** An answer names no more: what comes after need not be looked at. */
  get areEnough(): boolean {
    return this.#errors.length > MOST_ERRORS;
  }

  add(errors: readonly FieldError[]): void {
    this.#errors.push(...errors);
  }

  addOf(error: InputError, field: string): void {
    this.#isTooLarge ||= error instanceof PayloadTooLargeError;
    this.add(within(field, error.errors));
  }

  refuseTaken(jobId: string, field: string): void {
    const first = this.#ids.get(jobId);
    if (first === undefined) this.#ids.set(jobId, field);
    else {
      const message = `must differ from ${first}.jobId; got ${shown(jobId)} again`;
      this.add([{ field: `${field}.jobId`, message }]);
    }
  }

  /** @throws InputError */
  refuse(): void {
    if (this.#isTooLarge) throw new PayloadTooLargeError(this.#errors);
    if (this.#errors.length > 0) throw new InputError(this.#errors);
  }
}
