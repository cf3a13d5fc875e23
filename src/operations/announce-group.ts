import { groupEventOf } from '../domain/event';
import type { Group, Tally } from '../domain/group';
import { OF_ALL, type GroupEventState } from '../domain/notification';
import type { Notice } from '../messages/notice';
import type { Ports } from '../ports';
import type { AnnouncePorts } from './announce';
import { statesSubscribedOfAll } from './subscriptions';

/** Tells whoever subscribed to the states of all what became of a chain or batch. Twice is the same event id twice. */
export async function announceGroup(
  group: Group,
  tally: () => Promise<Tally>,
  ports: AnnouncePorts & Pick<Ports, 'clock'>,
): Promise<void> {
  const state = `${group.kind.toUpperCase()}_${group.state}` as GroupEventState;
  if (!(await statesSubscribedOfAll(ports)).includes(state)) return;
  const at = group.finishedAt ?? ports.clock.now();
  const notice: Notice = { ...OF_ALL, version: 1, state, event: groupEventOf(group, at, await tally()) };
  await ports.notify.send([{ body: JSON.stringify(notice) }]);
}
