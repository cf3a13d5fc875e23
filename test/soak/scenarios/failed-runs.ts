import { ended, type Heard } from '../account';
import { aJob, create, TRIES_TWO, type Play, type Scenarios } from './play';

/** Fails for good, and answers the run that did. */
async function failedRun(play: Play): Promise<Heard> {
  const { id, account, over } = play;
  await create(play, aJob(id, { payload: { fails: 2 }, retry: TRIES_TWO }), ended(1, 'FAILED', 2));
  return account.run(id, ({ state }) => state === 'FAILED', over);
}

/** Runs that were given up, and what a person does to them. */
export const FAILED_RUNS: Scenarios = {
  'failed and left': {
    weight: 1,
    jobs: 1,
    play: async (play) => {
      await failedRun(play);
    },
  },
  'failed and retried': {
    weight: 1,
    jobs: 1,
    async play(play) {
      const { runId } = await failedRun(play);
      await play.client.ask('POST', `/failed/${play.id}/${runId}/retry`);
      play.account.expect(play.id, ended(1, 'DONE', 3));
    },
  },
  'failed and retried with others': {
    weight: 1,
    jobs: 1,
    async play(play) {
      await failedRun(play);
      await play.client.ask('POST', '/failed/retry', { job: play.id });
      play.account.expect(play.id, ended(1, 'DONE', 3));
    },
  },
  'failed and forgotten': {
    weight: 1,
    jobs: 1,
    async play(play) {
      const { runId } = await failedRun(play);
      await play.client.ask('DELETE', `/failed/${play.id}/${runId}`);
      await play.client.ask('GET', `/failed/${play.id}/${runId}`, undefined, { statuses: [404] });
    },
  },
  'failed and flushed': {
    weight: 1,
    jobs: 1,
    async play(play) {
      await failedRun(play);
      const { body } = await play.client.ask('DELETE', `/failed?job=${play.id}`);
      const { forgotten } = body as { forgotten: number };
      if (forgotten !== 1) throw new Error(`${forgotten} runs were flushed, and one had failed`);
    },
  },
};
