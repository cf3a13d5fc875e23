import { NOTIFICATION_STATES } from '../../src/domain/notification';
import { statesSubscribedOfAll } from '../../src/operations/subscriptions';
import { jobText } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { Client } from './client';
import { containing, matching } from '../support/matchers';

let client: Client;
beforeEach(async () => {
  client = await Client.open();
  await client.post('/jobs', jobText({ jobId: 'nightly', schedule: 'rate(1 hour)' }));
});
afterEach(() => client.close());

const PATH = '/jobs/nightly/notifications';
const asked = (state: string) => JSON.stringify({ state, target: { functionArn: functionArn('notify-me') } });
const key = { 'idempotency-key': 'k-1' };
const subscribed = async () => (await client.ports.jobs.read('nightly'))!.subscribedStates;

test('a notification is created, listed and deleted, and a second deletion is no error', async () => {
  const created = await client.post(PATH, asked('DONE'));
  expect(created.status).toBe(201);
  expect(created.json).toEqual({
    notifyId: matching(/^[0-9a-f-]{36}$/),
    jobId: 'nightly',
    state: 'DONE',
    target: { functionArn: functionArn('notify-me') },
    createdAt: '2027-05-04T12:00:00.000Z',
  });
  const location = created.headers.get('location')!;
  expect(location).toBe(`${PATH}/${created.json.notifyId}`);
  expect((await client.send(PATH)).json).toEqual({ items: [created.json] });
  expect(await subscribed()).toEqual(['DONE']);

  for (let i = 0; i < 2; i++) {
    const deleted = await client.delete(location);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await client.send(PATH)).json).toEqual({ items: [] });
    expect(await subscribed()).toEqual([]);
  }
});

test('the same idempotency key makes one notification and gets the same answer, also after its deletion', async () => {
  const first = await client.post(PATH, asked('DONE'), key);
  const second = await client.post(PATH, asked('DONE'), key);
  expect([second.status, second.text]).toEqual([201, first.text]);
  expect((await client.send(PATH)).json.items).toHaveLength(1);
  await client.delete(`${PATH}/${first.json.notifyId}`);
  expect((await client.post(PATH, asked('DONE'), key)).text).toBe(first.text);
  expect((await client.send(PATH)).json.items).toEqual([]);
});

test('an idempotency key is refused for another notification', async () => {
  await client.post(PATH, asked('DONE'), key);
  const answer = await client.post(PATH, asked('FAILED'), key);
  expect(answer.status).toBe(422);
  expect(answer.json.errors).toEqual([
    { field: 'Idempotency-Key', message: containing('already used for another notification') },
  ]);
});

test('a notification deleted leaves its neighbours, and a state that one of them wants', async () => {
  const [done, again, failed] = [
    await client.post(PATH, asked('DONE')),
    await client.post(PATH, asked('DONE')),
    await client.post(PATH, asked('FAILED')),
  ];
  await client.delete(`${PATH}/${done.json.notifyId}`);
  expect(await subscribed()).toEqual(['DONE', 'FAILED']);
  await client.delete(`${PATH}/${failed.json.notifyId}`);
  expect(await subscribed()).toEqual(['DONE']);
  expect((await client.send(PATH)).json.items).toEqual([again.json]);
});

test('a deletion that died before the row was written is finished by the next', async () => {
  const { json } = await client.post(PATH, asked('DONE'));
  await client.ports.notifications.remove({ jobId: 'nightly', state: 'DONE', notifyId: json.notifyId });
  expect(await subscribed()).toEqual(['DONE']);
  expect((await client.delete(`${PATH}/${json.notifyId}`)).status).toBe(204);
  expect(await subscribed()).toEqual([]);
});

describe('of all jobs', () => {
  const ALL = '/jobs/*/notifications';
  const subscribedOfAll = async () => statesSubscribedOfAll(client.ports);

  test('a notification is created, listed and deleted, and a second deletion is no error', async () => {
    const created = await client.post(ALL, asked('FAILED'));
    expect([created.status, created.json]).toEqual([201, expect.objectContaining({ jobId: '*', state: 'FAILED' })]);
    const location = created.headers.get('location')!;
    expect(location).toBe(`${ALL}/${created.json.notifyId}`);
    expect((await client.send(ALL)).json).toEqual({ items: [created.json] });
    expect((await client.send(PATH)).json).toEqual({ items: [] });
    expect(await subscribedOfAll()).toEqual(['FAILED']);
    for (let i = 0; i < 2; i++) {
      expect((await client.delete(location)).status).toBe(204);
      expect((await client.send(ALL)).json).toEqual({ items: [] });
      expect(await subscribedOfAll()).toEqual([]);
    }
  });

  test.each(NOTIFICATION_STATES)('%s can be heard of', async (state) => {
    expect((await client.post(ALL, asked(state))).status).toBe(201);
    expect(await subscribedOfAll()).toEqual([state]);
  });

  test('the same idempotency key makes one notification, and is refused for another', async () => {
    const first = await client.post(ALL, asked('BATCH_DONE'), key);
    expect((await client.post(ALL, asked('BATCH_DONE'), key)).text).toBe(first.text);
    expect((await client.send(ALL)).json.items).toHaveLength(1);
    expect((await client.post(ALL, asked('BATCH_FAILED'), key)).status).toBe(422);
  });

  test('a notification deleted leaves its neighbours, and a state that one of them wants', async () => {
    const [done, again] = [await client.post(ALL, asked('DONE')), await client.post(ALL, asked('DONE'))];
    await client.post(ALL, asked('CHAIN_DONE'));
    await client.delete(`${ALL}/${done.json.notifyId}`);
    expect(await subscribedOfAll()).toEqual(['DONE', 'CHAIN_DONE']);
    await client.delete(`${ALL}/${again.json.notifyId}`);
    expect(await subscribedOfAll()).toEqual(['CHAIN_DONE']);
  });

  test('a deletion that died before the set was written is finished by the next', async () => {
    const { json } = await client.post(ALL, asked('DONE'));
    await client.ports.notifications.remove({ jobId: '*', state: 'DONE', notifyId: json.notifyId });
    expect(await subscribedOfAll()).toEqual(['DONE']);
    expect((await client.delete(`${ALL}/${json.notifyId}`)).status).toBe(204);
    expect(await subscribedOfAll()).toEqual([]);
  });

  test('whoever subscribes while the last subscriber of the same state leaves is heard', async () => {
    const { json } = await client.post(ALL, asked('DONE'));
    const { notifications } = client.ports;
    let isFirst = true;
    const of = notifications.of.bind(notifications);
    notifications.of = async (jobId, state) => {
      const found = await of(jobId, state);
      // Right after the leaving one saw that nobody is left, and before it writes so.
      if (isFirst && found.length === 0) {
        isFirst = false;
        await client.post(ALL, asked('DONE'));
      }
      return found;
    };
    await client.delete(`${ALL}/${json.notifyId}`);
    expect(isFirst).toBe(false);
    expect(await subscribedOfAll()).toEqual(['DONE']);
  });

  test('the states of chains and batches are none of one job', async () => {
    const { status, json } = await client.post(PATH, asked('CHAIN_FAILED'));
    expect([status, json.errors]).toEqual([
      400,
      [{ field: 'state', message: containing('got "CHAIN_FAILED": chains and batches tell their states to whoever') }],
    ]);
    expect(await subscribed()).toEqual([]);
  });
});
