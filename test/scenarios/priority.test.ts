import { createJob } from '../../src/operations/create-job';
import { editJob } from '../../src/operations/edit-job';
import { tick } from '../../src/operations/tick';
import { triggerJob } from '../../src/operations/trigger-job';
import { startEngine } from '../../src/local/engine';
import { anActivation, MINUTE, NOON, SECOND } from '../support/builders';
import { checkAtRest } from '../support/invariants';
import { aRequest, rate, World } from '../support/world';

let world: World;
afterEach(() => world.close());

test('a high run does not wait behind a thousand normal ones, where each priority has one place at work', async () => {
  world = await World.open({
    code: {
      'job-report': async (call, clock) => clock.waitUntil(call.at + SECOND),
      urgent: ({ event }) => {
        if (event['attempt'] === 1) throw new Error('once more');
      },
    },
  });
  await Promise.all(
    Array.from({ length: 1_000 }, (_, k) => createJob(`r${k}`, aRequest({ jobId: `normal-${k}` }), world.ports)),
  );
  const engine = startEngine({ ports: world.ports, concurrency: 1 });
  await world.clock.advance(10 * SECOND);
  const backoff = { kind: 'fixed' as const, seconds: 5 };
  const retry = { maxAttempts: 2, backoff, jitter: 'none' as const };
  await createJob('u', aRequest({ jobId: 'urgent', code: 'urgent', priority: 'high', retry }), world.ports);
  await world.clock.advance(10 * SECOND);
  const starts = world.callsOf('urgent').map(({ at }) => Math.floor((at - NOON) / SECOND));
  expect(starts).toEqual([10, 15]);
  expect(world.callsOf('job-report').length).toBeLessThan(25);
  await world.clock.advance(1_000 * SECOND);
  expect(world.callsOf('job-report')).toHaveLength(1_000);
  await world.untilOver(engine.stop());
  await checkAtRest(world);
});

describe('a high job', () => {
  const highMessages = async () =>
    (await world.ports.highActivations.receive(10)).map(({ body }) => JSON.parse(body) as object);

  test('has its priority in what its schedule, a person and an edit start', async () => {
    world = await World.open({ code: { 'job-report': () => 'done' } });
    await createJob('r', aRequest({ jobId: 'a', priority: 'high', schedule: rate('rate(20 seconds)') }), world.ports);
    await triggerJob('t', 'a', world.ports);
    await editJob('a', { payload: '1' }, undefined, world.ports);
    await world.clock.advance(30 * SECOND);
    const sent = await highMessages();
    expect(sent.length).toBeGreaterThan(2);
    expect(sent.every((message) => (message as { priority?: string }).priority === 'high')).toBe(true);
    expect(await world.ports.activations.receive(10)).toEqual([]);
  });

  test('comes back from the dead-letter queue into its own', async () => {
    world = await World.open();
    const bodies = [anActivation({ jobId: 'a', priority: 'high' }), anActivation({ jobId: 'b' })];
    await world.ports.deadActivations.send(bodies.map((body) => ({ body: JSON.stringify(body) })));
    await tick({ loopStartedAt: world.clock.now(), isFirst: true }, world.ports);
    expect(await highMessages()).toMatchObject([{ jobId: 'a', priority: 'high', returns: 1 }]);
    const [normal] = await world.ports.activations.receive(10);
    expect(JSON.parse(normal!.body)).toMatchObject({ jobId: 'b', returns: 1 });
  });

  test('that waits for a place in its concurrency keeps its priority', async () => {
    world = await World.open({ code: { 'job-report': async (call, clock) => clock.waitUntil(call.at + MINUTE) } });
    const concurrency = { key: 'k', limit: 1 };
    for (const jobId of ['a', 'b']) {
      await createJob(jobId, aRequest({ jobId, priority: 'high', concurrency }), world.ports);
    }
    const engine = world.start();
    await world.clock.advance(20 * SECOND);
    await world.stop(engine);
    await world.clock.advance(30 * SECOND);
    expect(await world.ports.activations.receive(10)).toEqual([]);
    expect(await highMessages()).toMatchObject([{ jobId: 'b', priority: 'high' }]);
  });
});
