import { runActivations } from '../../src/operations/run-activation';
import { completeRun } from '../../src/operations/complete-run';
import { scheduledRunIdOf } from '../../src/domain/activation';
import { cancelRun } from '../../src/operations/cancel-run';
import { createJob } from '../../src/operations/create-job';
import { deleteJob } from '../../src/operations/delete-job';
import { editJob } from '../../src/operations/edit-job';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { readJob } from '../../src/operations/read-job';
import type { InvokeOutcome, ReceivedMessage } from '../../src/ports';
import { MINUTE, NOON, SECOND } from '../support/builders';
import { ok } from '../support/groups';
import { aRequest, rate, World, type Code } from '../support/world';

/** Jobs that come one after another under the same id, or change while a message of theirs is on its way. */
let world: World;
const open = async (code: Record<string, Code> = { 'job-report': ok, 'job-other': ok }) => {
  world = await World.open({ code });
};
afterEach(() => world.close());

const create = (requestId: string, changes: Parameters<typeof aRequest>[0] = {}) =>
  createJob(requestId, aRequest({ jobId: 'a', ...changes }), world.ports);
const states = async () =>
  (await world.runsOf('a')).map(({ nominalAt, state, reason }) => [(nominalAt - NOON) / SECOND, state, reason]);
/** Takes everything that is there, as a queue would that holds it back. */
const heldBack = (): Promise<ReceivedMessage[]> => world.ports.activations.receive(10);
const comesLate = (messages: readonly ReceivedMessage[]) => world.untilOver(runActivations(messages, world.ports));
const failsOnce: Code = ({ event }) => {
  if (event['attempt'] === 1) throw new Error('not yet');
};
const waits = { maxAttempts: 3, backoff: { kind: 'fixed' as const, seconds: 30 }, jitter: 'none' as const };

test('an occurrence whose message comes after its job was created anew has a record of why it did not run', async () => {
  await open();
  await create('first', { schedule: rate('rate(1 minute)') });
  await world.clock.advanceTo(NOON + MINUTE);
  const late = await heldBack();
  await world.clock.advance(10 * SECOND);
  await deleteJob('d', 'a', world.ports);
  await create('second', { schedule: rate('rate(1 hour)') });
  await comesLate(late);
  expect(await states()).toEqual([[60, 'SKIPPED', 'deleted']]);
});

test('what a job names itself is its own to run, whatever one of the same id before it has sent', async () => {
  await open();
  await create('first', { schedule: rate('rate(1 minute)') });
  await world.clock.advanceTo(NOON + 30 * SECOND);
  await deleteJob('d', 'a', world.ports);
  await create('second', { schedule: { kind: 'expression', expression: '* * * * *', timezone: 'UTC' } });
  world.start();
  await world.clock.advanceTo(NOON + 90 * SECOND);
  expect(await states()).toEqual([[60, 'DONE', undefined]]);
  expect(world.calls).toHaveLength(1);
});

test('a run of a deleted job goes by that job, and gives back nothing of the one that was created since', async () => {
  await open();
  const engine = world.start();
  await create('first', { completion: 'callback', retry: waits });
  await world.clock.advance(SECOND);
  const [{ runId, completionToken } = { runId: '', completionToken: '' }] = await world.runsOf('a');
  await deleteJob('d', 'a', world.ports);
  const unique = { key: 'k', forSeconds: 3_600, until: 'done' as const };
  await create('second', {
    unique,
    schedule: { kind: 'delay', delaySeconds: 600 },
    retry: { ...waits, maxAttempts: 1 },
  });
  await world.stop(engine);

  const failure = { kind: 'failed', error: { type: 'Partner', message: 'no' } } as const;
  // One attempt is all that the new job allows, and three the old one.
  expect(await completeRun('a', runId, completionToken!, failure, world.ports)).toMatchObject({ state: 'RELEASED' });
  await expect(create('third', { jobId: 'b', unique })).rejects.toThrow('job a holds the unique key "k"');
});

test('a run that was held back until an edit came, and begins by its message, goes on under the edit', async () => {
  await open({ 'job-report': ok, 'job-other': failsOnce });
  const invoke = () => Promise.resolve<InvokeOutcome>({ kind: 'held-back', reason: 'throttled', message: '' });
  await create('c', { retry: waits });
  await world.untilOver(runActivations(await heldBack(), { ...world.ports, invoker: { invoke } }));
  await world.clock.advance(20 * SECOND);
  await heldBack();
  await editJob('a', { functionArn: aRequest({ code: 'job-other' }).functionArn }, undefined, world.ports);
  await comesLate(await heldBack());
  await world.clock.advance(31 * SECOND);
  await comesLate(await heldBack());
  expect(world.calls.map(({ functionName }) => functionName)).toEqual(['job-other', 'job-other']);
});

test('what has begun goes on under its own definition, whichever message leads to it', async () => {
  await open({ 'job-report': ok, 'job-other': failsOnce });
  await create('c', { schedule: { kind: 'delay', delaySeconds: 60 }, retry: waits });
  await world.clock.advanceTo(NOON + MINUTE);
  const ofFirst = await heldBack();
  await editJob('a', { functionArn: aRequest({ code: 'job-other' }).functionArn }, undefined, world.ports);
  const ofEdit = await heldBack();
  await comesLate(ofEdit);
  await world.ports.activations.remove((await heldBack()).map(({ receipt }) => receipt));
  await world.clock.advance(40 * SECOND);
  await comesLate(ofFirst);
  expect(world.calls.map(({ functionName }) => functionName)).toEqual(['job-other', 'job-other']);
  expect(await states()).toEqual([[60, 'DONE', undefined]]);
});

describe('a job that is created anew for the instant at which the run of the one before it was taken back', () => {
  const atInstant = { kind: 'expression' as const, expression: 'at(2027-05-04T12:05:00)', timezone: 'UTC' };
  const createTwice = async () => {
    await create('first', { schedule: atInstant });
    await cancelRun('a', scheduledRunIdOf('a', NOON + 5 * MINUTE), {}, world.ports);
    await deleteJob('d', 'a', world.ports);
    await create('second', { schedule: atInstant });
  };

  test('runs', async () => {
    await open();
    await createTwice();
    world.start();
    await world.clock.advance(10 * MINUTE);
    expect(await states()).toEqual([[300, 'DONE', undefined]]);
    expect(world.calls).toHaveLength(1);
  });

  test('has not begun before', async () => {
    await open();
    await createTwice();
    expect(await readJob('a', world.ports)).toMatchObject({ state: 'ACTIVE', nextRunAt: NOON + 5 * MINUTE });
    await pauseJob('a', {}, world.ports);
    await editJob('a', { name: 'later' }, undefined, world.ports);
    await resumeJob('a', world.ports);
    world.start();
    await world.clock.advance(10 * MINUTE);
    expect(await states()).toEqual([[300, 'DONE', undefined]]);
  });
});
