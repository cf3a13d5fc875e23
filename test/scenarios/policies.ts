import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { readJob } from '../../src/operations/read-job';
import { backfillJob, triggerJob } from '../../src/operations/trigger-job';
import { ConflictError, PreconditionError } from '../../src/domain/errors';
import type { OverlapPolicy } from '../../src/domain/job';
import { RUN_STATES } from '../../src/domain/run';
import { functionArn, HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { checkAtRest } from '../support/invariants';
import { aRequest, rate, World, type Code, type WorldOptions } from '../support/world';

const ok: Code = () => 'done';
const lasting =
  (ms: number): Code =>
  async (call, clock) =>
    clock.waitUntil(call.at + ms);

/** What each policy comes to over the stores of one adapter: the operations are the same, and so is what they bring about. */
export function describePolicies(name: string, openStores?: WorldOptions['openStores']): void {
  describe(`on the stores of ${name}:`, () => {
    let world: World;
    const open = async (code: Record<string, Code> = { 'job-report': ok }, startAt = NOON) => {
      world = await World.open({ code, startAt, ...(openStores && { openStores }) });
    };
    afterEach(async () => {
      await world.close();
    });
    const create = (jobId: string, changes: Parameters<typeof aRequest>[0] = {}) =>
      createJob(`create-${jobId}-${world.clock.now()}`, aRequest({ jobId, ...changes }), world.ports);
    const at = (...offsets: number[]) => offsets.map((offset) => NOON + offset);
    const starts = (functionName = 'job-report') => world.callsOf(functionName).map((call) => call.at);
    const states = async (jobId: string) =>
      (await world.runsOf(jobId)).map(({ nominalAt, state, reason }) => [(nominalAt - NOON) / SECOND, state, reason]);

    describe('a job that is paused from 10 minutes to 20', () => {
      const cron = (expression: string) => ({ kind: 'expression' as const, expression, timezone: 'UTC' });

      test('starts nothing meanwhile, also when it is edited; then the one-off runs late and the schedule goes on without a burst', async () => {
        await open({ 'job-report': ok, 'job-once': ok });
        world.start();
        await create('minutely', { schedule: cron('cron(* * * * ? *)') });
        await create('once', { code: 'job-once', schedule: { kind: 'delay', delaySeconds: 15 * 60 } });
        await world.clock.advance(10 * MINUTE);
        await pauseJob('minutely', { reason: 'the database moves', by: 'ops' }, world.ports);
        await pauseJob('once', {}, world.ports);
        expect(await readJob('minutely', world.ports)).toMatchObject({
          state: 'PAUSED',
          job: { pause: { at: NOON + 10 * MINUTE, reason: 'the database moves', by: 'ops' } },
        });
        await world.clock.advance(3 * MINUTE);
        await editJob('minutely', { schedule: { expression: 'cron(*/1 * * * ? *)' } }, undefined, world.ports);
        expect((await readJob('minutely', world.ports)).state).toBe('PAUSED');
        await world.clock.advance(7 * MINUTE);
        const before = world.calls.length;
        expect(starts().at(-1)).toBe(NOON + 10 * MINUTE);
        await resumeJob('minutely', world.ports);
        await resumeJob('once', world.ports);
        await world.clock.advance(30 * SECOND);
        expect(world.calls.slice(before).map(({ functionName, at }) => [functionName, at])).toEqual([
          ['job-once', NOON + 20 * MINUTE],
        ]);
        expect((await world.runsOf('once'))[0]).toMatchObject({ state: 'DONE', latenessMs: 5 * MINUTE });
        await world.clock.advance(2 * MINUTE);
        expect(starts().slice(-2)).toEqual(at(21 * MINUTE, 22 * MINUTE));
        const skipped = (await world.runsOf('minutely')).filter(({ state }) => state === 'SKIPPED');
        expect(skipped.every(({ reason }) => reason === 'paused')).toBe(true);
      });

      test('can be triggered by a person all the same', async () => {
        await open();
        world.start();
        await create('a', { schedule: rate('rate(1 hour)') });
        await pauseJob('a', {}, world.ports);
        await world.clock.advance(5 * SECOND);
        const { runId } = await triggerJob('t1', 'a', world.ports);
        expect(await triggerJob('t1', 'a', world.ports)).toEqual({ runId });
        await world.clock.advance(SECOND);
        expect(starts()).toEqual(at(5 * SECOND));
        expect(await world.ports.runs.read('a', runId)).toMatchObject({
          state: 'DONE',
          origin: 'manual',
          latenessMs: 0,
        });
      });

      test('goes on with a run that has begun', async () => {
        await open({
          'job-report': ({ event }) => {
            if (event['attempt'] === 1) throw new Error('again');
          },
        });
        world.start();
        await create('a', { retry: { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 30 }, jitter: 'none' } });
        await world.clock.advance(SECOND);
        await pauseJob('a', {}, world.ports);
        await world.clock.advance(MINUTE);
        expect((await world.runsOf('a')).map(({ state, attempt }) => [state, attempt])).toEqual([['DONE', 2]]);
      });
    });

    describe('an edit', () => {
      test('supersedes what was dispatched ahead, and what is due before it runs as it was', async () => {
        await open({ 'job-report': ok, 'job-new': ok });
        world.start();
        await create('a', { schedule: rate('rate(20 seconds)'), payload: '"old"' });
        await world.clock.advance(50 * SECOND);
        await editJob(
          'a',
          { schedule: { expression: 'rate(30 seconds)' }, functionArn: functionArn('job-new'), payload: '"new"' },
          undefined,
          world.ports,
        );
        await world.clock.advance(2 * MINUTE);
        expect(starts('job-report')).toEqual(at(20 * SECOND, 40 * SECOND));
        expect(starts('job-new')).toEqual(at(80 * SECOND, 110 * SECOND, 140 * SECOND, 170 * SECOND));
        expect(world.callsOf('job-new').every(({ event }) => event['payload'] === 'new')).toBe(true);
        await world.clock.advance(3 * MINUTE);
        await deleteJob('d', 'a', world.ports);
        await world.clock.advance(3 * MINUTE);
        await checkAtRest(world);
      });

      test('that leaves the rate alone leaves its grid alone', async () => {
        await open();
        world.start();
        await create('a', { schedule: rate('rate(20 seconds)') });
        await world.clock.advance(50 * SECOND);
        await editJob('a', { name: 'renamed', schedule: { expression: 'rate(20 seconds)' } }, undefined, world.ports);
        await world.clock.advance(70 * SECOND);
        expect(starts()).toEqual(at(...[20, 40, 60, 80, 100, 120].map((seconds) => seconds * SECOND)));
      });

      test('lets a run that has begun go on under the definition that it began with', async () => {
        await open({
          'job-report': () => {
            throw new Error('never');
          },
          'job-new': ok,
        });
        world.start();
        const retry = { maxAttempts: 3, backoff: { kind: 'fixed' as const, seconds: 60 }, jitter: 'none' as const };
        await create('a', { schedule: rate('rate(30 minutes)'), payload: '"old"', retry });
        await world.clock.advance(30 * MINUTE + 10 * SECOND);
        const once = { ...retry, maxAttempts: 1 };
        await editJob(
          'a',
          { functionArn: functionArn('job-new'), payload: '"new"', retry: once },
          undefined,
          world.ports,
        );
        await world.clock.advance(5 * MINUTE);
        expect(world.callsOf('job-report').map(({ event }) => event['payload'])).toEqual(['old', 'old', 'old']);
        expect((await world.runsOf('a'))[0]).toMatchObject({ state: 'FAILED', attempt: 3 });
        await world.clock.advance(30 * MINUTE);
        expect(world.callsOf('job-new').map(({ event }) => event['payload'])).toEqual(['new']);
      });

      test('of a version that another editor replaced is refused', async () => {
        await open();
        const { generations } = await create('a', { schedule: rate('rate(1 hour)') });
        const seen = generations.at(-1)!.id;
        await editJob('a', { name: 'first' }, seen, world.ports);
        await expect(editJob('a', { name: 'second' }, seen, world.ports)).rejects.toThrow(PreconditionError);
        expect((await readJob('a', world.ports)).job.name).toBe('first');
      });

      test('moves a one-off, and is refused once that has begun', async () => {
        await open();
        world.start();
        await create('a', { schedule: { kind: 'delay', delaySeconds: 60 } });
        await editJob('a', { schedule: { expression: 'at(2027-05-04T12:00:30)' } }, undefined, world.ports);
        await world.clock.advance(2 * MINUTE);
        expect(starts()).toEqual(at(30 * SECOND));
        await expect(editJob('a', { name: 'late' }, undefined, world.ports)).rejects.toThrow(ConflictError);
      });
    });

    describe('runs that last longer than their interval', () => {
      const every60 = (overlap: OverlapPolicy, changes: Parameters<typeof aRequest>[0] = {}) =>
        create('a', { schedule: rate('rate(60 seconds)'), overlap, ...changes });
      const begin = () => every60;

      test('under "allow" run side by side', async () => {
        await open({ 'job-report': lasting(150 * SECOND) });
        world.start();
        await begin()('allow');
        await world.clock.advance(245 * SECOND);
        expect(starts()).toEqual(at(60 * SECOND, 120 * SECOND, 180 * SECOND, 240 * SECOND));
      });

      test('under "skip" are left out and recorded until the predecessor is over', async () => {
        await open({ 'job-report': lasting(150 * SECOND) });
        world.start();
        await every60('skip');
        await world.clock.advance(9 * MINUTE - SECOND);
        expect(starts()).toEqual(at(60 * SECOND, 240 * SECOND, 420 * SECOND));
        expect((await states('a')).filter(([, state]) => state === 'SKIPPED')).toEqual(
          [120, 180, 300, 360, 480].map((seconds) => [seconds, 'SKIPPED', 'overlap']),
        );
      });

      test('under "skip" a run that waits for its retry counts as running', async () => {
        await open({
          'job-report': ({ event }) => {
            if (event['attempt'] === 1) throw new Error('again');
          },
        });
        world.start();
        await every60('skip', { retry: { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 100 }, jitter: 'none' } });
        await world.clock.advance(4 * MINUTE);
        expect(starts()).toEqual(at(60 * SECOND, 160 * SECOND, 180 * SECOND));
      });

      test('under "skip" a runner that dies does not hold the place for ever', async () => {
        await open({ 'job-report': lasting(150 * SECOND) });
        world.start();
        await every60('skip');
        await world.clock.advance(90 * SECOND);
        // What a killed process leaves: a lease that nobody renews, and a message that nobody removes.
        const [run] = await world.runsOf('a');
        const { leaseUntil: _, ...rest } = run!;
        await world.ports.runs.put({ ...rest, revision: run!.revision + 1, leaseUntil: world.clock.now() }, run);
        await world.ports.activations.send([
          {
            body: JSON.stringify({
              version: 1,
              jobId: 'a',
              generation: run!.generation,
              origin: 'scheduled',
              nominalAt: run!.nominalAt,
              dueAt: run!.dueAt,
              sequence: run!.sequence,
            }),
            delayMs: 10_000,
          },
        ]);
        await world.clock.advance(8 * MINUTE);
        const runs = await world.runsOf('a');
        expect(runs[0]).toMatchObject({ state: 'DONE', attempt: 2 });
        expect(runs.filter(({ state }) => state === 'DONE').length).toBeGreaterThan(1);
      });

      test('under "queue-one" the next one waits, the others are skipped', async () => {
        await open({ 'job-report': lasting(160 * SECOND) });
        world.start();
        await every60('queue-one');
        await world.clock.advance(8 * MINUTE - SECOND);
        expect(starts()).toEqual(at(60 * SECOND, 220 * SECOND, 380 * SECOND));
        expect((await states('a')).filter(([, state]) => state === 'DONE').map(([nominal]) => nominal)).toEqual([
          60, 120,
        ]);
        expect((await states('a')).filter(([, state]) => state === 'SKIPPED')).toEqual([
          [180, 'SKIPPED', 'overlap'],
          [300, 'SKIPPED', 'overlap'],
          [360, 'SKIPPED', 'overlap'],
        ]);
      });

      test('under "cancel-previous" end when the next one begins', async () => {
        await open({ 'job-report': lasting(150 * SECOND) });
        world.start();
        await every60('cancel-previous');
        await world.clock.advance(245 * SECOND);
        expect(starts()).toEqual(at(60 * SECOND, 120 * SECOND, 180 * SECOND, 240 * SECOND));
        expect((await states('a')).map(([nominal, state]) => [nominal, state])).toEqual([
          [60, 'CANCELLED'],
          [120, 'CANCELLED'],
          [180, 'CANCELLED'],
          [240, 'STARTED'],
        ]);
        await deleteJob('d', 'a', world.ports);
        await world.clock.advance(10 * MINUTE);
        await checkAtRest(world);
        expect((await world.runsOf('a')).find(({ nominalAt }) => nominalAt === NOON + 240 * SECOND)?.state).toBe(
          'DONE',
        );
      });
    });

    describe('a schedule with an end', () => {
      test('runs as often as its maximum and is then completed', async () => {
        await open();
        world.start();
        await create('a', { schedule: rate('rate(10 seconds)'), maxRuns: 3 });
        await world.clock.advance(5 * MINUTE);
        expect(starts()).toEqual(at(10 * SECOND, 20 * SECOND, 30 * SECOND));
        expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
      });

      test('goes on when an edit raises its maximum', async () => {
        await open();
        world.start();
        await create('a', { schedule: rate('rate(10 seconds)'), maxRuns: 1 });
        await world.clock.advance(65 * SECOND);
        expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
        await editJob('a', { maxRuns: 3 }, undefined, world.ports);
        await world.clock.advance(MINUTE);
        expect(starts()).toEqual(at(10 * SECOND, 70 * SECOND, 80 * SECOND));
      });

      test('does not lose a run of its maximum to an edit or a pause', async () => {
        await open();
        world.start();
        await create('a', { schedule: rate('rate(10 seconds)'), maxRuns: 4 });
        await world.clock.advance(15 * SECOND);
        await editJob('a', { name: 'renamed' }, undefined, world.ports);
        await world.clock.advance(10 * SECOND);
        await pauseJob('a', {}, world.ports);
        await world.clock.advance(MINUTE);
        await resumeJob('a', world.ports);
        await world.clock.advance(5 * MINUTE);
        expect(starts()).toEqual(at(10 * SECOND, 20 * SECOND, 90 * SECOND, 100 * SECOND));
        expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
      });

      test('begins at its start, which is the first run of a rate, and ends at its end', async () => {
        await open();
        world.start();
        const schedule = { kind: 'expression', expression: 'rate(20 seconds)', timezone: 'UTC' } as const;
        await create('a', { schedule: { ...schedule, startAt: NOON + 65 * SECOND, endAt: NOON + 110 * SECOND } });
        await world.clock.advance(10 * MINUTE);
        expect(starts()).toEqual(at(65 * SECOND, 85 * SECOND, 105 * SECOND));
        expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
      });
    });

    test('a rate whose start has fractions of a second begins with that second', async () => {
      await open();
      world.start();
      const startAt = NOON + 65 * SECOND + 437;
      await create('a', { schedule: { kind: 'expression', expression: 'rate(20 seconds)', timezone: 'UTC', startAt } });
      await world.clock.advance(110 * SECOND);
      expect(starts()).toEqual(at(65 * SECOND, 85 * SECOND, 105 * SECOND));
    });

    test('jitter makes every run of a job due later by the same part of it, and shows both instants', async () => {
      await open();
      world.start();
      await create('a', { schedule: rate('rate(10 minutes)'), jitterSeconds: 300 });
      await world.clock.advance(40 * MINUTE);
      const runs = await world.runsOf('a');
      expect(runs.length).toBeGreaterThanOrEqual(3);
      const offsets = new Set(runs.map(({ nominalAt, dueAt }) => dueAt - nominalAt));
      expect(offsets.size).toBe(1);
      const [offset] = offsets;
      expect(offset).toBeGreaterThan(0);
      expect(offset).toBeLessThan(300 * SECOND);
      expect(runs.map(({ nominalAt }) => nominalAt)).toEqual(runs.map((_, k) => NOON + (k + 1) * 10 * MINUTE));
      expect(starts()).toEqual(runs.map(({ dueAt }) => dueAt));
    });

    test('a backfill runs a past range once, as runs of its own', async () => {
      await open();
      world.start();
      await create('a', { schedule: rate('rate(1 hour)') });
      await world.clock.advance(10 * SECOND);
      const range = { fromAt: NOON - 3 * HOUR, toAt: NOON - HOUR };
      const cron = { kind: 'expression', expression: 'cron(0 * * * ? *)', timezone: 'UTC' } as const;
      await create('b', { schedule: cron });
      const { runIds } = await backfillJob('b', range, world.ports);
      expect(await backfillJob('b', range, world.ports)).toEqual({ runIds });
      await world.clock.advance(MINUTE);
      const nominals = [3, 2, 1].map((hours) => NOON - hours * HOUR);
      const runs = await world.runsOf('b');
      expect(runs.map(({ runId }) => runId)).toEqual(runIds);
      expect(runs.map(({ nominalAt, state, origin }) => [nominalAt, state, origin])).toEqual(
        nominals.map((nominalAt) => [nominalAt, 'DONE', 'backfill']),
      );
      expect(world.callsOf('job-report')).toHaveLength(3);
      // A rate has no past before its anchor.
      expect((await backfillJob('a', range, world.ports)).runIds).toEqual([]);
    });

    test('over a change of the clocks, an outage and a restart, a nightly job leaves a record of every night', async () => {
      // London: 28 March 2027, 01:00 becomes 02:00.
      const at = (day: number, hour: number, minute = 0) => Date.UTC(2027, 2, day, hour, minute);
      await open({ 'job-report': ok }, at(27, 1));
      const schedule = { kind: 'expression', expression: 'cron(30 1 * * ? *)', timezone: 'Europe/London' } as const;
      await create('nightly', { schedule });
      const upBetween = async (from: number, to: number) => {
        await world.clock.advanceTo(from);
        await world.takeOver();
        const engine = world.start();
        await world.clock.advanceTo(to);
        await world.stop(engine);
      };
      await upBetween(at(27, 1, 20), at(27, 1, 40));
      await upBetween(at(28, 0, 50), at(28, 1, 10));
      // Down until Wednesday noon: Monday's, Tuesday's and Wednesday's runs are missed.
      await upBetween(at(31, 12), at(31, 12, 10));
      await upBetween(at(32, 0, 20), at(32, 0, 40));
      const runs = await world.runsOf('nightly');
      const shown = runs.map(({ nominalAt, state, reason, alsoCovers }) => [
        new Date(nominalAt).toISOString(),
        state,
        reason,
        alsoCovers,
      ]);
      expect(shown).toEqual([
        ['2027-03-27T01:30:00.000Z', 'DONE', undefined, undefined],
        ['2027-03-28T00:59:59.999Z', 'SKIPPED', 'dst-gap', undefined],
        ['2027-03-30T00:30:00.000Z', 'SKIPPED', 'misfire', 1],
        ['2027-03-31T00:30:00.000Z', 'DONE', undefined, undefined],
        ['2027-04-01T00:30:00.000Z', 'DONE', undefined, undefined],
      ]);
    });

    test('a job deleted and created again within a second is a new job: old messages do nothing, its own first run comes', async () => {
      await open();
      world.start();
      const nightly = () => create('nightly', { schedule: rate('rate(10 seconds)') });
      await nightly();
      await world.clock.advance(15 * SECOND);
      await deleteJob('d', 'nightly', world.ports);
      await world.clock.advance(200);
      await nightly();
      await world.clock.advance(30 * SECOND);
      expect(starts()).toEqual(at(10 * SECOND, 25 * SECOND, 35 * SECOND, 45 * SECOND));
    });

    test('five transitions are five notices, each with its own state and sequence, though the notifier fails once', async () => {
      let failures = 1;
      await open({
        'job-report': ({ event }) => {
          if (event['attempt'] === 1) throw new Error('again');
        },
        notify: () => {
          if (failures-- > 0) throw new Error('the subscriber is down');
        },
      });
      const retry = { maxAttempts: 2, backoff: { kind: 'fixed' as const, seconds: 0.4 }, jitter: 'none' as const };
      const endAt = NOON + 61 * SECOND;
      const schedule = {
        kind: 'expression' as const,
        expression: 'rate(1 minute)',
        timezone: 'UTC',
        endAt,
        startAt: NOON + MINUTE,
      };
      await createJob(
        'early',
        aRequest({
          jobId: 'a',
          schedule: { ...schedule, startAt: NOON + 10 * MINUTE, endAt: NOON + 11 * MINUTE - 1 },
          retry,
        }),
        world.ports,
      );
      for (const state of RUN_STATES) {
        await createNotification(state, { jobId: 'a', state, functionArn: functionArn('notify') }, world.ports);
      }
      world.start();
      await world.clock.advance(15 * MINUTE);
      const [run] = await world.runsOf('a');
      expect(run).toMatchObject({ state: 'DONE', attempt: 2, sequence: 5 });
      const heard = world
        .callsOf('notify')
        .map(({ event }) => [event['id'], (event['data'] as { state: string }).state]);
      const notices = ['SCHEDULED', 'STARTED', 'RELEASED', 'STARTED', 'DONE'].map((state, k) => [
        `${run!.runId}:${k + 1}`,
        state,
      ]);
      expect(heard).toHaveLength(6);
      expect([...new Map(heard.map(([id, state]) => [id, [id, state]])).values()].sort()).toEqual(notices);
    });
  });
}
