import { ended } from '../account';
import { aJob, create, isOver, TOLD, TRIES_TWO, type Scenarios } from './play';

/** Jobs of every kind that run by themselves. */
export const JOBS: Scenarios = {
  immediate: {
    weight: 20,
    jobs: 1,
    play: (play) => create(play, aJob(play.id, { payload: { lastsMs: play.chance.between(0, 20) } })),
  },
  delayed: {
    weight: 6,
    jobs: 1,
    play: (play) => create(play, aJob(play.id, { delaySeconds: play.chance.between(1, 5) })),
  },
  'high priority': { weight: 2, jobs: 1, play: (play) => create(play, aJob(play.id, { priority: 'high' })) },
  'second attempt': {
    weight: 4,
    jobs: 1,
    play: (play) => create(play, aJob(play.id, { payload: { fails: 1 }, retry: TRIES_TWO }), ended(1, 'DONE', 2)),
  },
  'three times': {
    weight: 3,
    jobs: 3,
    play: (play) => create(play, aJob(play.id, { schedule: 'rate(1 second)', maxRuns: 3 }), ended(3, 'DONE', 1)),
  },
  'many at once': {
    weight: 1,
    jobs: 10,
    async play({ id, client, account }) {
      const ids = Array.from({ length: 10 }, (_, index) => `${id}-${index}`);
      const { body } = await client.ask('POST', '/jobs/bulk', { jobs: ids.map((jobId) => aJob(jobId)) });
      const { created } = body as { created: number };
      if (created !== ids.length) throw new Error(`${created} of ${ids.length} were created`);
      for (const jobId of ids) account.expect(jobId, ended(1, 'DONE', 1));
    },
  },
  'through the queues': {
    weight: 2,
    jobs: 1,
    async play(play) {
      const { id, client, account, over } = play;
      await client.ask('POST', '/jobs', aJob(id), { headers: { prefer: 'respond-async' } });
      account.expect(id, ended(1, 'DONE', 1));
      await account.run(id, isOver, over);
      await client.ask('POST', '/queues/job-delete', { version: 1, requestId: `delete ${id}`, jobId: id });
    },
  },
  'asked twice': {
    weight: 1,
    jobs: 1,
    async play({ id, client, account }) {
      const headers = { 'idempotency-key': `key of ${id}` };
      const job = aJob(id, { delaySeconds: 1 });
      await Promise.all([client.ask('POST', '/jobs', job, { headers }), client.ask('POST', '/jobs', job, { headers })]);
      account.expect(id, ended(1, 'DONE', 1));
    },
  },
  heard: {
    weight: 3,
    jobs: 1,
    async play(play) {
      const { id, client, account, over } = play;
      await create(play, aJob(id, { delaySeconds: 2 }));
      for (const state of ['STARTED', 'DONE'] as const) {
        await client.ask('POST', `/jobs/${id}/notifications`, { state, target: TOLD });
        account.expectNotices(state, id);
      }
      await account.run(id, isOver, over);
      if (play.chance.isHit(0.5)) await client.ask('DELETE', `/jobs/${id}`);
    },
  },
};
