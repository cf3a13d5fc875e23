import { memberJobIdOf, type GroupKind } from '../domain/group';
import { inOrder } from '../domain/group-order';
import { stateAt } from '../domain/group-part';
import { InvalidCursorError, type Page, type PageQuery, type Ports } from '../ports';
import { runIdIn } from './advance-part';
import { headOf, standingOf, type GroupStanding, type Member } from './create-group';
import { listed } from './tell-group';

/** @throws NotFoundError */
export async function readGroup(
  kind: GroupKind,
  groupId: string,
  ports: Pick<Ports, 'groups'>,
): Promise<GroupStanding> {
  return standingOf(await headOf(kind, groupId, ports), ports);
}

/** @throws InvalidCursorError */
export async function listGroups(
  query: PageQuery & { kind: GroupKind },
  ports: Pick<Ports, 'groups'>,
): Promise<Page<GroupStanding>> {
  const { items, ...rest } = await ports.groups.list(query);
  return { items: await Promise.all(items.map((group) => standingOf(group, ports))), ...rest };
}

/** The jobs of a group in their order: of a chain all, in one page. @throws NotFoundError; InvalidCursorError */
export async function listMembers(
  { kind, groupId, limit, cursor }: PageQuery & { kind: GroupKind; groupId: string },
  ports: Pick<Ports, 'groups'>,
): Promise<Page<Member>> {
  const from = cursor === undefined ? 0 : placeIn(cursor);
  const head = await headOf(kind, groupId, ports);
  const places = inOrder(listed(head, await ports.groups.readParts(groupId)));
  const to = kind === 'chain' ? places.length : from + limit;
  const items = places.slice(from, to).map(({ part, index }): Member => ({
    jobId: memberJobIdOf(part, index),
    runId: runIdIn(part, index, head),
    state: stateAt(part, index)!,
  }));
  return { items, ...(to < places.length ? { cursor: `m${to}` } : {}) };
}

/** What is added while somebody pages comes last, so that places stay. */
function placeIn(cursor: string): number {
  const [, place] = /^m(\d{1,6})$/.exec(cursor) ?? [];
  if (place === undefined) throw new InvalidCursorError('a cursor that this list did not give out');
  return Number(place);
}
