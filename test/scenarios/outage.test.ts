import type { JobRequest } from '../../src/domain/job-request';
import type { Run } from '../../src/domain/run';
import { createJob } from '../../src/operations/create-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { readJob } from '../../src/operations/read-job';
import { HOUR, MINUTE } from '../support/builders';
import { aRequest, World, type Code } from '../support/world';

/**
 * Every policy lives through the same five days in London: a restart on Saturday noon, the clocks going forward on Sunday at
 * 01:00, an outage from Sunday noon to Tuesday noon. The schedule names 01:30 and 13:30 local time.
 */
const FRIDAY = Date.UTC(2027, 2, 26, 12);
const schedule = { kind: 'expression', expression: 'cron(30 1,13 * * ? *)', timezone: 'Europe/London' } as const;
const day = (date: number, hour: number, minute = 0) => Date.UTC(2027, 2, date, hour, minute);
const OUTAGE = [day(28, 12), day(30, 12)] as const;
const ON_TIME = [day(26, 13, 30), day(27, 1, 30), day(27, 13, 30)];
const MISSED = [day(28, 12, 30), day(29, 0, 30), day(29, 12, 30), day(30, 0, 30)];
const AFTER = [day(30, 12, 30), day(31, 0, 30)];
const GAP: [number, string, string | undefined] = [day(28, 1) - 1, 'SKIPPED', 'dst-gap'];

const ok: Code = () => 'done';
/** Fails at first and succeeds thirteen hours later: longer than the interval. */
const slow: Code = ({ event }) => {
  if (event['attempt'] === 1) throw new Error('again');
};
const slowRetry = { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 13 * 3600 }, jitter: 'none' } as const;

let world: World;
afterEach(() => world.close());

async function live(
  changes: Partial<JobRequest>,
  code: Code = ok,
  between: { [instant: number]: () => Promise<unknown> } = {},
) {
  world = await World.open({ code: { 'job-report': code }, startAt: FRIDAY });
  const moveTo = async (at: number) => {
    for (const instant of Object.keys(between).map(Number).sort()) {
      if (instant <= world.clock.now() || instant > at) continue;
      await world.clock.advanceTo(instant);
      await between[instant]!();
    }
    await world.clock.advanceTo(at);
  };
  const restart = async (upAgainAt: number, engine: Awaited<ReturnType<World['start']>>) => {
    await world.stop(engine);
    await moveTo(upAgainAt);
    await world.takeOver();
    return world.start();
  };
  let engine = world.start();
  await createJob('r', aRequest({ jobId: 'a', schedule, ...changes }), world.ports);
  await moveTo(day(27, 12));
  engine = await restart(day(27, 12), engine);
  await moveTo(OUTAGE[0]);
  await restart(OUTAGE[1], engine);
  await moveTo(day(31, 12));
  return world.runsOf('a');
}

const facts = (runs: readonly Run[]) => runs.map(({ nominalAt, state, reason }) => [nominalAt, state, reason]);
const done = (...instants: number[]) => instants.map((nominalAt) => [nominalAt, 'DONE', undefined]);
const expected = (...rows: unknown[][]) => [...rows].sort((a, b) => Number(a[0]) - Number(b[0]));

describe('over a restart, a change of the clocks and an outage', () => {
  test('"run-once" runs the latest of what was missed and counts the rest in one record', async () => {
    const runs = await live({});
    expect(facts(runs)).toEqual(
      expected(...done(...ON_TIME), GAP, [MISSED[2]!, 'SKIPPED', 'misfire'], ...done(MISSED[3]!, ...AFTER)),
    );
    expect(runs.find(({ reason }) => reason === 'misfire')).toMatchObject({ alsoCovers: 2 });
    expect(runs.find(({ nominalAt }) => nominalAt === MISSED[3])!.latenessMs).toBeGreaterThanOrEqual(11 * HOUR);
  });

  test('"run-all" runs all that was missed, late', async () => {
    const runs = await live({ misfire: { policy: 'run-all', graceSeconds: 60 } });
    expect(facts(runs)).toEqual(expected(...done(...ON_TIME, ...MISSED, ...AFTER), GAP));
  });

  test('"skip" runs nothing of what was missed', async () => {
    const runs = await live({ misfire: { policy: 'skip', graceSeconds: 60 } });
    expect(facts(runs)).toEqual(
      expected(...done(...ON_TIME), GAP, [MISSED[3]!, 'SKIPPED', 'misfire'], ...done(...AFTER)),
    );
    expect(runs.find(({ reason }) => reason === 'misfire')).toMatchObject({ alsoCovers: 3 });
  });

  test('a grace longer than the outage makes nothing a misfire', async () => {
    const runs = await live({ misfire: { policy: 'skip', graceSeconds: 3 * 86_400 } });
    expect(facts(runs)).toEqual(expected(...done(...ON_TIME, ...MISSED, ...AFTER), GAP));
  });

  test('"run-after" runs what the clocks swallowed at the end of the gap', async () => {
    const runs = await live({ schedule: { ...schedule, dst: { gap: 'run-after' } } });
    expect(facts(runs)).toContainEqual([day(28, 1), 'DONE', undefined]);
    expect(runs.every(({ reason }) => reason !== 'dst-gap')).toBe(true);
  });

  test('overlap "skip" leaves out what meets a run that waits for its retry', async () => {
    const runs = await live({ overlap: 'skip', retry: slowRetry }, slow);
    expect(facts(runs)).toEqual(
      expected(
        ...done(ON_TIME[0]!, ON_TIME[2]!, MISSED[3]!),
        [ON_TIME[1]!, 'SKIPPED', 'overlap'],
        GAP,
        [MISSED[2]!, 'SKIPPED', 'misfire'],
        [AFTER[0]!, 'SKIPPED', 'overlap'],
        [AFTER[1]!, 'SKIPPED', 'overlap'],
      ),
    );
  });

  test('overlap "queue-one" begins the one that waited when the one before is over', async () => {
    const runs = await live({ overlap: 'queue-one', retry: slowRetry }, slow);
    const begun = runs.filter(({ attempt }) => attempt > 0);
    // 13 hours after the first began it is over, and the second begins, late.
    expect(begun[1]).toMatchObject({ nominalAt: ON_TIME[1] });
    expect(begun[1]!.startedAt! - begun[0]!.startedAt!).toBeGreaterThanOrEqual(13 * HOUR);
    for (const [index, run] of begun.slice(0, -1).entries()) {
      expect(run.state).toBe('DONE');
      const next = begun[index + 1]!;
      const firstStart = next.attempts[0]?.startedAt ?? next.startedAt!;
      expect(firstStart).toBeGreaterThanOrEqual(run.finishedAt!);
    }
  });

  test('overlap "cancel-previous" ends the run that waits when the next one begins', async () => {
    const runs = await live({ overlap: 'cancel-previous', retry: slowRetry }, slow);
    expect(facts(runs)).toEqual(
      expected(
        [ON_TIME[0]!, 'CANCELLED', 'overlap'],
        [ON_TIME[1]!, 'CANCELLED', 'overlap'],
        // Nothing comes in the night of the gap, so that this one reaches its retry.
        ...done(ON_TIME[2]!),
        GAP,
        [MISSED[2]!, 'SKIPPED', 'misfire'],
        [MISSED[3]!, 'CANCELLED', 'overlap'],
        [AFTER[0]!, 'CANCELLED', 'overlap'],
        [AFTER[1]!, 'RELEASED', 'attempt-failed'],
      ),
    );
  });

  test('jitter puts every run off by the same, and makes none of them a misfire', async () => {
    const runs = await live({ jitterSeconds: 3_600 });
    const ran = runs.filter(({ state }) => state === 'DONE');
    expect(new Set(ran.map(({ nominalAt, dueAt }) => dueAt - nominalAt)).size).toBe(1);
    expect(ran.map(({ nominalAt }) => nominalAt)).toEqual([...ON_TIME, MISSED[3], ...AFTER]);
    expect(ran.every(({ startedAt, dueAt }) => startedAt! >= dueAt)).toBe(true);
    expect(ran[0]!.dueAt - ran[0]!.nominalAt).toBeGreaterThan(0);
  });

  test('a maximum of runs counts what ran, not what was left out', async () => {
    const runs = await live({ maxRuns: 5 });
    expect(runs.filter(({ state }) => state === 'DONE').map(({ nominalAt }) => nominalAt)).toEqual([
      ...ON_TIME,
      MISSED[3],
      AFTER[0],
    ]);
    expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
  });

  test('an end that passes during the outage lets the missed one before it run, and completes the job', async () => {
    const runs = await live({ schedule: { ...schedule, startAt: day(27, 0), endAt: day(29, 6) } });
    expect(facts(runs)).toEqual(
      expected(...done(ON_TIME[1]!, ON_TIME[2]!), GAP, [MISSED[0]!, 'SKIPPED', 'misfire'], ...done(MISSED[1]!)),
    );
    expect((await readJob('a', world.ports)).state).toBe('COMPLETED');
  });

  test('a pause holds through all of it', async () => {
    const runs = await live({}, ok, {
      [day(27, 2)]: () => pauseJob('a', { reason: 'a weekend off' }, world.ports),
      [day(30, 12, 45)]: () => resumeJob('a', world.ports),
    });
    expect(facts(runs)).toEqual(expected(...done(ON_TIME[0]!, ON_TIME[1]!, AFTER[1]!)));
  });

  test('a one-off that falls due during the outage runs as soon as it is over', async () => {
    const runs = await live({
      schedule: { kind: 'expression', expression: 'at(2027-03-29T08:00:00)', timezone: 'Europe/London' },
    });
    expect(facts(runs)).toEqual(done(day(29, 7)));
    expect(runs[0]!.startedAt! - OUTAGE[1]).toBeLessThan(MINUTE);
  });
});
