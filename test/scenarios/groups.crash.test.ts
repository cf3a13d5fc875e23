import { ConflictError } from '../../src/domain/errors';
import { groupIdOf, type GroupKind } from '../../src/domain/group';
import type { GroupRequest } from '../../src/domain/group-request';
import { cancelGroup, retryGroup } from '../../src/operations/change-group';
import { addToBatch, createGroup } from '../../src/operations/create-group';
import { runActivations } from '../../src/operations/run-activation';
import type { Ports } from '../../src/ports';
import { MINUTE, SECOND } from '../support/builders';
import { dieEverywhere } from '../support/die-everywhere';
import { aBatch, aChain, callbackCounts, GroupOf, ok, steps, tries } from '../support/groups';
import { aRequest, type Code, type World } from '../support/world';

/** Few jobs make many parts. */
jest.mock('../../src/domain/group', () => ({ ...jest.requireActual<object>('../../src/domain/group'), PART_JOBS: 2 }));

/** Fails for good, whatever attempts were lost. */
const bad: Code = () => {
  throw Object.assign(new Error('no'), { name: 'NonRetriableError' });
};
const code = { a: ok, b: ok, bad, 'on-then': ok, 'on-catch': ok, 'on-finally': ok };

const job = (name: string, delaySeconds = 0) =>
  aRequest({
    code: name,
    retry: tries(5, 1),
    ...(delaySeconds > 0 ? { schedule: { kind: 'delay' as const, delaySeconds } } : {}),
  });
const chainOf = (...names: string[]) => aChain(names.map((name) => job(name)));

const group = (world: World, kind: GroupKind, requestId = 'r1') =>
  new GroupOf(world, { kind, groupId: groupIdOf(kind, requestId) });

/** Takes what is visible and carries it, until nothing is. */
async function runAll(world: World, ports: Ports) {
  for (let hasMore = true; hasMore;) {
    hasMore = false;
    for (const name of ['highActivations', 'activations'] as const) {
      const messages = await world.ports[name].receive(10);
      const left = await runActivations(messages, ports, ports[name]);
      const done = messages.filter(({ messageId }) => !left.includes(messageId));
      await ports[name].remove(done.map(({ receipt }) => receipt));
      hasMore ||= done.length > 0;
    }
  }
}

const create = (kind: GroupKind, request: GroupRequest) => (_: World, ports: Ports) =>
  createGroup(kind, 'r1', request, ports);
const arrange = (kind: GroupKind, request: GroupRequest) => async (world: World) => {
  await createGroup(kind, 'r1', request, world.ports);
};
/** Every job ended in these states, and each callback came as often as that. */
const ended =
  (kind: GroupKind, states: string, state: string, [then, caught]: [number, number]) =>
  async (world: World) => {
    expect(await group(world, kind).states()).toBe(states);
    expect((await group(world, kind).standing()).group).toMatchObject({ state });
    expect(callbackCounts(world)).toEqual({ 'on-then': then, 'on-catch': caught, 'on-finally': 1 });
    expect((await group(world, kind).runs()).every((run) => run !== undefined)).toBe(true);
  };

jest.setTimeout(120_000);

describe('a process that dies between any two calls of', () => {
  test('creating a batch: it is there whole, and runs, or nothing of it runs', async () => {
    const request = aBatch([[job('a'), job('b')], [{ ...job('a'), jobId: 'own' }]]);
    const histories = await dieEverywhere({
      code,
      act: create('batch', request),
      check: async (world, { wasAcknowledged }) => {
        const isThere = (await world.ports.groups.read(groupIdOf('batch', 'r1'))) !== undefined;
        if (wasAcknowledged) expect(isThere).toBe(true);
        if (isThere) await ended('batch', 'DDD', 'DONE', [1, 0])(world);
        else expect(world.calls).toEqual([]);
      },
    });
    expect(histories).toBeGreaterThan(14);
  });

  test('creating a batch whose caller asks again: each job runs once', async () => {
    const request = aBatch([[job('a'), job('b')], [{ ...job('a'), jobId: 'own' }]]);
    await dieEverywhere({
      code,
      act: create('batch', request),
      again: (world) => createGroup('batch', 'r1', request, world.ports),
      check: async (world) => {
        await ended('batch', 'DDD', 'DONE', [1, 0])(world);
        expect(world.callsOf('a')).toHaveLength(2);
      },
    });
  });

  test('creating an empty batch whose caller asks again: then and finally come once', async () => {
    await dieEverywhere({
      code,
      act: create('batch', aBatch([])),
      again: (world) => createGroup('batch', 'r1', aBatch([]), world.ports),
      check: ended('batch', '', 'DONE', [1, 0]),
    });
  });

  test('the life of a chain: each step comes after the one before, each callback once', async () => {
    const histories = await dieEverywhere({
      code,
      arrange: arrange('chain', chainOf('a', 'b')),
      act: runAll,
      check: ended('chain', 'DD', 'DONE', [1, 0]),
    });
    expect(histories).toBeGreaterThan(60);
  });

  test('the life of a chain that fails: the rest is skipped, catch comes once', async () => {
    const histories = await dieEverywhere({
      code,
      arrange: arrange('chain', chainOf('bad', 'a', 'b')),
      act: runAll,
      check: ended('chain', 'FSS', 'FAILED', [0, 1]),
    });
    expect(histories).toBeGreaterThan(60);
  });

  test('the life of a batch that is stopped: what has not begun is skipped, catch comes once', async () => {
    const histories = await dieEverywhere({
      code,
      rest: 10 * MINUTE,
      arrange: arrange('batch', aBatch([[job('bad')], [job('a', 240), job('b')]])),
      act: runAll,
      check: ended('batch', 'FSS', 'FAILED', [0, 1]),
    });
    expect(histories).toBeGreaterThan(60);
  });

  test('cancelling: nothing is left pending, finally comes once', async () => {
    const request = aBatch([[job('a', 60), job('b')], [job('a', 60)]]);
    await dieEverywhere({
      code,
      arrange: arrange('batch', request),
      act: async (world, ports) => {
        await cancelGroup('batch', groupIdOf('batch', 'r1'), ports);
        await runAll(world, ports);
      },
      again: (world) => cancelGroup('batch', groupIdOf('batch', 'r1'), world.ports),
      check: async (world) => {
        await ended('batch', 'SSS', 'CANCELLED', [0, 0])(world);
        expect(await group(world, 'batch').parts()).toHaveLength(2);
        expect((await group(world, 'batch').runs()).map((run) => run!.reason)).toEqual(
          Array(3).fill('batch-cancelled'),
        );
      },
    });
  });

  test('sending again what failed: everything is done in the end, each callback once', async () => {
    let isBroken = true;
    await dieEverywhere({
      code: { ...code, bad: (call, clock) => (isBroken ? bad(call, clock) : 'mended') },
      rest: 10 * MINUTE,
      arrange: async (world) => {
        isBroken = true;
        const request = aBatch([
          [job('bad'), job('b')],
          [job('a', 20), job('b')],
        ]);
        await createGroup('batch', 'r1', request, world.ports);
        const engine = world.start();
        await world.clock.advance(10 * SECOND);
        await world.stop(engine);
        expect(await group(world, 'batch').states()).toBe('FSSS');
        isBroken = false;
      },
      act: async (world, ports) => {
        await retryGroup('batch', groupIdOf('batch', 'r1'), ports);
        await runAll(world, ports);
      },
      again: (world) =>
        retryGroup('batch', groupIdOf('batch', 'r1'), world.ports).catch((error: unknown) => {
          // All that failed was on its way already.
          if (!(error instanceof ConflictError)) throw error;
        }),
      check: ended('batch', 'DDDD', 'DONE', [1, 1]),
    });
  });

  test('adding to a batch: all of it belongs to the batch, or nothing of it runs', async () => {
    const histories = await dieEverywhere({
      code,
      rest: 10 * MINUTE,
      arrange: arrange('batch', aBatch([[job('b', 300)]])),
      act: (_, ports) => addToBatch(groupIdOf('batch', 'r1'), 'more', [[job('a')], steps('a')], ports),
      check: async (world, { wasAcknowledged }) => {
        const added = (await group(world, 'batch').members()).length - 1;
        if (wasAcknowledged) expect(added).toBe(2);
        await ended('batch', 'D'.repeat(added + 1), 'DONE', [1, 0])(world);
        expect(world.callsOf('a')).toHaveLength(added);
      },
    });
    expect(histories).toBeGreaterThan(14);
  });
});
