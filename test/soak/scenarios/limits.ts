import { ended } from '../account';
import { aJob, create, isOver, type Play, type Scenarios } from './play';

/** A recurring job that only triggers start: a one-off that waits for a place would need an hour of its retention left. */
async function triggered(play: Play, times: number, changes: object = {}) {
  const { id, client, account, over } = play;
  await create(
    play,
    aJob(id, { schedule: 'rate(1 day)', payload: { lastsMs: 30 }, ...changes }),
    ended(times, 'DONE', 1),
  );
  const answers = await Promise.all(Array.from({ length: times }, () => client.ask('POST', `/jobs/${id}/trigger`)));
  for (const { body } of answers) {
    const { runId } = body as { runId: string };
    await account.run(id, (run) => run.runId === runId && isOver(run), over);
  }
  await client.ask('DELETE', `/jobs/${id}`);
}

/** Keys, and what holds runs back. */
export const LIMITS: Scenarios = {
  unique: {
    weight: 2,
    jobs: 2,
    async play(play) {
      const { id, client, account, over, wait } = play;
      const unique = { key: `key-${play.chance.between(0, 1_000_000)}` };
      await create(play, aJob(`${id}-first`, { unique, delaySeconds: 1 }));
      await client.ask('POST', '/jobs', aJob(`${id}-refused`, { unique }), { statuses: [409] });
      await account.run(`${id}-first`, isOver, over);
      // The key is given back after the end was told.
      const statuses = [201, 409];
      for (;;) {
        const { status } = await client.ask('POST', '/jobs', aJob(`${id}-second`, { unique }), { statuses });
        if (status === 201) break;
        await wait(50);
      }
      account.expect(`${id}-second`, ended(1, 'DONE', 1));
    },
  },
  'two at a time': {
    weight: 1,
    jobs: 4,
    play: (play) => triggered(play, 4, { concurrency: { key: `two-${play.chance.between(1, 9)}`, limit: 2 } }),
  },
  'ten a second': {
    weight: 1,
    jobs: 4,
    play: (play) =>
      triggered(play, 4, { rateLimit: { key: `ten-${play.chance.between(1, 3)}`, limit: 10, perSeconds: 1 } }),
  },
  triggered: { weight: 1, jobs: 2, play: (play) => triggered(play, 2) },
};
