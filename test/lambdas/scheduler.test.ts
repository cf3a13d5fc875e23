import type { SchedulerAnswer, SchedulerEvent } from '../../lambdas/scheduler/event';
import { aJob, anActivation, every, HOUR, onceAt } from '../support/builders';
import { deploy } from '../support/deployment';

let deployed: Awaited<ReturnType<typeof deploy>>;
let handler: (event: SchedulerEvent) => Promise<SchedulerAnswer | { sentAgain: number }>;

beforeEach(async () => {
  deployed = await deploy();
  handler = deployed.load('scheduler');
});
afterEach(() => deployed.close());

/** As the state machine sends it. */
const tickEvent = (startedAt = Date.now(), isFirst = true): SchedulerEvent => ({
  startedAt: new Date(startedAt).toISOString(),
  isFirst,
});

/** Runs every second for an hour already, and was sent for all seconds but the last. */
const everySecond = (now: number) => {
  const second = Math.floor(now / 1000) * 1000;
  return aJob({
    schedule: every('rate(1 second)', second - HOUR),
    dueAt: second,
    generations: [{ id: 'g1', startedAt: second - HOUR }],
  });
};

test('a tick with nothing due ends the loop', async () => {
  expect(await handler(tickEvent())).toEqual({ isFirst: false, done: true, reason: 'nothing-due' });
});

test('a tick sends what falls due, and names the instant of the next tick as a whole second ahead', async () => {
  const now = Date.now();
  await deployed.jobs.put(everySecond(now));

  const answer = (await handler(tickEvent(now))) as Extract<SchedulerAnswer, { done: false }>;
  expect(answer).toMatchObject({ isFirst: false, done: false, reason: 'due-before-the-next-loop' });
  expect(answer.wakeAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(Date.parse(answer.wakeAt)).toBeGreaterThan(now);
  expect(await deployed.bodiesIn('JOB_ACTIVATION')).toContainEqual(
    expect.objectContaining({ jobId: 'report', origin: 'scheduled' }),
  );
  expect((await deployed.jobs.read('report'))?.dueAt).toBeGreaterThan(now);
});

test('a loop ends when a newer one has begun', async () => {
  const now = Date.now();
  await deployed.jobs.put(everySecond(now));
  await handler(tickEvent(now));
  expect(await handler(tickEvent(now - 60_000, false))).toEqual({ isFirst: false, done: true, reason: 'newer-loop' });
});

test('the first tick takes what lies in the dead-letter queue, and leaves what nobody can read', async () => {
  const activation = anActivation({ nominalAt: 0, dueAt: 0 });
  await deployed
    .queue('JOB_ACTIVATION_DEAD_LETTER')
    .send([{ body: JSON.stringify(activation) }, { body: 'no activation' }]);
  await handler(tickEvent());
  expect(await deployed.bodiesIn('JOB_ACTIVATION')).toEqual([{ ...activation, returns: 1 }]);
});

test('the daily rule makes it sweep', async () => {
  await deployed.jobs.put(aJob({ schedule: onceAt(Date.now() - 2 * HOUR) }));
  expect(await handler({ sweep: true })).toEqual({ sentAgain: 1 });
  expect(await deployed.bodiesIn('JOB_ACTIVATION')).toEqual([expect.objectContaining({ jobId: 'report' })]);
});

test.each([{}, { startedAt: 'yesterday', isFirst: true }, { startedAt: '2027-05-04T12:00:00Z', isFirst: 'true' }])(
  'the event %j is refused',
  async (event) => {
    await expect(handler(event as SchedulerEvent)).rejects.toThrow('the scheduler takes {');
  },
);
