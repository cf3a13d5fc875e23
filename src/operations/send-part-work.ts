import type { PartWork } from '../messages/part-work';
import type { Ports } from '../ports';

/** Asks runners to bring these parts on their way. It must not wait behind a backlog: a cancelled batch would go on meanwhile. */
export async function sendPartWork(
  groupId: string,
  partIds: readonly string[],
  { highActivations }: Pick<Ports, 'highActivations'>,
): Promise<void> {
  if (partIds.length === 0) return;
  const messages = partIds.map((partId): PartWork => ({ version: 1, kind: 'part', groupId, partId }));
  await highActivations.send(messages.map((message) => ({ body: JSON.stringify(message) })));
}
