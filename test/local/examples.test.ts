import { DEFAULT_MISFIRE } from '../../src/domain/misfire';
import { createExamples } from '../../src/local/examples';
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { DAY, functionArn } from '../support/builders';
import { World } from '../support/world';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const stateOf = async (jobId: string) => (await world.ports.jobs.read(jobId))?.state;

test('an example whose id is taken by a job of the user is left out, and the others are made', async () => {
  const own = await createJob(
    'my request',
    {
      jobId: 'example-flaky',
      name: 'mine',
      tags: [],
      functionArn: functionArn('mine'),
      schedule: { kind: 'delay', delaySeconds: 3_600 },
      payload: 'null',
      retry: { maxAttempts: 1, backoff: { kind: 'fixed', seconds: 1 }, jitter: 'none' },
      misfire: DEFAULT_MISFIRE,
      timeoutSeconds: 60,
    },
    world.ports,
  );
  await createExamples(world.ports);
  expect(await world.ports.jobs.read('example-flaky')).toEqual(own);
  expect(await stateOf('example-heartbeat')).toBe('ACTIVE');
  expect((await world.ports.notifications.of('example-delayed')).map(({ state }) => state)).toEqual(['DONE']);
  expect(world.notes).toContainEqual({
    what: 'example-skipped',
    details: { jobId: 'example-flaky', reason: 'ConflictError' },
  });
});

test('an example that was deleted stays deleted, even if the first start did not get to its end', async () => {
  await createExamples(world.ports);
  const made = await world.ports.control.read('examples-created');
  await world.ports.control.put({ ...made!, expiresAt: 0 }, made);
  await deleteJob('my request', 'example-delayed', world.ports);
  // By now nobody remembers the answer to the request for its notification.
  await world.clock.advance(2 * DAY);
  await createExamples(world.ports);
  expect(await stateOf('example-delayed')).toBe('DELETED');
  expect(await stateOf('example-flaky')).toBe('ACTIVE');
});
