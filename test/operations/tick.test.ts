import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { sweep } from '../../src/operations/sweep';
import { tick } from '../../src/operations/tick';
import { scheduledRunIdOf } from '../../src/domain/activation';
import type { Group, GroupPart } from '../../src/domain/group';
import { anActivation, aStartedRun, DAY, HOUR, MINUTE, NOON, SECOND, RETENTION_MS } from '../support/builders';
import { CrashError, doomedProcess } from '../support/crashing-ports';
import { aRequest, rate, World } from '../support/world';

let world: World;
beforeEach(async () => {
  world = await World.open({ code: { 'job-report': () => 'done' } });
});
afterEach(() => world.close());

const createLater = (jobId: string, delaySeconds: number) =>
  createJob(jobId, aRequest({ jobId, schedule: { kind: 'delay', delaySeconds } }), world.ports);
const firstTick = () => tick({ loopStartedAt: world.clock.now(), isFirst: true }, world.ports);
/** What lies in the activation queue, and when it comes. */
const sent = async () => {
  const found: [jobId: string, dueAt: number][] = [];
  for (let messages = await take(); messages.length > 0; messages = await take()) {
    for (const { body } of messages) {
      const { jobId, dueAt } = JSON.parse(body) as { jobId: string; dueAt: number };
      found.push([jobId, (dueAt - NOON) / SECOND]);
    }
  }
  return found.sort();
};
const take = () => world.ports.activations.receive(10);

describe('a tick', () => {
  test('that finds nothing due ends its loop and writes nothing', async () => {
    await createLater('a', 3_600);
    expect(await firstTick()).toMatchObject({ done: true, reason: 'nothing-due' });
    expect(await world.ports.control.read('newest-loop')).toBeUndefined();
    await world.clock.advance(14 * MINUTE);
    expect(await sent()).toEqual([]);
  });

  test('that ends its loop first sends all it found within the horizon: its successor may be late', async () => {
    await createLater('a', 1_000);
    await world.clock.advance(1_000 * SECOND - 125 * SECOND);
    expect(await firstTick()).toMatchObject({ done: true });
    await world.clock.advance(130 * SECOND);
    expect(await sent()).toEqual([['a', 1_000]]);
  });

  test('of a loop that goes on sends what falls due before the next tick and its margin, and no more', async () => {
    for (const [jobId, delaySeconds] of [
      ['near', 1_015],
      ['far', 1_016],
    ] as const)
      await createLater(jobId, delaySeconds);
    await world.clock.advance(1_000 * SECOND);
    const result = await firstTick();
    expect(result).toMatchObject({ done: false, wakeAt: NOON + 1_011 * SECOND });
    expect(await world.ports.control.read('newest-loop')).toMatchObject({ value: String(NOON + 1_000 * SECOND) });
    await world.clock.advance(20 * SECOND);
    expect(await sent()).toEqual([['near', 1_015]]);
  });

  test('after the first of its loop ends when a newer loop has begun', async () => {
    await createLater('a', 1_050);
    await world.clock.advance(1_000 * SECOND);
    const older = { loopStartedAt: world.clock.now() - MINUTE, isFirst: false };
    await firstTick();
    expect(await tick(older, world.ports)).toEqual({ done: true, reason: 'newer-loop' });
  });

  test('takes the place of a loop that began before the clock was set back', async () => {
    const value = String(world.clock.now() + 2 * HOUR);
    await world.ports.control.put({ name: 'newest-loop', value, expiresAt: world.clock.now() + 3 * HOUR });
    await createLater('a', 1_050);
    await world.clock.advance(1_000 * SECOND);
    expect(await firstTick()).toMatchObject({ done: false });
    expect(await world.ports.control.read('newest-loop')).toMatchObject({ value: String(NOON + 1_000 * SECOND) });
    const input = { loopStartedAt: world.clock.now(), isFirst: false };
    expect(await tick(input, world.ports)).toMatchObject({ done: false });
  });

  test('costs the same whatever else is stored: it reads the due index only', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, k) => createLater(`later-${k}`, 86_400 + k)));
    const reads: string[] = [];
    const jobs = new Proxy(world.ports.jobs, {
      get: (target, key) => {
        reads.push(String(key));
        const member: unknown = Reflect.get(target, key);
        return typeof member === 'function' ? (member as (...args: unknown[]) => unknown).bind(target) : member;
      },
    });
    await tick({ loopStartedAt: world.clock.now(), isFirst: true }, { ...world.ports, jobs });
    expect(reads).toEqual(['due', 'due', 'due', 'due']);
  });
});

describe('the first tick of a minute', () => {
  const nominalAt = NOON + SECOND;
  const runId = scheduledRunIdOf('a', nominalAt);
  const bury = (returns?: number) =>
    world.ports.deadActivations.send([
      {
        body: JSON.stringify(
          anActivation({
            jobId: 'a',
            generation: 'guid-000001',
            nominalAt,
            dueAt: nominalAt,
            ...(returns ? { returns } : {}),
          }),
        ),
      },
    ]);

  test('sends dead activations again, and counts how often', async () => {
    await bury();
    await firstTick();
    const [message] = await (await world.clock.advance(2 * SECOND), take());
    expect(JSON.parse(message!.body)).toMatchObject({ jobId: 'a', returns: 1 });
    expect(await world.ports.deadActivations.receive(1)).toEqual([]);
  });

  test('gives a run up that came back too often, and says so', async () => {
    await bury(3);
    await firstTick();
    expect(await world.ports.runs.read('a', runId)).toMatchObject({ state: 'FAILED', reason: 'undeliverable' });
    expect(await sent()).toEqual([]);
  });

  const limits = {
    unique: { key: 'k', forSeconds: 86_400, until: 'done' as const },
    concurrency: { key: 'k', limit: 1 },
  };

  test('has a runner do what follows for others from a run that was given up', async () => {
    await createJob(
      'r',
      aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 1 }, ...limits }),
      world.ports,
    );
    await bury(3);
    await firstTick();
    await expect(createJob('r2', aRequest({ jobId: 'b', ...limits }), world.ports)).rejects.toThrow(/job a holds/);
    world.start();
    await world.clock.advance(2 * SECOND);
    await createJob('r3', aRequest({ jobId: 'b', ...limits }), world.ports);
    await world.clock.advance(SECOND);
    expect(await world.runsOf('b')).toMatchObject([{ state: 'DONE' }]);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', reason: 'undeliverable' }]);
  });

  test('that dies anywhere while it gives a run up leaves what follows to the next one', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let crashAt = 1, hasCrashed = true; hasCrashed; crashAt++) {
        await world.close();
        world = await World.open({ code: { 'job-report': () => 'done' } });
        const schedule = { kind: 'delay' as const, delaySeconds: 1 };
        await createJob('r', aRequest({ jobId: 'a', schedule, ...limits }), world.ports);
        const lost = await (await world.clock.advance(2 * SECOND), take());
        await world.ports.activations.remove(lost.map(({ receipt }) => receipt));
        await bury(3);
        const doomed = doomedProcess(world.ports, crashAt, when);
        await tick({ loopStartedAt: world.clock.now(), isFirst: true }, doomed.ports).catch((error: unknown) => {
          if (!(error instanceof CrashError)) throw error;
        });
        hasCrashed = doomed.hasCrashed();
        world.start();
        await world.clock.advance(3 * MINUTE);
        await createJob('r3', aRequest({ jobId: 'b', ...limits }), world.ports);
        expect([(await world.runsOf('a'))[0]?.reason, crashAt]).toEqual(['undeliverable', crashAt]);
      }
    }
  });

  test('stops asking a runner that never gets to it', async () => {
    await createJob(
      'r',
      aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 1 }, ...limits }),
      world.ports,
    );
    const lost = await (await world.clock.advance(2 * SECOND), take());
    await world.ports.activations.remove(lost.map(({ receipt }) => receipt));
    await bury(3);
    for (let rounds = 1; ; rounds++) {
      await firstTick();
      const again = await take();
      await world.ports.activations.remove(again.map(({ receipt }) => receipt));
      if (again.length === 0) break;
      expect(rounds).toBeLessThan(20);
      await world.ports.deadActivations.send(again.map(({ body }) => ({ body })));
    }
    expect(await world.ports.runs.read('a', runId)).toMatchObject({ state: 'FAILED' });
  });

  test('sends the work on a part of a chain or batch again', async () => {
    const body = JSON.stringify({ version: 1, kind: 'part', groupId: 'g', partId: 'p' });
    await world.ports.deadActivations.send([{ body }]);
    await firstTick();
    expect(await take()).toMatchObject([{ body }]);
    await world.clock.advance(2 * MINUTE);
    expect(await world.ports.deadActivations.receive(1)).toEqual([]);
  });

  test('leaves what nobody can read where a person will find it', async () => {
    await world.ports.deadActivations.send([{ body: 'not an activation' }]);
    await firstTick();
    await world.clock.advance(2 * MINUTE);
    expect(await world.ports.deadActivations.receive(1)).toMatchObject([{ body: 'not an activation' }]);
  });
});

describe('an attempt whose completion is awaited', () => {
  const awaitedRun = () => ({
    ...aStartedRun({ isAwaited: true, leaseUntil: NOON + MINUTE, indexDueAt: NOON + MINUTE, attempt: 1 }),
    jobId: 'a',
    runId: scheduledRunIdOf('a', NOON),
  });

  test('is called for once, after its lease has ended, and leaves the index', async () => {
    await world.ports.runs.put(awaitedRun());
    await world.clock.advance(50 * SECOND);
    await firstTick();
    await firstTick();
    expect(await world.ports.runs.read('a', awaitedRun().runId)).toMatchObject({ state: 'STARTED', isAwaited: true });
    await world.clock.advance(10 * SECOND);
    expect(await sent()).toEqual([]);
    await world.clock.advance(10 * SECOND);
    expect(await sent()).toHaveLength(1);
  });

  test('is not called for while its lease is far from its end', async () => {
    await world.ports.runs.put({ ...awaitedRun(), leaseUntil: NOON + HOUR, indexDueAt: NOON + HOUR });
    await firstTick();
    await world.clock.advance(5 * MINUTE);
    expect(await sent()).toEqual([]);
  });
});

/** Nobody ticked: the occurrence of second 200 fell due, and is on no queue yet. */
describe('an occurrence that fell due before its job is changed', () => {
  beforeEach(async () => {
    await createJob('r', aRequest({ jobId: 'a', schedule: rate('rate(200 seconds)') }), world.ports);
    await world.clock.advance(201 * SECOND);
  });
  const fate = async () => {
    world.start();
    await world.clock.advance(10 * SECOND);
    return (await world.runsOf('a')).map(({ nominalAt, state, reason }) => [
      (nominalAt - NOON) / SECOND,
      state,
      reason,
    ]);
  };

  test('by a pause says that it was paused', async () => {
    await pauseJob('a', {}, world.ports);
    expect(await fate()).toEqual([[200, 'SKIPPED', 'paused']]);
    await resumeJob('a', world.ports);
  });

  test('by a deletion says that it was deleted', async () => {
    await deleteJob('d', 'a', world.ports);
    expect(await fate()).toEqual([[200, 'SKIPPED', 'deleted']]);
  });

  test('by an edit runs as it was', async () => {
    await editJob('a', { schedule: { expression: 'rate(1 hour)' } }, undefined, world.ports);
    expect(await fate()).toEqual([[200, 'DONE', undefined]]);
  });
});

describe('the daily sweep', () => {
  test('takes no one-off past its retention for lost, whose record went before it', async () => {
    await createJob('r', aRequest({ jobId: 'a' }), world.ports);
    const engine = world.start();
    await world.clock.advance(SECOND);
    await world.stop(engine);
    await world.clock.advance(RETENTION_MS);
    const runs = {
      ...world.ports.runs,
      scan: () => Promise.resolve({ items: [] }),
      read: () => Promise.resolve(undefined),
    };
    expect(await world.ports.jobs.read('a')).toBeDefined();
    expect(await sweep({ ...world.ports, runs }, { paceMs: 0 })).toEqual({ sentAgain: 0 });
  });

  test('finds a one-off whose message was lost, and sends it again', async () => {
    await createLater('a', 10);
    await world.clock.advance(11 * SECOND);
    const lost = await take();
    await world.ports.activations.remove(lost.map(({ receipt }) => receipt));
    await world.clock.advance(2 * HOUR);
    expect(await sweep(world.ports, { paceMs: 0 })).toEqual({ sentAgain: 1 });
    world.start();
    await world.clock.advance(SECOND);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE' }]);
    expect(await sweep(world.ports, { paceMs: 0 })).toEqual({ sentAgain: 0 });
  });

  test('finds a run whose runner and message are gone', async () => {
    const engine = world.start();
    world.code['job-report'] = ({ event }) => {
      if (event['attempt'] === 1) throw new Error('again');
    };
    const retry = { maxAttempts: 2, backoff: { kind: 'fixed' as const, seconds: 600 }, jitter: 'none' as const };
    await createJob('r', aRequest({ jobId: 'a', retry }), world.ports);
    await world.clock.advance(MINUTE);
    await world.stop(engine);
    await world.clock.advance(10 * MINUTE);
    const lost = await take();
    await world.ports.activations.remove(lost.map(({ receipt }) => receipt));
    await world.clock.advance(2 * HOUR);
    expect(await sweep(world.ports, { paceMs: 0 })).toEqual({ sentAgain: 1 });
    world.start();
    await world.clock.advance(SECOND);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 2 }]);
  });

  describe('of chains and batches', () => {
    const head = (groupId: string, changes: Partial<Group> = {}): Group => ({
      groupId,
      kind: 'batch',
      revision: 1,
      sequence: 1,
      state: 'RUNNING',
      callbacks: {},
      parts: { p: -1, q: -1 },
      createdAt: NOON,
      requestDigest: '',
      expiresAt: NOON + DAY,
      ...changes,
    });
    const part = (groupId: string, partId: string, states: string): GroupPart => ({
      groupId,
      partId,
      states,
      revision: 1,
      expiresAt: NOON + DAY,
    });
    const put = async (group: Group, states: Record<string, string>) => {
      await world.ports.groups.put(group);
      for (const [partId, of] of Object.entries(states))
        await world.ports.groups.putPart(part(group.groupId, partId, of));
    };
    const sweptParts = async () => {
      const { sentAgain } = await sweep(world.ports, { paceMs: 0 });
      const bodies = (await take()).map(({ body }) => JSON.parse(body) as Record<string, unknown>);
      expect(bodies.length).toBe(sentAgain);
      return bodies.map(({ version, kind, groupId, partId }) => [version, kind, groupId, partId].join(' ')).sort();
    };

    test('asks for each part in which something is pending for more than an hour', async () => {
      await put(head('g', { parts: { p: -1, q: 1 } }), { p: 'DDPD', q: 'DF' });
      expect(await sweptParts()).toEqual([]);
      await world.clock.advance(HOUR);
      expect(await sweptParts()).toEqual(['1 part g p']);
    });

    test('asks for each part of whose end the head has not heard', async () => {
      await put(head('g', { parts: { p: 1, q: -1, r: -1 } }), { p: 'D', q: 'D', r: 'D' });
      await world.clock.advance(HOUR);
      expect(await sweptParts()).toEqual(['1 part g q', '1 part g r']);
    });

    test('asks for one part where the head has heard of all and does not say that it is over', async () => {
      await put(head('g', { parts: { p: 1, q: 1 } }), { p: 'D', q: 'D' });
      await world.clock.advance(HOUR);
      expect(await sweptParts()).toEqual(['1 part g p']);
    });

    test('asks for what was cancelled and has not ended yet, and for nothing that is over', async () => {
      await put(head('done', { state: 'DONE', parts: { p: 3 } }), { p: 'D' });
      await put(head('cancelled', { state: 'CANCELLED', parts: { p: 3 } }), { p: 'C' });
      await put(head('half', { state: 'CANCELLED', parts: { p: -1, q: 1 } }), { p: 'PP', q: 'CC' });
      await world.clock.advance(HOUR);
      expect(await sweptParts()).toEqual(['1 part half p']);
    });
  });
});
