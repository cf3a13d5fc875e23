import { isFinal } from '../../src/domain/run';
import type { Chance } from '../simulation/chance';
import { functionArn } from '../support/builders';
import { anyEnd, ended, type Account, type Heard } from './account';
import type { Client } from './client';

/** What one scenario has to play with. Whatever it draws comes from `chance`, so that a seed plays the same again. */
export interface Play {
  /** begins the id of every job that it makes */
  id: string;
  chance: Chance;
  client: Client;
  account: Account;
  wait: (ms: number) => Promise<void>;
  /** aborts when nothing more is waited for */
  over: AbortSignal;
}

export interface Scenario {
  /** how often, beside the others */
  weight: number;
  /** jobs that it makes, by which the rate is kept; 0 for one that only looks */
  jobs: number;
  play: (play: Play) => Promise<void>;
}

const TARGET = { functionArn: functionArn('soak-job') };
const CALLED_BACK = { functionArn: functionArn('soak-callback') };
export const TOLD = { functionArn: functionArn('soak-notice') };
const TRIES_TWO = { maxAttempts: 2, backoff: { kind: 'fixed', seconds: 1 } };
const TRIES_ONE = { maxAttempts: 1, backoff: { kind: 'fixed', seconds: 1 } };
/** A chain or batch is kept for as long as its jobs might take, beyond its retention: that has to be seconds too. */
const TIMEOUT_SECONDS = 5;

export function aJob(jobId: string, changes: object = {}) {
  return { jobId, target: TARGET, timeoutSeconds: TIMEOUT_SECONDS, retry: TRIES_ONE, ...changes };
}

/** It is given up after so long without a sign of life, and kept for so much longer. */
const AWAITED = { completion: 'callback', heartbeatSeconds: 10 };

const isOver = ({ state }: Heard) => isFinal(state);

async function create({ client, account }: Play, job: { jobId: string }, expectation = ended(1, 'DONE', 1)) {
  await client.ask('POST', '/jobs', job);
  account.expect(job.jobId, expectation);
}

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

/** Fails for good, and answers the run that did. */
async function failedRun(play: Play): Promise<Heard> {
  const { id, account, over } = play;
  await create(play, aJob(id, { payload: { fails: 2 }, retry: TRIES_TWO }), ended(1, 'FAILED', 2));
  return account.run(id, ({ state }) => state === 'FAILED', over);
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
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
  chain: {
    weight: 2,
    jobs: 3,
    async play({ id, client, account }) {
      const ids = ['a', 'b', 'c'].map((step) => `${id}-${step}`);
      await client.ask('POST', '/chains', { name: id, jobs: ids.map((jobId) => aJob(jobId)) });
      for (const jobId of ids) account.expect(jobId, ended(1, 'DONE', 1));
    },
  },
  'broken chain': {
    weight: 1,
    jobs: 3,
    async play({ id, client, account }) {
      const [a, b, c] = ['a', 'b', 'c'].map((step) => `${id}-${step}`) as [string, string, string];
      const jobs = [aJob(a), aJob(b, { payload: { fails: 1 } }), aJob(c)];
      const { body } = await client.ask('POST', '/chains', { name: id, jobs, catch: CALLED_BACK });
      account.expect(a, ended(1, 'DONE', 1));
      account.expect(b, ended(1, 'FAILED', 1));
      account.expect(c, ended(1, 'SKIPPED', 0));
      account.expectCallback((body as { chainId: string }).chainId, 'first-failure');
    },
  },
  batch: {
    weight: 2,
    jobs: 4,
    async play({ id, client, account }) {
      const ids = [0, 1, 2, 3].map((index) => `${id}-${index}`);
      const jobs = ids.map((jobId) => aJob(jobId));
      const { body } = await client.ask('POST', '/batches', {
        name: id,
        jobs,
        then: CALLED_BACK,
        finally: CALLED_BACK,
      });
      const { batchId } = body as { batchId: string };
      for (const jobId of ids) account.expect(jobId, ended(1, 'DONE', 1));
      for (const reason of ['all-done', 'all-over']) account.expectCallback(batchId, reason);
    },
  },
  'batch that allows failures': {
    weight: 1,
    jobs: 3,
    async play({ id, client, account }) {
      const ids = [0, 1, 2].map((index) => `${id}-${index}`);
      const jobs = ids.map((jobId, index) => aJob(jobId, { payload: { fails: index === 1 ? 1 : 0 } }));
      const batch = { name: id, jobs, allowFailures: true, catch: CALLED_BACK, finally: CALLED_BACK };
      const { batchId } = (await client.ask('POST', '/batches', batch)).body as { batchId: string };
      ids.forEach((jobId, index) => account.expect(jobId, ended(1, index === 1 ? 'FAILED' : 'DONE', 1)));
      for (const reason of ['first-failure', 'all-over']) account.expectCallback(batchId, reason);
    },
  },
  'batch taken back': {
    weight: 1,
    jobs: 3,
    async play({ id, client, account }) {
      const ids = [0, 1, 2].map((index) => `${id}-${index}`);
      const jobs = ids.map((jobId) => aJob(jobId, { delaySeconds: 4 }));
      const { body } = await client.ask('POST', '/batches', { name: id, jobs, finally: CALLED_BACK });
      const { batchId } = body as { batchId: string };
      for (const jobId of ids) account.expect(jobId, anyEnd);
      await client.ask('POST', `/batches/${batchId}/cancel`);
      for (const jobId of ids) account.expect(jobId, ended(1, 'SKIPPED', 0));
      account.expectCallback(batchId, 'all-over');
    },
  },
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
  'three times': {
    weight: 3,
    jobs: 3,
    play: (play) => create(play, aJob(play.id, { schedule: 'rate(1 second)', maxRuns: 3 }), ended(3, 'DONE', 1)),
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
