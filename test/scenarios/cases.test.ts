/**
 * Faults that job systems have had in public, each with its input and the right result. Cases that are about one adapter or about
 * groups stand with their own: S03, S08, S12 and S37 in batches.test.ts and chains.test.ts, S28's flag in the template's facts, S33's
 * answers of Lambda in lambda-invoker.test.ts, S36 to S38 for DynamoDB and SQS in test/adapters/aws.
 */
import { decideLoopStart } from '../../src/domain/loop';
import type { JobRequest } from '../../src/domain/job-request';
import { createJob } from '../../src/operations/create-job';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { runActivations } from '../../src/operations/run-activation';
import { tick } from '../../src/operations/tick';
import type { Invoker } from '../../src/ports';
import { Client } from '../http/client';
import { aJob, anActivation, functionArn, HOUR, MINUTE, NOON, onceAt, SECOND } from '../support/builders';
import { CrashError } from '../support/crashing-ports';
import { allRuns, checkAtRest, eventIds } from '../support/invariants';
import { aRequest, rate, World, type Code } from '../support/world';

let world: World;
const ok: Code = () => ({ ok: true });
const open = async (code: Record<string, Code> = {}, startAt = NOON) => {
  world = await World.open({ code: { 'job-report': ok, notify: ok, ...code }, startAt });
};
afterEach(() => world.close());

const create = (jobId: string, changes: Parameters<typeof aRequest>[0] = {}, ports = world.ports) =>
  createJob(`create-${jobId}-${world.clock.now()}`, aRequest({ jobId, ...changes }), ports);
const cron = (expression: string): JobRequest['schedule'] => ({ kind: 'expression', expression, timezone: 'UTC' });
const tries = (maxAttempts: number, seconds = 1): Pick<JobRequest, 'retry'> => ({
  retry: { maxAttempts, backoff: { kind: 'fixed', seconds }, jitter: 'none' },
});
const subscribe = (jobId: string, state: 'SCHEDULED' | 'STARTED' | 'RELEASED' | 'DONE' | 'SKIPPED') =>
  createNotification(`told-${state}`, { jobId, state, functionArn: functionArn('notify') }, world.ports);
const secondsOf = (instants: readonly number[], since = NOON) => instants.map((at) => (at - since) / SECOND);

test('S01: a start message that comes three times starts one run, with one set of notifications', async () => {
  const nine = Date.UTC(2027, 4, 4, 9);
  await open({}, nine - MINUTE);
  await create('sync-eu', { schedule: cron('0 9 * * *') });
  await subscribe('sync-eu', 'DONE');
  world.start();
  const { generations } = (await world.ports.jobs.read('sync-eu'))!;
  const generation = generations[0]!.id;
  const message = {
    body: JSON.stringify(anActivation({ jobId: 'sync-eu', generation, nominalAt: nine, dueAt: nine })),
  };
  await world.clock.advance(MINUTE);
  await world.ports.activations.send([{ ...message, delayMs: 40 }]);
  await world.clock.advance(35 * SECOND);
  await world.ports.activations.send([message]);
  await world.clock.advance(MINUTE);
  expect(await world.runsOf('sync-eu')).toMatchObject([{ state: 'DONE', nominalAt: nine, origin: 'scheduled' }]);
  expect(world.callsOf('job-report')).toHaveLength(1);
  expect(eventIds(world, 'notify')).toHaveLength(1);
  await checkAtRest(world);
});

test('S07: a backoff of twelve hours comes after twelve hours, not before, and costs no attempt more', async () => {
  await open({
    'job-report': async ({ event, at }, clock) => {
      await clock.waitUntil(at + 600 * SECOND);
      if (event['attempt'] === 1) throw new Error('later');
    },
  });
  world.start();
  await create('a', tries(2, 43_200));
  await world.clock.advance(24 * HOUR);
  const [first, second, ...others] = world.calls.map(({ at }) => at);
  expect(others).toEqual([]);
  expect(second! - first!).toBeGreaterThanOrEqual((600 + 43_200) * SECOND);
  expect(second! - first!).toBeLessThan((600 + 43_201) * SECOND);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE', attempt: 2 }]);
});

test('S14: nothing starts while paused, an edit does not resume, and resuming makes no burst', async () => {
  const ten = Date.UTC(2027, 4, 4, 10);
  await open({ 'job-once': ok }, ten - 30 * SECOND);
  world.start();
  await create('once', { code: 'job-once', schedule: cron('at(2027-05-04T10:05:00)') });
  await create('often', { schedule: cron('* * * * *') });
  await world.clock.advance(30 * SECOND + 500);
  for (const jobId of ['once', 'often']) await pauseJob(jobId, {}, world.ports);
  const before = world.calls.length;
  await world.clock.advance(3 * MINUTE);
  await editJob('often', { schedule: { expression: '*/1 * * * *' } }, undefined, world.ports);
  await world.clock.advance(7 * MINUTE - 500);
  expect(world.calls).toHaveLength(before);
  for (const jobId of ['once', 'often']) await world.untilOver(resumeJob(jobId, world.ports));
  await world.clock.advance(2 * MINUTE + 30 * SECOND);
  expect(
    secondsOf(
      world.callsOf('job-once').map(({ at }) => at),
      ten,
    ),
  ).toEqual([600]);
  expect(await world.runsOf('once')).toMatchObject([{ state: 'DONE', latenessMs: 300_000 }]);
  const resumed = world
    .callsOf('job-report')
    .map(({ at }) => at)
    .filter((at) => at > ten + 9 * MINUTE);
  expect(secondsOf(resumed, ten)).toEqual([660, 720]);
});

test('S17: deleted and created again within a second, only the new job runs, from its first time on', async () => {
  await open();
  world.start();
  await create('nightly', { schedule: rate('rate(30 seconds)') });
  await world.clock.advance(10 * SECOND);
  await deleteJob('d', 'nightly', world.ports);
  await world.clock.advance(200);
  await create('nightly', { schedule: rate('rate(30 seconds)') });
  await world.clock.advance(2 * MINUTE);
  expect(secondsOf(world.calls.map(({ at }) => at))).toEqual([40, 70, 100, 130]);
});

describe('S18: a unique key', () => {
  const unique = { key: 'inv-9', forSeconds: 600, until: 'done' } as const;
  const failing: Code = () => {
    throw new Error('no');
  };

  test('is held while its run waits for a retry, and free once that is FAILED', async () => {
    await open({ 'job-report': failing });
    world.start();
    await create('a', { ...tries(2, 30), unique });
    await world.clock.advance(10 * SECOND);
    await expect(create('b', { unique })).rejects.toThrow(/inv-9/);
    await world.clock.advance(30 * SECOND);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED' }]);
    await create('b', { unique });
  });

  test('is free at the end of its lease when its holder never ended', async () => {
    await open();
    await create('a', { unique });
    await world.clock.advance(599 * SECOND);
    await expect(create('b', { unique })).rejects.toThrow(/inv-9/);
    await world.clock.advance(2 * SECOND);
    await create('b', { unique });
  });

  test('is free when the create failed that took it', async () => {
    await open();
    const refusing = { ...world.ports.activations, send: () => Promise.reject(new Error('no queue')) };
    await expect(create('a', { unique }, { ...world.ports, activations: refusing })).rejects.toThrow('no queue');
    await create('b', { unique });
  });

  test('is given back by nobody but its owner', async () => {
    await open({ 'job-report': ({ at }, clock) => clock.waitUntil(at + 640 * SECOND) });
    const engine = world.start();
    await create('a', { unique, ...tries(1) });
    await world.clock.advance(601 * SECOND);
    await create('b', { unique });
    await world.clock.advance(MINUTE);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'DONE' }]);
    // The first has ended meanwhile; the key is the second's.
    await expect(create('c', { unique })).rejects.toThrow(/job b/);
    await world.stop(engine);
  });
});

test('S19: runs longer than their interval skip what falls between, and a run that was killed delays the next by its lease only', async () => {
  await open({ 'job-report': ({ at }, clock) => clock.waitUntil(at + 150 * SECOND) });
  const engine = world.start();
  await create('a', {
    schedule: { kind: 'expression', expression: 'rate(60 seconds)', timezone: 'UTC', startAt: NOON + MINUTE },
    overlap: 'skip',
    ...tries(1),
  });
  await world.clock.advance(8 * MINUTE + 30 * SECOND);
  expect(
    secondsOf(
      world.calls.map(({ at }) => at),
      NOON + MINUTE,
    ),
  ).toEqual([0, 180, 360]);
  const skipped = (await world.runsOf('a')).filter(({ state }) => state === 'SKIPPED');
  expect(skipped.map(({ reason }) => reason)).toEqual(Array(skipped.length).fill('overlap'));
  expect(
    secondsOf(
      skipped.map(({ nominalAt }) => nominalAt),
      NOON + MINUTE,
    ).slice(0, 4),
  ).toEqual([60, 120, 240, 300]);
  await world.stop(engine);
  world.calls.length = 0;

  // A process that dies as soon as it has claimed its run: nothing that it does reaches the world from then on.
  let diedAt: number | undefined;
  const mortal = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (diedAt !== undefined) throw new CrashError('a dead process calls nothing');
          const answer: unknown = await (member as (...args: unknown[]) => unknown).apply(target, args);
          if (key === 'put' && (args[0] as { state?: string }).state === 'STARTED') diedAt = world.clock.now();
          return answer;
        };
      },
    });
  const { runs, invoker, activations, highActivations, jobs, control } = world.ports;
  const killed = world.start({
    ...world.ports,
    runs: mortal(runs),
    invoker: mortal(invoker),
    activations: mortal(activations),
    highActivations: mortal(highActivations),
    jobs: mortal(jobs),
    control: mortal(control),
  });
  for (let waited = 0; diedAt === undefined && waited < 300; waited++) await world.clock.advance(SECOND);
  expect(world.calls).toEqual([]);
  world.start();
  await world.clock.advance(5 * MINUTE);
  await world.stop(killed);
  // The lease of 60 s and its margin, then at most a minute until the next time that the schedule names.
  expect(world.calls[0]!.at - diedAt!).toBeGreaterThan(MINUTE);
  expect(world.calls[0]!.at - diedAt!).toBeLessThanOrEqual(2 * MINUTE + 6 * SECOND);
});

test('S23: a loop ends itself in time, and the next one takes over without a second missed or repeated', async () => {
  await open();
  world.start();
  await create('each', { schedule: rate('rate(1 second)') });
  await world.clock.advance(10 * MINUTE + 500);
  const seconds = secondsOf(world.calls.map(({ at }) => at)).sort((a, b) => a - b);
  expect(seconds).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
  // However long its ticks find something to do.
  expect(decideLoopStart({ now: NOON + 131 * SECOND, loopStartedAt: NOON, newestLoopStartedAt: NOON })).toBeDefined();
  await expect(
    tick({ loopStartedAt: world.clock.now() - 131 * SECOND, isFirst: false }, world.ports),
  ).resolves.toMatchObject({ done: true });
});

describe('by HTTP', () => {
  let client: Client;
  beforeEach(async () => {
    await open();
    client = await Client.open();
  });
  afterEach(() => client.close());

  const post = (fields: object) =>
    client.post('/jobs', JSON.stringify({ target: { functionArn: functionArn('job-report') }, ...fields }));
  /** JSON text of so many bytes. */
  const textOf = (bytes: number) => 'x'.repeat(bytes - 2);

  test.each([
    ['200 KB', textOf(200_000), 201],
    ['262,144 bytes', textOf(262_144), 201],
    ['262,145 bytes', textOf(262_145), 413],
    ['400 KB', textOf(400_000), 413],
    ['1 MiB', textOf(1_048_576), 413],
    ['1 MiB and one', textOf(1_048_577), 413],
    ['200,000 times é', 'é'.repeat(200_000), 413],
    ['130,000 times é', 'é'.repeat(130_000), 201],
  ])(
    'S24: a payload of %s is measured in bytes of UTF-8, and delivered unchanged or refused',
    async (_, payload, status) => {
      const answer = await post({ jobId: 'big', payload });
      expect(answer.status).toBe(status);
      if (status === 201) expect(JSON.parse((await client.ports.jobs.read('big'))!.payload)).toBe(payload);
      else expect(answer.text).toMatch(/262144|1048576/);
    },
  );

  test.each([
    ['an emoji', '📦 nightly ✨', 201],
    ['300 é', 'é'.repeat(300), 400],
    ['256 é', 'é'.repeat(256), 201],
    ['half of a surrogate pair', 'a\ud83d', 400],
  ])('S25: a name of %s comes back as it was, or is refused', async (_, name, status) => {
    const body = JSON.stringify({ jobId: 'named', name, target: { functionArn: functionArn('job-report') } });
    const answer = await client.post('/jobs', body);
    expect(answer.status).toBe(status);
    if (status === 201) expect((await client.send('/jobs/named')).json['name']).toBe(name);
    else expect(answer.json.errors.map(({ field }) => field)).toEqual(['name']);
  });

  test('S25: control characters in a payload reach the code as they were written', async () => {
    const payload = '{"a":"\\u0000","b":"\\uFFFF"}';
    const body = `{"jobId":"odd","target":{"functionArn":"${functionArn('job-report')}"},"payload":${payload}}`;
    expect((await client.post('/jobs', body)).status).toBe(201);
    client.world.code['job-report'] = ok;
    client.world.start();
    await client.world.clock.advance(SECOND);
    expect(client.world.calls[0]!.text).toContain(`"payload":${payload}`);
  });

  test('S26: numbers reach the code with every digit', async () => {
    const payload = '{"id":9007199254740993,"amount":0.1,"big":1.23e+40,"neg0":-0.0}';
    const body = `{"jobId":"exact","target":{"functionArn":"${functionArn('job-report')}"},"payload":${payload}}`;
    expect((await client.post('/jobs', body)).status).toBe(201);
    expect((await client.send('/jobs/exact')).text).toContain(payload);
    client.world.code['job-report'] = ok;
    client.world.start();
    await client.world.clock.advance(SECOND);
    expect(client.world.calls[0]!.text).toContain(`"payload":${payload}`);
  });
});

test('S28: of ten messages just the two that fail come back', async () => {
  await open();
  for (let index = 0; index < 10; index++) await create(`j${index}`);
  const messages = await world.ports.activations.receive(10);
  const broken = messages.map((message, index) => (index === 2 || index === 6 ? { ...message, body: '{}' } : message));
  const back = await world.untilOver(runActivations(broken, world.ports));
  expect(back).toEqual([messages[2]!.messageId, messages[6]!.messageId]);
  expect(world.calls).toHaveLength(8);
});

test('S30: a job of two attempts that always fails is called twice', async () => {
  await open({
    'job-report': () => {
      throw new Error('never');
    },
  });
  world.start();
  await create('a', tries(2));
  await world.clock.advance(HOUR);
  expect(world.calls).toHaveLength(2);
  expect(await world.runsOf('a')).toMatchObject([{ state: 'FAILED', attempt: 2 }]);
});

test('S32: fifty jobs for a function that takes five at once are all DONE with their first attempt', async () => {
  await open();
  let atWork = 0;
  const invoker: Invoker = {
    async invoke(call) {
      if (atWork >= 5) return { kind: 'held-back', reason: 'throttled', message: 'Rate exceeded' };
      atWork += 1;
      await world.clock.waitUntil(world.clock.now() + 2 * SECOND);
      atWork -= 1;
      return world.ports.invoker.invoke(call);
    },
  };
  world.start({ ...world.ports, invoker });
  for (let index = 0; index < 50; index++) await create(`j${index}`, tries(1));
  await world.clock.advance(HOUR);
  const runs = await allRuns(world);
  expect(runs).toHaveLength(50);
  expect(runs.filter(({ state, attempt }) => state !== 'DONE' || attempt !== 1)).toEqual([]);
});

test.each<[string, Code, object]>([
  [
    'throws',
    () => {
      throw new TypeError('no such order');
    },
    { state: 'FAILED', error: { type: 'TypeError', message: 'no such order' } },
  ],
  ['takes too long', ({ at }, clock) => clock.waitUntil(at + HOUR), { state: 'FAILED', error: { type: 'Timeout' } }],
  ['returns { errorMessage }', () => ({ errorMessage: 'x' }), { state: 'DONE', result: '{"errorMessage":"x"}' }],
])('S33: code that %s', async (_, code, outcome) => {
  await open({ 'job-report': code });
  world.start();
  await create('a', { ...tries(1), timeoutSeconds: 5 });
  await world.clock.advance(MINUTE);
  expect(await world.runsOf('a')).toMatchObject([outcome]);
});

test('S36: three thousand jobs due in one second are all sent by one tick', async () => {
  await open();
  const due = NOON + 5 * SECOND;
  await world.ports.jobs.putAll(
    Array.from({ length: 3_000 }, (_, index) =>
      aJob({ jobId: `j${index}`, schedule: onceAt(due), dueAt: due, payload: `"${'x'.repeat(900)}"` }),
    ),
  );
  await tick({ loopStartedAt: NOON, isFirst: true }, world.ports);
  await world.clock.advance(6 * SECOND);
  const sent = new Set<string>();
  for (;;) {
    const messages = await world.ports.activations.receive(10);
    if (messages.length === 0) break;
    for (const { body } of messages) sent.add((JSON.parse(body) as { jobId: string }).jobId);
  }
  expect(sent.size).toBe(3_000);
});

test('S41: each notice holds its state at the transition, a sequence and a stable id, though the notifier fails once', async () => {
  let failures = 1;
  const heard: { id: string; state: string; sequence: number }[] = [];
  await open({
    'job-report': ({ event }) => {
      if (event['attempt'] === 1) throw new Error('not yet');
    },
    notify: ({ event }) => {
      if (failures-- > 0) throw new Error('notifier');
      const { state, sequence } = event['data'] as { state: string; sequence: number };
      heard.push({ id: String(event['id']), state, sequence });
    },
  });
  const { jobId } = await create('a', { ...tries(2), schedule: { kind: 'delay', delaySeconds: 1 } });
  for (const state of ['STARTED', 'RELEASED', 'DONE'] as const) await subscribe(jobId, state);
  world.start();
  await world.clock.advance(5 * MINUTE);
  const [run] = await world.runsOf('a');
  expect(run).toMatchObject({ state: 'DONE', attempt: 2 });
  const bySequence = [...heard].sort((a, b) => a.sequence - b.sequence);
  expect(bySequence).toEqual(
    ['STARTED', 'RELEASED', 'STARTED', 'DONE'].map((state, index) => ({
      id: `${run!.runId}:${index + 2}`,
      state,
      sequence: index + 2,
    })),
  );
});
