import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { listFailed, readFailed, retryAllFailed } from '../../src/operations/failed-runs';
import { DAY, SECOND } from '../support/builders';
import { aRequest, rate, World } from '../support/world';

let world: World;
afterEach(() => world.close());
const retry = { maxAttempts: 1, backoff: { kind: 'fixed' as const, seconds: 1 }, jitter: 'none' as const };
const open = async () => {
  world = await World.open({
    code: {
      'job-report': () => {
        throw new TypeError('no');
      },
    },
  });
};
const create = (jobId: string, changes = {}, ports = world.ports) =>
  createJob(`c${jobId}${JSON.stringify(changes)}`, aRequest({ jobId, retry, ...changes }), ports);

test('a failed run keeps its payload when its job is deleted and created again', async () => {
  await open();
  world.start();
  await create('a', { payload: '"old"' });
  await world.clock.advance(10 * SECOND);
  await deleteJob('d', 'a', world.ports);
  const { runId } = (await listFailed({ limit: 1 }, world.ports)).items[0]!;
  expect((await readFailed('a', runId, world.ports)).job?.payload).toBe('"old"');
  await create('a', { payload: '"new"', schedule: rate('rate(1 hour)') });
  expect((await readFailed('a', runId, world.ports)).job?.payload).toBe('"old"');
});

test('failed runs are pruned after failedRetentionDays, also where other runs are kept longer', async () => {
  await open();
  const ports = {
    ...world.ports,
    settings: { ...world.ports.settings, retentionMs: 30 * DAY, failedRetentionMs: DAY },
  };
  world.start(ports);
  await create('a', {}, ports);
  await world.clock.advance(2 * DAY);
  expect((await listFailed({ limit: 10 }, ports)).items).toEqual([]);
});

test('what is refused does not keep POST /failed/retry from what lies behind it', async () => {
  await open();
  world.start();
  for (const jobId of ['good', 'gone-1', 'gone-2']) {
    await create(jobId);
    await world.clock.advance(5 * SECOND);
  }
  await deleteJob('d1', 'gone-1', world.ports);
  await deleteJob('d2', 'gone-2', world.ports);
  world.code['job-report'] = () => 'done';
  let rounds = 0;
  while ((await retryAllFailed({ limit: 2 }, world.ports)).isMore && rounds < 10) rounds++;
  await world.clock.advance(10 * SECOND);
  expect(await world.runsOf('good')).toMatchObject([{ state: 'DONE' }]);
  expect(rounds).toBeLessThan(10);
});
