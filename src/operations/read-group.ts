import type { GroupKind } from '../domain/group';
import type { Page, PageQuery, Ports } from '../ports';
import type { GroupStanding, Member } from './create-group';

/** @throws NotFoundError */
export async function readGroup(
  _kind: GroupKind,
  _groupId: string,
  _ports: Pick<Ports, 'groups'>,
): Promise<GroupStanding> {
  throw new Error('not yet');
}

/** @throws InvalidCursorError */
export async function listGroups(
  _query: PageQuery & { kind: GroupKind },
  _ports: Pick<Ports, 'groups'>,
): Promise<Page<GroupStanding>> {
  throw new Error('not yet');
}

/** The jobs of a group in their order: of a chain all, in one page. @throws NotFoundError; InvalidCursorError */
export async function listMembers(
  _query: PageQuery & { kind: GroupKind; groupId: string },
  _ports: Pick<Ports, 'groups'>,
): Promise<Page<Member>> {
  throw new Error('not yet');
}
