import { ConflictError, InputError, NotFoundError, type FieldError } from '../domain/errors';
import { messageBody, readCommand, within, type Commands, type Reply } from '../messages/commands';
import type { CommandName, Ports, ReceivedMessage, ReplyName } from '../ports';
import { createJob, type CreateJobPorts } from './create-job';
import { createNotification } from './create-notification';
import { deleteJob } from './delete-job';
import { deleteNotification } from './delete-notification';
import { deleteNotifications } from './delete-notifications';

type Replying<Name extends ReplyName> = Pick<Ports, 'journal'> & { replies: Pick<Ports['replies'], Name> };

/** What each command needs of the ports: a function that carries out one of them is granted no more. */
export interface CommandPorts {
  'job-create': CreateJobPorts & Replying<'job-created'>;
  'job-delete': Parameters<typeof deleteJob>[2] & Replying<'job-deleted'>;
  'notify-create': Parameters<typeof createNotification>[2] & Replying<'notify-created'>;
  'notify-delete': Parameters<typeof deleteNotifications>[3] & Replying<'notify-deleted'>;
}

export const REPLY_OF: Readonly<Record<CommandName, ReplyName>> = {
  'job-create': 'job-created',
  'job-delete': 'job-deleted',
  'notify-create': 'notify-created',
  'notify-delete': 'notify-deleted',
};

/**
 * Carries out one message of a command queue and answers it on the reply queue; what is wrong with it is an answer too.
 * Resolves when the message may be removed. A repeat changes nothing more and is answered again.
 * @throws UnreadableMessageError when it is not JSON; anything that a store or a queue throws: the message has to come again
 */
export async function answerCommand<Name extends CommandName>(
  name: Name,
  message: ReceivedMessage,
  ports: CommandPorts[Name],
): Promise<void> {
  const reading = readCommand(name, message.body);
  const answers: Omit<Reply, 'version'>[] = reading.refused
    ? [{ ok: false, ...reading.refused }]
    : await answersTo(name, reading.command, message.sentAt, ports);
  const replies: Partial<Ports['replies']> = ports.replies;
  await replies[REPLY_OF[name]]!.send(
    answers.map((answer) => ({ body: messageBody({ version: 1, ...answer } satisfies Reply) })),
  );
}

async function answersTo<Name extends CommandName>(
  name: Name,
  command: Commands[Name],
  sentAt: number,
  ports: CommandPorts[Name],
): Promise<Omit<Reply, 'version'>[]> {
  const { requestId } = command;
  try {
    const done = await carryOut[name](command, ports, sentAt);
    return done.map((what) => ({ requestId, ok: true, ...what }));
  } catch (error) {
    const errors = errorsOf(error, name);
    if (!errors) throw error;
    return [{ requestId, ok: false, ...('jobId' in command ? { jobId: command.jobId } : {}), errors }];
  }
}

type Done = Pick<Reply, 'jobId' | 'notifyId' | 'state'>;

const carryOut: {
  readonly [Name in CommandName]: (
    command: Commands[Name],
    ports: CommandPorts[Name],
    sentAt: number,
  ) => Promise<Done[]>;
} = {
  'job-create': async ({ requestId, job }, ports, sentAt) => {
    const { jobId } = await createJob(requestId, job, ports, sentAt);
    return [{ jobId }];
  },
  'job-delete': async ({ requestId, jobId }, ports) => {
    await deleteJob(requestId, jobId, ports);
    return [{ jobId }];
  },
  'notify-create': async ({ requestId, ...request }, ports) => {
    const { jobId, notifyId, state } = await createNotification(requestId, request, ports);
    return [{ jobId, notifyId, state }];
  },
  'notify-delete': async ({ requestId, jobId, notifyId, lifeId }, ports) => {
    if (notifyId !== undefined) {
      await deleteNotification(jobId, notifyId, ports);
      return [{ jobId, notifyId }];
    }
    const removed = await deleteNotifications(requestId, jobId, lifeId, ports);
    // Who deleted a job has its answer already; who asked for this removal gets one even if there was nothing.
    if (removed.length === 0 && lifeId === undefined) return [{ jobId }];
    return removed.map((notification) => ({ jobId, ...notification }));
  },
};

/** @returns undefined when the fault is not the caller's */
function errorsOf(error: unknown, name: CommandName): readonly FieldError[] | undefined {
  const part = name === 'job-create' ? 'job' : name === 'notify-create' ? 'notification' : undefined;
  if (error instanceof InputError) return placed(error.errors, part);
  if (error instanceof NotFoundError) return [{ field: error.field, message: error.message }];
  if (error instanceof ConflictError) return placed([{ field: error.field, message: error.message }], part);
  return undefined;
}

/** Operations name a field as the body of a request has it; in a message that body is a part of the whole. */
function placed(errors: readonly FieldError[], part: 'job' | 'notification' | undefined): FieldError[] {
  return errors.flatMap((error) => {
    const isOfTheWhole = error.field === 'requestId' || (error.field === 'jobId' && part === 'notification');
    return part === undefined || isOfTheWhole ? [error] : within(part, [error]);
  });
}
