import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { answerCommand, type CommandPorts } from '../src/operations/answer-command';
import type { CommandName, Journal } from '../src/ports';
import { comeAgain, messagesOf } from './batch';

/** Answers each message by itself: one that cannot be read, or fails, comes again and harms none of its neighbours. */
export async function answerCommands<Name extends CommandName>(
  name: Name,
  event: SQSEvent,
  ports: CommandPorts[Name] & { journal: Journal },
): Promise<SQSBatchResponse> {
  const left = await Promise.all(
    messagesOf(event).map(async (message) => {
      try {
        await answerCommand(name, message, ports);
        return [];
      } catch (error) {
        const { messageId, receives } = message;
        ports.journal.note('message-left', { messageId, receives, error: (error as Error).name });
        return [messageId];
      }
    }),
  );
  return comeAgain(left.flat());
}
