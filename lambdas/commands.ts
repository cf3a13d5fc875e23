import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { answerCommand, type CommandPorts } from '../src/operations/answer-command';
import { SendTogether } from '../src/operations/send-together';
import type { Clock, CommandName, Journal } from '../src/ports';
import { comeAgain, messagesOf } from './batch';

/**
 * Answers each message by itself: one that cannot be read, or fails, comes again and harms none of its neighbours. What
 * they send goes out together.
 */
export async function answerCommands<Name extends CommandName>(
  name: Name,
  event: SQSEvent,
  ports: CommandPorts[Name] & { journal: Journal; clock: Clock },
): Promise<SQSBatchResponse> {
  const messages = messagesOf(event);
  const together = new SendTogether(messages.length, ports.clock);
  const portsOfBatch = together.through(ports);
  const left = await Promise.all(
    messages.map(async (message) => {
      try {
        await answerCommand(name, message, portsOfBatch);
        return [];
      } catch (error) {
        const { messageId, receives } = message;
        ports.journal.note('message-left', { messageId, receives, error: (error as Error).name });
        return [messageId];
      } finally {
        together.over();
      }
    }),
  );
  return comeAgain(left.flat());
}
