import { ConflictError } from '../../src/domain/errors';
import type { JobRequest } from '../../src/domain/job-request';
import { scheduledRunIdOf } from '../../src/domain/activation';
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { retryFailed } from '../../src/operations/failed-runs';
import { runActivations } from '../../src/operations/run-activation';
import { triggerJob } from '../../src/operations/trigger-job';
import type { Ports } from '../../src/ports';
import { anActivation, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { CrashError, doomedProcess } from '../support/crashing-ports';
import { checkAtRest } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
const open = async (code: Record<string, Code>) => {
  world = await World.open({ code });
};
afterEach(() => world.close());

const create = (jobId: string, changes: Partial<JobRequest> = {}, ports: Ports = world.ports) =>
  createJob(`create-${jobId}`, aRequest({ jobId, ...changes }), ports);
const lasting =
  (ms: number): Code =>
  async (call, clock) =>
    clock.waitUntil(call.at + ms);
const failing: Code = () => {
  throw new Error('no');
};
const retry = (maxAttempts: number, seconds = 60) => ({
  maxAttempts,
  backoff: { kind: 'fixed' as const, seconds },
  jitter: 'none' as const,
});
const fates = async (jobId: string) => (await world.runsOf(jobId)).map(({ state, reason }) => reason ?? state);

describe('of the jobs with one unique key', () => {
  const unique = { key: 'inv-9', forSeconds: 600, until: 'done' as const };

  test('a second one is refused while the first waits for its retry, and accepted once that has FAILED', async () => {
    await open({ 'job-report': failing });
    world.start();
    await create('a', { unique, retry: retry(2) });
    await world.clock.advance(30 * SECOND);
    const refused = create('b', { unique });
    await expect(refused).rejects.toThrow(ConflictError);
    await expect(refused).rejects.toMatchObject({
      field: 'unique.key',
      message: expect.stringMatching(/job a holds/) as string,
    });
    expect(await world.ports.jobs.read('b')).toBeUndefined();
    await world.clock.advance(40 * SECOND);
    expect(await fates('a')).toEqual(['out-of-attempts']);
    await create('c', { unique });
    await world.clock.advance(5 * MINUTE);
    await checkAtRest(world);
  });

  test('one whose run dies without a word holds the key no longer than it said, though nothing removes its lock', async () => {
    await open({});
    await create('a', { unique });
    const lost = await world.ports.activations.receive(10);
    await world.ports.activations.remove(lost.map(({ receipt }) => receipt));
    await world.clock.advance(600 * SECOND - 1);
    await expect(create('b', { unique })).rejects.toThrow(ConflictError);
    await world.clock.advance(1);
    await create('b', { unique });
  });

  test('one whose creation fails leaves the key free at once', async () => {
    await open({});
    const { jobs, activations } = world.ports;
    const broken = {
      ...world.ports,
      activations: { ...activations, send: () => Promise.reject(new Error('no queue')) },
    };
    await expect(create('a', { unique }, broken as Ports)).rejects.toThrow('no queue');
    await create('b', { unique });
    expect(await jobs.read('a')).toBeUndefined();
  });

  test('one whose id is taken leaves the key free at once', async () => {
    await open({});
    await create('a');
    await expect(createJob('other', aRequest({ jobId: 'a', unique }), world.ports)).rejects.toThrow(/exists already/);
    await create('b', { unique });
  });

  test('one that was made, though its creator got no answer, keeps the key', async () => {
    await open({});
    const { jobs } = world.ports;
    const put: typeof jobs.put = async (...args) => {
      await jobs.put(...args);
      throw new Error('no answer');
    };
    const broken = {
      ...world.ports,
      jobs: new Proxy(jobs, { get: (target, key) => (key === 'put' ? put : bound(target, key)) }),
    };
    await expect(create('a', { unique }, broken)).rejects.toThrow('no answer');
    await expect(create('b', { unique })).rejects.toThrow(/job a holds/);
  });

  test('one whose creator dies anywhere can be asked for again, and others wait for its lock to end', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let crashAt = 1, hasCrashed = true; hasCrashed; crashAt++) {
        await open({ 'job-report': () => 'done' });
        const doomed = doomedProcess(world.ports, crashAt, when);
        await create('a', { unique }, doomed.ports).catch((error: unknown) => {
          if (!(error instanceof CrashError)) throw error;
        });
        hasCrashed = doomed.hasCrashed();
        await create('a', { unique });
        await expect(create('b', { unique })).rejects.toThrow(ConflictError);
        world.start();
        await world.clock.advance(2 * MINUTE);
        expect(world.calls).toHaveLength(1);
        await create('c', { unique });
        await world.close();
      }
    }
    await open({});
  });

  test('one that outlasts its lock does not free that of the next', async () => {
    await open({ 'job-report': lasting(20 * SECOND), other: lasting(HOUR) });
    world.start();
    await create('a', { unique: { ...unique, forSeconds: 10 } });
    await world.clock.advance(11 * SECOND);
    await create('b', { unique, functionArn: aRequest({ code: 'other' }).functionArn });
    await world.clock.advance(MINUTE);
    expect(await fates('a')).toEqual(['DONE']);
    await expect(create('c', { unique })).rejects.toThrow(/job b holds/);
    await world.clock.advance(14 * MINUTE);
  });

  test('one that is unique until its start makes room for the next while it is at work', async () => {
    await open({ 'job-report': lasting(10 * SECOND) });
    world.start();
    const untilStart = { ...unique, until: 'start' as const };
    await create('a', { unique: untilStart, schedule: { kind: 'delay', delaySeconds: 5 } });
    await world.clock.advance(4 * SECOND);
    await expect(create('b', { unique: untilStart })).rejects.toThrow(ConflictError);
    await world.clock.advance(2 * SECOND);
    await create('b', { unique: untilStart, schedule: { kind: 'delay', delaySeconds: 60 } });
    // The end of the first is not the start of the second.
    await world.clock.advance(20 * SECOND);
    await expect(create('c', { unique: untilStart })).rejects.toThrow(/job b holds/);
    await world.clock.advance(2 * MINUTE);
    await checkAtRest(world);
  });

  test('one that is deleted before it began gives the key back', async () => {
    await open({});
    await create('a', { unique, schedule: { kind: 'delay', delaySeconds: 500 } });
    await deleteJob('d', 'a', world.ports);
    await create('b', { unique });
  });

  test('the runs of schedules, and those that a person triggers, are SKIPPED while another has the key', async () => {
    await open({ 'job-report': lasting(90 * SECOND) });
    world.start();
    await create('a', { unique, schedule: rate('rate(1 minute)') });
    await world.clock.advance(65 * SECOND);
    const { runId } = await triggerJob('now', 'a', world.ports);
    await world.clock.advance(215 * SECOND);
    const runs = await world.runsOf('a');
    expect(runs.find((run) => run.runId === runId)).toMatchObject({ state: 'SKIPPED', reason: 'unique', attempt: 0 });
    const scheduled = runs.filter(({ origin }) => origin === 'scheduled').map(({ state, reason }) => reason ?? state);
    expect(scheduled).toEqual(['DONE', 'unique', 'DONE', 'unique']);
  });

  test('a message that comes late, and twice, for a run that is over takes the key from nobody', async () => {
    await open({ 'job-report': () => 'done' });
    await create('a', { unique, schedule: rate('rate(30 seconds)') });
    await world.clock.advance(30 * SECOND);
    const messages = await world.ports.activations.receive(10);
    await world.untilOver(runActivations(messages, world.ports));
    const { control } = world.ports;
    const written: string[] = [];
    const put: typeof control.put = (entry, seen) => {
      if (entry.expiresAt > world.clock.now()) written.push(entry.name);
      return control.put(entry, seen);
    };
    const watched = { ...world.ports, control: { read: (name: string) => control.read(name), put } };
    expect(await world.untilOver(runActivations(messages, watched))).toEqual([]);
    expect(written).toEqual([]);
  });

  test('one that a person sends again after it failed takes the key again, or is refused', async () => {
    await open({ 'job-report': failing });
    world.start();
    await create('a', { unique, retry: retry(1) });
    await world.clock.advance(SECOND);
    const runId = scheduledRunIdOf('a', NOON);
    await create('b', { unique, schedule: { kind: 'delay', delaySeconds: 30 } });
    await expect(retryFailed('a', runId, world.ports)).rejects.toThrow(/job b holds/);
    expect(await world.ports.runs.read('a', runId)).toMatchObject({ state: 'FAILED', sequence: 3 });
    await world.clock.advance(2 * MINUTE);
    world.code['job-report'] = lasting(10 * SECOND);
    await retryFailed('a', runId, world.ports);
    await expect(create('c', { unique })).rejects.toThrow(/job a holds/);
    await world.clock.advance(15 * SECOND);
    await create('c', { unique });
    expect(await fates('a')).toEqual(['DONE']);
  });
});

describe('under a concurrency key', () => {
  const concurrency = { key: 'printer', limit: 5 };
  const counted = () => {
    let atWork = 0;
    let most = 0;
    const code: Code = async (call, clock) => {
      most = Math.max(most, ++atWork);
      await clock.waitUntil(call.at + 2 * SECOND);
      atWork--;
    };
    return { code, most: () => most };
  };

  test('fifty jobs due at once all run, five at a time, each with its one attempt', async () => {
    const { code, most } = counted();
    await open({ 'job-report': code });
    world.start();
    for (let k = 0; k < 50; k++) {
      await create(`job-${k}`, { concurrency, retry: retry(1), schedule: { kind: 'delay', delaySeconds: 30 } });
    }
    await world.clock.advance(15 * MINUTE);
    for (let k = 0; k < 50; k++) expect(await world.runsOf(`job-${k}`)).toMatchObject([{ state: 'DONE', attempt: 1 }]);
    expect(world.calls).toHaveLength(50);
    expect(most()).toBe(5);
    await checkAtRest(world);
  });

  test('a run that waits for a place has no record, uses no attempt, and begins within half a minute of its being free', async () => {
    await open({ 'job-report': lasting(5 * MINUTE), other: () => 'done' });
    world.start();
    const one = { ...concurrency, limit: 1 };
    await create('a', { concurrency: one });
    await create('b', { concurrency: one, retry: retry(1), functionArn: aRequest({ code: 'other' }).functionArn });
    await world.clock.advance(299 * SECOND);
    expect(await world.runsOf('b')).toEqual([]);
    await world.clock.advance(31 * SECOND);
    expect(await world.runsOf('b')).toMatchObject([{ state: 'DONE', attempt: 1 }]);
  });

  test('a runner that dies anywhere with an attempt keeps its place from others for two minutes at most', async () => {
    const limits = { concurrency: { ...concurrency, limit: 1 }, rateLimit: { key: 'mail', limit: 10, perSeconds: 1 } };
    let histories = 0;
    for (const when of ['before', 'after'] as const) {
      for (let crashAt = 1, hasCrashed = true; hasCrashed; crashAt++, histories++) {
        await open({ 'job-report': () => 'done' });
        await create('a', limits);
        const doomed = doomedProcess(world.ports, crashAt, when);
        const messages = await world.ports.activations.receive(10);
        await world.untilOver(runActivations(messages, doomed.ports));
        hasCrashed = doomed.hasCrashed();
        await create('b', limits);
        world.start();
        await world.clock.advance(2 * MINUTE);
        expect([await fates('b'), await fates('a'), crashAt]).toEqual([['DONE'], ['DONE'], crashAt]);
        await checkAtRest(world);
        await world.close();
      }
    }
    expect(histories).toBeGreaterThan(20);
    await open({});
  });

  test('a run that must not start later than some instant FAILS when it would wait beyond it', async () => {
    await open({ 'job-report': lasting(10 * MINUTE), other: () => 'done' });
    world.start();
    const one = { ...concurrency, limit: 1 };
    await create('a', { concurrency: one });
    const functionArn = aRequest({ code: 'other' }).functionArn;
    await create('b', { concurrency: one, functionArn, retry: { ...retry(3), retryUntil: NOON + 2 * MINUTE } });
    await world.clock.advance(3 * MINUTE);
    expect(await world.runsOf('b')).toMatchObject([{ state: 'FAILED', reason: 'out-of-time', attempt: 0 }]);
    await world.clock.advance(10 * MINUTE);
    expect(world.callsOf('other')).toEqual([]);
  });
});

describe('under a rate key', () => {
  const rateLimit = { key: 'mail', limit: 10, perSeconds: 10 };
  const mostWithin = (ms: number) =>
    Math.max(
      ...world.calls.map(({ at }) => world.calls.filter((other) => other.at > at - ms && other.at <= at).length),
    );

  test('thirty jobs due at once all start, ten in any ten seconds, in little more than the time that this takes', async () => {
    await open({ 'job-report': () => 'done' });
    world.start();
    for (let k = 0; k < 30; k++) await create(`job-${k}`, { rateLimit, retry: retry(1) });
    await world.clock.advance(2 * MINUTE);
    expect(world.calls).toHaveLength(30);
    expect(mostWithin(10 * SECOND)).toBe(10);
    expect(world.calls.at(-1)!.at).toBeLessThanOrEqual(NOON + 40 * SECOND);
    await checkAtRest(world);
  });

  test('an attempt that finds no place in its concurrency does not count as a start', async () => {
    await open({ 'job-report': lasting(30 * SECOND) });
    world.start();
    const concurrency = { key: 'printer', limit: 1 };
    const slow = { key: 'mail', limit: 2, perSeconds: 3_600 };
    for (const jobId of ['a', 'b']) await create(jobId, { rateLimit: slow, concurrency });
    await world.clock.advance(3 * MINUTE);
    expect(await fates('b')).toEqual(['DONE']);
  });

  test('messages that come again and again for a run that has begun use up no starts', async () => {
    await open({ 'job-report': failing });
    world.start();
    await create('a', { rateLimit: { ...rateLimit, limit: 1 }, retry: retry(3, 5) });
    await world.clock.advance(SECOND);
    const { generation, nominalAt } = (await world.runsOf('a'))[0]!;
    const body = JSON.stringify(anActivation({ jobId: 'a', generation, nominalAt, dueAt: nominalAt }));
    await world.ports.activations.send([{ body }, { body }, { body }]);
    await world.clock.advance(2 * MINUTE);
    expect(await fates('a')).toEqual(['out-of-attempts']);
    expect(mostWithin(10 * SECOND)).toBe(1);
  });

  test('retries are starts too', async () => {
    await open({ 'job-report': failing });
    world.start();
    await create('a', { rateLimit: { ...rateLimit, limit: 1 }, retry: retry(3, 0) });
    await world.clock.advance(2 * MINUTE);
    expect(world.calls).toHaveLength(3);
    expect(mostWithin(10 * SECOND)).toBe(1);
  });
});

function bound(target: object, key: string | symbol): unknown {
  const member: unknown = Reflect.get(target, key);
  return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
}
