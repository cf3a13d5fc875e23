import { RUN_STATES } from '../../src/domain/run';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { deleteNotification } from '../../src/operations/delete-notification';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { triggerJob } from '../../src/operations/trigger-job';
import { tick } from '../../src/operations/tick';
import { NotFoundError } from '../../src/domain/errors';
import { functionArn, MINUTE, NOON, SECOND } from '../support/builders';
import { dieEverywhere, runVisible } from '../support/die-everywhere';
import { eventIds } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

const ok: Code = () => ({ ok: true });
const subscribeToAll = async (world: World, jobId: string) => {
  for (const state of RUN_STATES) {
    await createNotification(`subscribe-${state}`, { jobId, state, functionArn: functionArn('notify') }, world.ports);
  }
};
describe('a process that dies between any two calls of', () => {
  test('creating an immediate job: what was acknowledged runs, once', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': ok },
      act: (_, ports) => createJob('r1', aRequest({ jobId: 'a' }), ports),
      check: async (world, { wasAcknowledged }) => {
        const row = await world.ports.jobs.read('a');
        const isThere = row !== undefined && row.state !== 'DELETED';
        if (wasAcknowledged) expect(isThere).toBe(true);
        expect(world.calls).toHaveLength(isThere ? 1 : 0);
      },
    });
    expect(histories).toBeGreaterThan(6);
  });

  test('creating an immediate job, with a caller who asks again: it runs once', async () => {
    await dieEverywhere({
      code: { 'job-report': ok },
      act: (_, ports) => createJob('r1', aRequest({ jobId: 'a' }), ports),
      again: (world) => createJob('r1', aRequest({ jobId: 'a' }), world.ports),
      check: async (world) => {
        expect(world.calls).toHaveLength(1);
        expect((await world.runsOf('a')).map(({ state }) => state)).toEqual(['DONE']);
      },
    });
  });

  test('creating a job whose caller asks again only after its message was fenced off: it still runs', async () => {
    await dieEverywhere({
      code: { 'job-report': ok },
      act: (_, ports) => createJob('r1', aRequest({ jobId: 'a' }), ports),
      again: async (world) => {
        const engine = world.start();
        await world.clock.advance(3 * MINUTE);
        await world.stop(engine);
        await createJob('r1', aRequest({ jobId: 'a' }), world.ports);
      },
      check: async (world) => {
        expect(world.calls).toHaveLength(1);
      },
    });
  });

  test('creating a job due in twenty minutes: it runs at its instant', async () => {
    await dieEverywhere({
      code: { 'job-report': ok },
      rest: 25 * MINUTE,
      act: (_, ports) =>
        createJob('r1', aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 1_200 } }), ports),
      again: (world) =>
        createJob('r1', aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 1_200 } }), world.ports),
      check: async (world) => {
        expect(world.calls.map(({ at }) => at)).toEqual([NOON + 20 * MINUTE]);
      },
    });
  });

  test('creating a recurring job: every occurrence runs once', async () => {
    const request = aRequest({ jobId: 'a', schedule: rate('rate(50 seconds)') });
    await dieEverywhere({
      code: { 'job-report': ok },
      rest: 5 * MINUTE,
      act: (_, ports) => createJob('r1', request, ports),
      again: (world) => createJob('r1', request, world.ports),
      check: async (world) => {
        expect(world.calls.map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6].map((k) => NOON + k * 50 * SECOND));
      },
    });
  });

  test('a tick: everything due runs once, at its instant, and is announced', async () => {
    const histories = await dieEverywhere({
      code: {
        'job-report': ok,
        'job-long-wait': ({ event }) => {
          if (event['attempt'] === 1) throw new Error('come back in twenty minutes');
        },
        notify: ok,
      },
      rest: 6 * MINUTE,
      arrange: async (world) => {
        const { ports } = world;
        await createJob('r1', aRequest({ jobId: 'each', schedule: rate('rate(40 seconds)') }), ports);
        await subscribeToAll(world, 'each');
        const retry = { maxAttempts: 2, backoff: { kind: 'fixed' as const, seconds: 1_300 }, jitter: 'none' as const };
        await createJob('r2', aRequest({ jobId: 'waits', code: 'job-long-wait', retry }), ports);
        await createJob('r3', aRequest({ jobId: 'later', schedule: { kind: 'delay', delaySeconds: 1_300 } }), ports);
        const engine = world.start();
        await world.clock.advance(21 * MINUTE);
        await world.stop(engine);
        world.calls.length = 0;
      },
      act: (world, ports) => tick({ loopStartedAt: world.clock.now(), isFirst: true }, ports),
      check: async (world) => {
        const each = await world.runsOf('each');
        const period = 40 * SECOND;
        expect(each.map(({ nominalAt }) => nominalAt)).toEqual(each.map((_, k) => NOON + (k + 1) * period));
        expect(each.every(({ state, latenessMs }) => state === 'DONE' && latenessMs === 0)).toBe(true);
        expect(each.at(-1)!.nominalAt).toBeGreaterThan(world.clock.now() - period);
        expect((await world.runsOf('waits')).map(({ state, attempt }) => [state, attempt])).toEqual([['DONE', 2]]);
        expect((await world.runsOf('later')).map(({ state }) => state)).toEqual(['DONE']);
        const scheduled = new Set(eventIds(world, 'notify'));
        const recent = each.filter(({ nominalAt }) => nominalAt > NOON + 24 * MINUTE);
        for (const { runId } of recent) expect(scheduled).toContain(`${runId}:1`);
      },
    });
    expect(histories).toBeGreaterThan(20);
  });

  test('an attempt that succeeds: its record ends DONE and every transition is announced', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': ok, notify: ok },
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: { kind: 'delay', delaySeconds: 1 } }), world.ports);
        await subscribeToAll(world, 'a');
        await world.clock.advance(SECOND);
      },
      act: runVisible,
      check: async (world) => {
        const [run, ...others] = await world.runsOf('a');
        expect(others).toEqual([]);
        expect(run).toMatchObject({ state: 'DONE' });
        const wanted = Array.from({ length: run!.sequence - 1 }, (_, index) => `${run!.runId}:${index + 2}`);
        expect(eventIds(world, 'notify')).toEqual(wanted);
        expect(world.callsOf('job-report').length).toBeLessThanOrEqual(2);
        expect(new Set(world.callsOf('job-report').map(({ event }) => event['runId']))).toEqual(new Set([run!.runId]));
      },
    });
    expect(histories).toBeGreaterThan(12);
  });

  test('an attempt that fails: the next one comes, and every transition is announced', async () => {
    await dieEverywhere({
      code: {
        'job-report': ({ event }) => {
          if (event['attempt'] === 1) throw new Error('not yet');
        },
        notify: ok,
      },
      arrange: async (world) => {
        const retry = { maxAttempts: 4, backoff: { kind: 'fixed' as const, seconds: 5 }, jitter: 'none' as const };
        const schedule = { kind: 'delay' as const, delaySeconds: 1 };
        await createJob('r1', aRequest({ jobId: 'a', schedule, retry }), world.ports);
        await subscribeToAll(world, 'a');
        await world.clock.advance(SECOND);
      },
      act: runVisible,
      check: async (world) => {
        const [run] = await world.runsOf('a');
        expect(run).toMatchObject({ state: 'DONE' });
        const wanted = Array.from({ length: run!.sequence - 1 }, (_, index) => `${run!.runId}:${index + 2}`);
        expect(eventIds(world, 'notify')).toEqual(wanted);
      },
    });
  });

  test('deleting a job: once it was answered nothing starts, and what did not run says why', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': ok, notify: ok },
      rest: 5 * MINUTE,
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
        await createNotification('n1', { jobId: 'a', state: 'DONE', functionArn: functionArn('notify') }, world.ports);
        const engine = world.start();
        await world.clock.advance(MINUTE);
        await world.stop(engine);
        world.calls.length = 0;
      },
      act: (_, ports) => deleteJob('d1', 'a', ports),
      again: (world) => deleteJob('d1', 'a', world.ports),
      check: async (world) => {
        expect(world.callsOf('job-report')).toEqual([]);
        const runs = await world.runsOf('a');
        const skipped = runs.filter(({ state }) => state !== 'DONE');
        expect(skipped.length).toBeGreaterThan(0);
        expect(skipped.every(({ state, reason }) => state === 'SKIPPED' && reason === 'deleted')).toBe(true);
        expect(await world.ports.notifications.of('a')).toEqual([]);
        const replies = await world.ports.replies['notify-deleted'].receive(10);
        expect(new Set(replies.map(({ body }) => (JSON.parse(body) as { notifyId: string }).notifyId)).size).toBe(1);
      },
    });
    expect(histories).toBeGreaterThan(6);
  });

  test('deleting and creating again under the same id: only the new job runs', async () => {
    const request = aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') });
    await dieEverywhere({
      code: { 'job-report': ok },
      rest: 3 * MINUTE,
      arrange: async (world) => {
        await createJob('r1', request, world.ports);
        await world.clock.advance(30 * SECOND);
        await deleteJob('d1', 'a', world.ports);
      },
      act: (_, ports) => createJob('r2', request, ports),
      again: (world) => createJob('r2', request, world.ports),
      check: async (world) => {
        const again = [50, 70, 90, 110, 130, 150, 170, 190, 210].map((seconds) => NOON + seconds * SECOND);
        expect(world.calls.map(({ at }) => at)).toEqual(again);
      },
    });
  });

  test('pausing: once it was answered nothing starts until it is resumed, and every occurrence has its fate', async () => {
    await dieEverywhere({
      code: { 'job-report': ok },
      rest: 5 * MINUTE,
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
        await world.clock.advance(30 * SECOND);
      },
      act: (_, ports) => pauseJob('a', {}, ports),
      again: (world) => pauseJob('a', {}, world.ports),
      check: async (world) => {
        // The run of second 20 was due before the pause; nobody was there to take it until after.
        expect(world.callsOf('job-report')).toEqual([]);
        await resumeJob('a', world.ports);
        const resumedAt = world.clock.now();
        await world.clock.advance(MINUTE);
        expect(world.calls.every(({ at }) => at > resumedAt)).toBe(true);
        expect(world.calls.length).toBe(3);
      },
    });
  });

  test('resuming: the schedule goes on, once for each occurrence', async () => {
    await dieEverywhere({
      code: { 'job-report': ok },
      rest: 2 * MINUTE,
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
        await pauseJob('a', {}, world.ports);
        await world.clock.advance(10 * MINUTE + 5 * SECOND);
      },
      act: (_, ports) => resumeJob('a', ports),
      again: (world) => resumeJob('a', world.ports),
      check: async (world) => {
        const ran = world.calls.map(({ at }) => at);
        expect(ran).toEqual([20, 40, 60, 80, 100, 120].map((seconds) => NOON + 10 * MINUTE + seconds * SECOND));
      },
    });
  });

  test('editing: every occurrence runs once, under one of the two definitions', async () => {
    const histories = await dieEverywhere({
      code: { 'job-report': ok, 'job-new': ok },
      rest: 3 * MINUTE,
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
        const engine = world.start();
        await world.clock.advance(30 * SECOND);
        await world.stop(engine);
        world.calls.length = 0;
      },
      act: (_, ports) => editJob('a', { functionArn: functionArn('job-new') }, undefined, ports),
      check: async (world, { wasAcknowledged }) => {
        const ran = world.calls.map(({ at }) => at);
        expect(ran).toEqual([40, 60, 80, 100, 120, 140, 160, 180, 200].map((seconds) => NOON + seconds * SECOND));
        if (wasAcknowledged) expect(world.callsOf('job-report')).toEqual([]);
      },
    });
    expect(histories).toBeGreaterThan(10);
  });

  test('triggering: a caller who asks again has one run', async () => {
    await dieEverywhere({
      code: { 'job-report': ok },
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(1 hour)') }), world.ports);
      },
      act: (_, ports) => triggerJob('t1', 'a', ports),
      again: (world) => triggerJob('t1', 'a', world.ports),
      check: async (world) => {
        expect(world.calls).toHaveLength(1);
      },
    });
  });

  for (const overlap of ['skip', 'queue-one', 'cancel-previous'] as const) {
    test(`a run under "${overlap}": the place is held by one, and by none for ever`, async () => {
      const histories = await dieEverywhere({
        code: { 'job-report': async (call, clock) => clock.waitUntil(call.at + 5 * SECOND) },
        rest: 6 * MINUTE,
        arrange: async (world) => {
          const schedule = rate('rate(60 seconds)');
          const retry = { maxAttempts: 5, backoff: { kind: 'fixed' as const, seconds: 1 }, jitter: 'none' as const };
          await createJob('r1', aRequest({ jobId: 'a', schedule, overlap, retry }), world.ports);
          await world.clock.advance(MINUTE);
        },
        act: runVisible,
        check: async (world) => {
          const runs = await world.runsOf('a');
          expect(runs.map(({ nominalAt }) => nominalAt)).toEqual(runs.map((_, k) => NOON + (k + 1) * MINUTE));
          expect(runs.at(-2)?.state).toBe('DONE');
          expect(runs.filter(({ state }) => state === 'DONE').length).toBeGreaterThanOrEqual(4);
          await world.clock.advance(30 * SECOND);
        },
      });
      expect(histories).toBeGreaterThan(10);
    });
  }

  test('subscribing: whoever was told so hears of what happens', async () => {
    await dieEverywhere({
      code: { 'job-report': ok, notify: ok },
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
      },
      act: (_, ports) =>
        createNotification('n1', { jobId: 'a', state: 'DONE', functionArn: functionArn('notify') }, ports),
      again: (world) =>
        createNotification('n1', { jobId: 'a', state: 'DONE', functionArn: functionArn('notify') }, world.ports),
      check: async (world) => {
        const runs = await world.runsOf('a');
        expect(eventIds(world, 'notify')).toEqual(runs.map(({ runId, sequence }) => `${runId}:${sequence}`));
      },
    });
  });

  test('unsubscribing: the other subscriber of the same state still hears of everything', async () => {
    await dieEverywhere({
      code: { 'job-report': ok, notify: ok, other: ok },
      arrange: async (world) => {
        await createJob('r1', aRequest({ jobId: 'a', schedule: rate('rate(20 seconds)') }), world.ports);
        await createNotification('n1', { jobId: 'a', state: 'DONE', functionArn: functionArn('notify') }, world.ports);
        await createNotification('n2', { jobId: 'a', state: 'DONE', functionArn: functionArn('other') }, world.ports);
      },
      act: async (world, ports) => {
        const all = await world.ports.notifications.of('a');
        const mine = all.find((one) => one.functionArn === functionArn('notify'))!;
        await deleteNotification('a', mine.notifyId, ports);
      },
      check: async (world, { wasAcknowledged }) => {
        if (wasAcknowledged) expect(world.callsOf('notify')).toEqual([]);
        expect(eventIds(world, 'other')).toHaveLength((await world.runsOf('a')).length);
      },
    });
  });
});

test('a job that was never created cannot be deleted', async () => {
  const world = await World.open();
  await expect(deleteJob('d1', 'nobody', world.ports)).rejects.toThrow(NotFoundError);
  await world.close();
});
