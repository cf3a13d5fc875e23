import { anyEnd, ended, type Heard } from '../account';
import { aJob, create, TRIES_TWO, type Play, type Scenarios } from './play';

/** It is given up after so long without a sign of life, and kept for so much longer. */
const AWAITED = { completion: 'callback', heartbeatSeconds: 10 };

/** What people do to jobs and runs, and the lists that they look at. */
export const PEOPLE: Scenarios = {
  cancelled: {
    weight: 2,
    jobs: 1,
    async play(play) {
      const { id, client, account, over } = play;
      await create(play, aJob(id, { delaySeconds: 4 }));
      const { runId } = await account.run(id, () => true, over);
      await client.ask('POST', `/jobs/${id}/runs/${runId}/cancel`, { reason: 'no need' });
      account.expect(id, ended(1, 'CANCELLED', 0));
    },
  },
  'cancelled at work': {
    weight: 1,
    jobs: 1,
    async play(play) {
      const { id, client, account, over } = play;
      await create(play, aJob(id, AWAITED), ended(1, 'CANCELLED', 1));
      const run = await account.run(id, (one) => account.tokenOf(one) !== undefined, over);
      await client.ask('POST', `/jobs/${id}/runs/${run.runId}/cancel`);
      await complete(play, run, 'complete');
    },
  },
  'completed by callback': {
    weight: 3,
    jobs: 1,
    async play(play) {
      const { id, account, over } = play;
      await create(play, aJob(id, { ...AWAITED, retry: TRIES_TWO }), ended(1, 'DONE', 2));
      const first = await account.run(id, (run) => account.tokenOf(run) !== undefined, over);
      await complete(play, first, 'heartbeat');
      await complete(play, first, 'fail', { error: { message: 'the first time' } });
      const second = await account.run(id, (run) => run.attempt === 2 && account.tokenOf(run) !== undefined, over);
      await complete(play, second, 'complete', { result: { rows: 3 } });
    },
  },
  paused: {
    weight: 2,
    jobs: 1,
    async play(play) {
      const { id, client, wait } = play;
      await create(play, aJob(id, { delaySeconds: play.chance.between(1, 3) }));
      await client.ask('POST', `/jobs/${id}/pause`, { reason: 'the database moves', by: 'ops' });
      await wait(play.chance.between(0, 4_000));
      await client.ask('POST', `/jobs/${id}/resume`);
    },
  },
  edited: {
    weight: 2,
    jobs: 1,
    async play(play) {
      const { id, client } = play;
      await create(play, aJob(id, { delaySeconds: 5 }));
      await client.ask('PATCH', `/jobs/${id}`, { name: 'edited', payload: { lastsMs: 5 } });
    },
  },
  deleted: {
    weight: 3,
    jobs: 1,
    async play(play) {
      const { id, client, account } = play;
      await create(play, aJob(id, { delaySeconds: 3 }), anyEnd);
      await client.ask('DELETE', `/jobs/${id}`);
      account.expect(id, ended(1, 'SKIPPED', 0));
      await client.ask('GET', `/jobs/${id}`, undefined, { statuses: [404] });
    },
  },
  pages: {
    weight: 4,
    jobs: 0,
    async play({ client, chance }) {
      const list = chance.pick(['/jobs?limit=50', '/failed?limit=20', '/chains?limit=20', '/batches?limit=20']);
      let cursor: string | undefined;
      for (let page = 0; page < 3; page++) {
        const { body } = await client.ask(
          'GET',
          cursor === undefined ? list : `${list}&cursor=${encodeURIComponent(cursor)}`,
        );
        ({ cursor } = body);
        if (cursor === undefined) break;
      }
    },
  },
};

async function complete({ id, client, account }: Play, run: Heard, action: string, body: object = {}): Promise<void> {
  await client.ask('POST', `/jobs/${id}/runs/${run.runId}/${action}`, { token: account.tokenOf(run), ...body });
}
