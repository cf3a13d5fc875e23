import type { NotificationStore } from '../../src/ports';
import { freshId, type Adapter } from './contract';
import { aNotification } from './rows';

export type NotificationStoreAdapter = Adapter & { store: NotificationStore };

export function describeNotificationStoreContract(
  name: string,
  makeAdapter: () => Promise<NotificationStoreAdapter>,
): void {
  describe(`the notification store contract, ${name}`, () => {
    let adapter: NotificationStoreAdapter;
    let store: NotificationStore;
    beforeAll(async () => {
      adapter = await makeAdapter();
      store = adapter.store;
    });
    afterAll(() => adapter.close());

    const ids = (notifications: { notifyId: string }[]): string[] =>
      notifications.map((notification) => notification.notifyId).sort();

    test('a job that nobody listens to has none', async () => {
      expect(await store.of(freshId('job'))).toEqual([]);
      expect(await store.of(freshId('job'), 'DONE')).toEqual([]);
    });

    test('a notification comes back as it was written', async () => {
      const notification = aNotification();
      await store.put(notification);
      expect(await store.of(notification.jobId)).toEqual([notification]);
      expect(await store.of(notification.jobId, 'DONE')).toEqual([notification]);
      expect(await store.of(notification.jobId, 'FAILED')).toEqual([]);
    });

    test('writing it again changes nothing more', async () => {
      const notification = aNotification();
      await store.put(notification);
      await store.put(notification);
      expect(await store.of(notification.jobId)).toEqual([notification]);
    });

    test('a state finds all that want it, and a job all of its own', async () => {
      const jobId = freshId('job');
      const done = Array.from({ length: 30 }, () => aNotification({ jobId, state: 'DONE' }));
      const failed = [aNotification({ jobId, state: 'FAILED' }), aNotification({ jobId, state: 'FAILED' })];
      const others = [aNotification({ jobId: `${jobId}1` }), aNotification({ jobId: jobId.slice(0, -1) })];
      await Promise.all([...done, ...failed, ...others].map((notification) => store.put(notification)));
      expect(ids(await store.of(jobId, 'DONE'))).toEqual(ids(done));
      expect(ids(await store.of(jobId, 'FAILED'))).toEqual(ids(failed));
      expect(ids(await store.of(jobId))).toEqual(ids([...done, ...failed]));
    });

    test('many of them come whole, beyond any page', async () => {
      const jobId = freshId('job');
      const functionArn = `arn:aws:lambda:eu-west-1:111122223333:function:${'f'.repeat(64)}`;
      const many = Array.from({ length: 300 }, () => aNotification({ jobId, functionArn }));
      await Promise.all(many.map((notification) => store.put(notification)));
      expect(ids(await store.of(jobId))).toEqual(ids(many));
    });

    test('a removed one is gone, its neighbours stay, and removing it again is no error', async () => {
      const jobId = freshId('job');
      const [one, other] = [aNotification({ jobId }), aNotification({ jobId })];
      const sameIdOtherState = { ...one, state: 'FAILED' as const };
      await Promise.all([one, other, sameIdOtherState].map((notification) => store.put(notification)));
      await store.remove(one);
      await store.remove(one);
      expect(ids(await store.of(jobId, 'DONE'))).toEqual([other.notifyId]);
      expect(await store.of(jobId, 'FAILED')).toEqual([sameIdOtherState]);
    });

    test('what was never there can be removed', async () => {
      await expect(store.remove(aNotification())).resolves.toBeUndefined();
    });
  });
}
