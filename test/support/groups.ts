import type { Group, GroupKind } from '../../src/domain/group';
import { tallyOf, type Tally } from '../../src/domain/group';
import type { GroupRequest } from '../../src/domain/group-request';
import type { JobRequest } from '../../src/domain/job-request';
import type { Run } from '../../src/domain/run';
import { createGroup, type GroupStanding, type Member } from '../../src/operations/create-group';
import { listMembers, readGroup } from '../../src/operations/read-group';
import type { Ports } from '../../src/ports';
import { functionArn } from './builders';
import { aRequest, type Code, type World } from './world';

export const ok: Code = () => ({ ok: true });

export const fail: Code = () => {
  throw new Error('no');
};

/** Code that takes so long. */
export const lasts =
  (ms: number): Code =>
  ({ at }, clock) =>
    clock.waitUntil(at + ms);

/** The code that CALLBACKS name. */
export const CALLBACK_CODE = { 'on-then': ok, 'on-catch': ok, 'on-finally': ok, 'on-progress': ok };

/** Tries without a wait between them. */
export function tries(maxAttempts: number, seconds = 0): JobRequest['retry'] {
  return { maxAttempts, backoff: { kind: 'fixed', seconds }, jitter: 'none' };
}

/** A job for each name of its code; each has one try, unless said otherwise. */
export function steps(...codes: string[]): JobRequest[] {
  return codes.map((code) => aRequest({ code, retry: tries(1) }));
}

export const CALLBACKS = {
  then: functionArn('on-then'),
  catch: functionArn('on-catch'),
  finally: functionArn('on-finally'),
} as const;

export function aChain(jobs: readonly JobRequest[], changes: Partial<GroupRequest> = {}): GroupRequest {
  return { members: [jobs], callbacks: CALLBACKS, ...changes };
}

export function aBatch(members: readonly (readonly JobRequest[])[], changes: Partial<GroupRequest> = {}): GroupRequest {
  return { members, callbacks: CALLBACKS, ...changes };
}

/** A group of a world, as a test looks at it. */
export class GroupOf {
  readonly world: World;
  readonly kind: GroupKind;
  readonly groupId: string;

  constructor(world: World, { groupId, kind }: Pick<Group, 'groupId' | 'kind'>) {
    this.world = world;
    this.kind = kind;
    this.groupId = groupId;
  }

  static async create(
    world: World,
    kind: GroupKind,
    request: GroupRequest,
    { requestId = 'r1', ports = world.ports }: { requestId?: string; ports?: Ports } = {},
  ): Promise<GroupOf> {
    const { group } = await world.untilOver(createGroup(kind, requestId, request, ports));
    return new GroupOf(world, group);
  }

  standing(): Promise<GroupStanding> {
    return readGroup(this.kind, this.groupId, this.world.ports);
  }

  async members(): Promise<Member[]> {
    const members: Member[] = [];
    let cursor: string | undefined;
    do {
      const query = {
        kind: this.kind,
        groupId: this.groupId,
        limit: 1_000,
        ...(cursor === undefined ? {} : { cursor }),
      };
      const page = await listMembers(query, this.world.ports);
      members.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return members;
  }

  /** The states of its jobs in their order, such as `DFS`. */
  async states(): Promise<string> {
    return (await this.members()).map(({ state }) => state).join('');
  }

  /** The run of each job in their order; undefined where it has no row. */
  async runs(): Promise<(Run | undefined)[]> {
    const members = await this.members();
    return Promise.all(members.map(({ jobId, runId }) => this.world.ports.runs.read(jobId, runId)));
  }

  async parts() {
    return this.world.ports.groups.readParts(this.groupId);
  }

  async tally(): Promise<Tally> {
    return tallyOf(await this.parts());
  }
}

/** A port of which some methods do something else. */
export function altered<Port extends object>(port: Port, methods: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, key) {
      const other = methods[key as keyof Port];
      if (other !== undefined) return other;
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

/** The payloads that a callback was called with. */
export function payloads(world: World, functionName: string): Record<string, unknown>[] {
  return world.callsOf(functionName).map(({ event }) => event['payload'] as Record<string, unknown>);
}

/** How many runs each of the callbacks had: one whose runner died may be called again, as the same run. */
export function callbackCounts(world: World): Record<string, number> {
  const runsOf = (name: string) => new Set(world.callsOf(name).map(({ event }) => event['runId'])).size;
  return Object.fromEntries(['on-then', 'on-catch', 'on-finally'].map((name) => [name, runsOf(name)]));
}
