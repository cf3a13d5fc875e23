import type { Notification } from '../domain/notification';
import { UnreadableMessageError } from '../domain/errors';
import { parseNotice, type Notice } from '../messages/notice';
import type { InvokeOutcome, Ports, ReceivedMessage } from '../ports';

export type NotifierPorts = Pick<Ports, 'clock' | 'notifications' | 'code' | 'notify' | 'invoker' | 'journal'>;

/** The longest that a subscriber may take. */
const NOTIFICATION_TIMEOUT_MS = 60_000;
/** A subscriber that failed is tried again after 5 s, 10 s, 20 s … until the queue gives the message up. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 900_000;
/** A subscriber that could not even be called for so long is tried as one that fails. */
const LONGEST_HELD_BACK_MS = 6 * 3_600_000;

/**
 * The notifier's part: each notice goes to everybody who wants to hear of this state of this job.
 * A subscriber that fails changes nothing for the job or the other subscribers.
 * @returns the ids of the messages that have to come again
 */
export async function deliverNotices(messages: readonly ReceivedMessage[], ports: NotifierPorts): Promise<string[]> {
  const failed = await Promise.all(
    messages.map(async (message) => {
      try {
        await deliverNotice(message, ports);
        return [];
      } catch (error) {
        ports.journal.note('notice-left', { messageId: message.messageId, error: (error as Error).name });
        await comeAgainLater(message, ports);
        return [message.messageId];
      }
    }),
  );
  return failed.flat();
}

async function deliverNotice(message: ReceivedMessage, ports: NotifierPorts) {
  const notice = parseNotice(message.body);
  if (!notice) throw new UnreadableMessageError(`message ${message.messageId} is no notice`);
  const all = await ports.notifications.of(notice.jobId, notice.state);
  const wanted = all.filter(
    ({ notifyId, lifeId }) =>
      lifeId === notice.lifeId && (notice.notifyId === undefined || notice.notifyId === notifyId),
  );
  const outcomes = await Promise.all(wanted.map((notification) => deliver(notification, notice, ports)));
  const unserved = wanted.filter((_, index) => outcomes[index]!.kind !== 'returned');
  if (unserved.length === 0) return;
  const isHeldBack = outcomes.every(({ kind }) => kind === 'returned' || kind === 'held-back');
  const now = ports.clock.now();
  const heldBackSince = isHeldBack ? (notice.heldBackSince ?? now) : undefined;
  const isOneAlone = notice.notifyId !== undefined || wanted.length === 1;
  if (isOneAlone && (heldBackSince === undefined || now - heldBackSince > LONGEST_HELD_BACK_MS)) {
    throw new SubscriberFailedError();
  }
  // The others have theirs: from here on each one that is left has a message, and a count of tries, of its own. Being held
  // back is no failure of the subscriber, and uses none of its tries.
  await ports.notify.send(
    unserved.map(({ notifyId }) => ({
      body: JSON.stringify({
        ...notice,
        notifyId,
        ...(heldBackSince === undefined ? {} : { heldBackSince }),
      } satisfies Notice),
      delayMs: FIRST_RETRY_MS,
    })),
  );
}

async function deliver(
  { jobId, notifyId, codeId }: Notification,
  notice: Notice,
  { code, invoker, journal }: NotifierPorts,
): Promise<InvokeOutcome> {
  const mapping = await code.read(codeId);
  const outcome: InvokeOutcome = mapping
    ? await invoker.invoke({
        functionArn: mapping.functionArn,
        event: JSON.stringify(notice.event),
        timeoutMs: NOTIFICATION_TIMEOUT_MS,
      })
    : { kind: 'refused', reason: 'function-not-found', message: `no code is mapped to ${codeId}` };
  journal.note(outcome.kind === 'returned' ? 'notified' : 'not-notified', {
    jobId,
    notifyId,
    eventId: notice.event.id,
    state: notice.state,
    ...('reason' in outcome ? { reason: outcome.reason } : {}),
    // not the error's name: the code chose it
    ...(outcome.kind === 'failed' ? { reason: 'code-failed' } : {}),
  });
  return outcome;
}

class SubscriberFailedError extends Error {
  override readonly name = 'SubscriberFailedError';
}

async function comeAgainLater(message: ReceivedMessage, { notify, journal }: NotifierPorts) {
  const forMs = Math.min(FIRST_RETRY_MS * 2 ** (message.receives - 1), LONGEST_RETRY_MS);
  try {
    await notify.hide([message.receipt], forMs);
  } catch (error) {
    // It comes again all the same, when the queue's own visibility ends.
    journal.note('visibility-not-set', { messageId: message.messageId, error: (error as Error).name });
  }
}
