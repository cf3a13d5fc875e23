import { anyEnd, ended } from '../account';
import { aJob, CALLED_BACK, type Scenarios } from './play';

/** Chains and batches. */
export const GROUPS: Scenarios = {
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
};
