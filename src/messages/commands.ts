import * as z from 'zod';
import { InputError, type FieldError } from '../domain/errors';
import type { JobRequest } from '../domain/job-request';
import { NOTIFICATION_STATES, OF_ALL, type NotificationState } from '../domain/notification';
import { jobBody, readJobRequest } from './job-request';
import { parseJson, refuseUnwieldy } from './json-text';
import { rawAt, stringify } from './raw-json';
import {
  check,
  checked,
  identifier,
  isId,
  isRequestId,
  jobIdOrAll,
  object,
  oneEach,
  oneOf,
  requestId,
  rule,
  target,
} from './rules';

/** What `POST /jobs/{jobId}/notifications` takes, and `notification` in the message `notify-create`. */
export const notificationBody = object(
  { state: oneOf(NOTIFICATION_STATES), target: target() },
  'an object { "state": "DONE", "target": { "functionArn": "arn:aws:lambda:..." } }',
);

const head = { version: z.literal(1, rule('must be 1, the only version there is')), requestId: requestId() };
const form = (rest: string) => `an object { "version": 1, "requestId": "...", ${rest} }`;

/** One schema per command queue. */
export const commandBodies = {
  'job-create': object({ ...head, job: jobBody }, form('"job": { ... }')),
  'job-delete': object({ ...head, jobId: identifier() }, form('"jobId": "..."')),
  'notify-create': object(
    { ...head, jobId: jobIdOrAll(), notification: notificationBody },
    form('"jobId": "...", "notification": { "state": "DONE", "target": { ... } }'),
  ),
  'notify-delete': object(
    {
      ...head,
      jobId: jobIdOrAll(),
      notifyId: identifier().optional(),
      // Ours: a job's deletion names the life whose notifications go, and may find that none is left.
      lifeId: z.string(rule('must be text')).optional(),
    },
    form('"jobId": "..."'),
  ),
} satisfies Record<keyof Commands, z.ZodType>;

/** What each command asks for, checked. */
export interface Commands {
  'job-create': { requestId: string; job: JobRequest };
  'job-delete': { requestId: string; jobId: string };
  'notify-create': { requestId: string; jobId: string; state: NotificationState; functionArn: string };
  'notify-delete': { requestId: string; jobId: string; notifyId?: string | undefined; lifeId?: string | undefined };
}

/** A command as it was understood, or what is wrong with it and what could be read of it all the same. */
export type CommandReading<Command> =
  | { command: Command; refused?: never }
  | { command?: never; refused: { requestId: string | null; jobId?: string; errors: readonly FieldError[] } };

/** @throws UnreadableMessageError when the text is not JSON */
export function readCommand<Name extends keyof Commands>(name: Name, text: string): CommandReading<Commands[Name]> {
  const value = parseJson(text);
  try {
    refuseUnwieldy(text);
    return { command: readers[name](text, value) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // By hand: what was refused may be too deep for anything that shows it in a message.
    const { requestId, jobId } = (value ?? {}) as Record<string, unknown>;
    return {
      refused: {
        requestId: typeof requestId === 'string' && isRequestId(requestId) ? requestId : null,
        ...(typeof jobId === 'string' && (isId(jobId) || jobId === OF_ALL.jobId) ? { jobId } : {}),
        errors: error.errors,
      },
    };
  }
}

/** Each throws an InputError. */
const readers: { readonly [Name in keyof Commands]: (text: string, value: unknown) => Commands[Name] } = {
  'job-create': jobCreation,
  'job-delete': (_, value) => checked(commandBodies['job-delete'], value),
  'notify-create': (_, value) => {
    const { requestId, jobId, notification } = checked(commandBodies['notify-create'], value);
    return { requestId, jobId, state: notification.state, functionArn: notification.target.functionArn };
  },
  'notify-delete': (_, value) => checked(commandBodies['notify-delete'], value),
};

/** The job has rules that its schema alone does not know. */
function jobCreation(text: string, value: unknown): Commands['job-create'] {
  const { errors = [], value: command } = check(commandBodies['job-create'], value);
  const jobText = rawAt(text, ['job']);
  try {
    const job = readJobRequest(jobText ?? '{}', jobText === undefined ? {} : JSON.parse(jobText));
    if (command) return { requestId: command.requestId, job };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const ofJob = jobText === undefined ? [] : within('job', error.errors);
    throw new InputError(oneEach([...errors, ...ofJob]));
  }
  throw new InputError(errors);
}

/** The errors of a part, as errors of the whole that it stands in. */
export function within(part: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map(({ field, message }) => ({ field: field === 'body' ? part : `${part}.${field}`, message }));
}

/** What a queue's answer says; `notifyId` and `state` tell of a notification. */
export interface Reply {
  version: 1;
  requestId: string | null;
  ok: boolean;
  jobId?: string;
  notifyId?: string;
  state?: NotificationState;
  errors?: readonly FieldError[];
}

/** JSON text that every queue takes: SQS refuses these two characters, which may stand in a caller's text. */
export function messageBody(value: unknown): string {
  return stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}
