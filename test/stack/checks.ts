import { setTimeout as wait } from 'node:timers/promises';
import type { Cloud } from './cloud';
import {
  callsOf,
  checkNoAttemptTwice,
  created,
  equal,
  finished,
  isTrue,
  SECOND,
  settled,
  target,
  until,
} from './looks';

/** What is checked, in the words that are printed; throws with what is wrong. */
export interface Check {
  title: string;
  run: (cloud: Cloud) => Promise<void>;
}

/** While nothing is due: what goes through the queues alone, and what an idle minute costs. */
export const WHILE_IDLE: Check[] = [
  {
    title: 'the rule starts the loop each minute, and with nothing due a loop ticks once',
    run: async (cloud) => {
      const loop = await until('a loop ends', 130, async () => {
        return (await cloud.loops()).find(({ status }) => status === 'SUCCEEDED');
      });
      equal(loop.ticks, 1, 'ticks of an idle loop');
    },
  },
  {
    title: 'an immediate job created over HTTP runs, and its result is in its run',
    run: async (cloud) => {
      await created(cloud, { jobId: 'at-once', target: target('job-hello'), payload: { order: 7 } });
      const run = await finished(cloud, 'at-once');
      equal(run.state, 'DONE', 'state');
      equal(run.result, { hello: 'at-once' }, 'result');
    },
  },
  {
    title: 'a delayed job starts at its second and never before it',
    run: async (cloud) => {
      await created(cloud, { jobId: 'delayed', target: target('job-hello'), delaySeconds: 6 });
      const run = await finished(cloud, 'delayed');
      isTrue(Date.parse(run.startedAt) >= Date.parse(run.dueAt), `started ${run.startedAt}, due ${run.dueAt}`);
    },
  },
  {
    title: 'a job created by a message on job-create is answered on job-created, and runs',
    run: async (cloud) => {
      const job = { jobId: 'by-queue', target: target('job-hello') };
      await cloud.send('JobCreate', { version: 1, requestId: 'stack-1', job });
      const reply = await until('a reply', 60, () => cloud.reply('JobCreated', 'stack-1'));
      equal([reply.ok, reply.jobId], [true, 'by-queue'], 'the reply');
      equal((await finished(cloud, 'by-queue')).state, 'DONE', 'state');
    },
  },
  {
    title: 'a notification arrives',
    run: async (cloud) => {
      await created(cloud, { jobId: 'told', target: target('job-hello'), delaySeconds: 8 });
      const answer = await cloud.request('POST', '/jobs/told/notifications', {
        state: 'DONE',
        target: target('notify-print'),
      });
      equal(answer.status, 201, 'status');
      await until('the news', 60, async () => {
        const lines = await cloud.log('notify-print');
        return lines.some(({ text }) => text.includes('news escapement.run.done of /jobs/told')) || undefined;
      });
    },
  },
  {
    title: 'deletion removes everything, and answers on job-deleted and notify-deleted',
    run: async (cloud) => {
      await created(cloud, { jobId: 'gone', target: target('job-hello'), delaySeconds: 600 });
      await cloud.request('POST', '/jobs/gone/notifications', { state: 'DONE', target: target('notify-print') });
      await cloud.send('JobDelete', { version: 1, requestId: 'stack-2', jobId: 'gone' });
      equal((await until('a reply', 60, () => cloud.reply('JobDeleted', 'stack-2'))).ok, true, 'ok on job-deleted');
      equal(
        (await until('a reply', 60, () => cloud.reply('NotifyDeleted', 'stack-2'))).ok,
        true,
        'ok on notify-deleted',
      );
      equal((await cloud.request('GET', '/jobs/gone')).status, 404, 'status of the job');
    },
  },
  {
    title: 'a job that fails is tried again',
    run: async (cloud) => {
      await created(cloud, { jobId: 'flaky', target: target('job-flaky'), retry: quickly(2) });
      const run = await finished(cloud, 'flaky');
      equal([run.state, run.attempt], ['DONE', 2], 'state and attempt');
    },
  },
  {
    title: 'a job that always fails lands among the failed runs, with its error',
    run: async (cloud) => {
      await created(cloud, {
        jobId: 'failing',
        target: target('job-fails'),
        retry: quickly(2),
        payload: { keep: 'me' },
      });
      const run = await finished(cloud, 'failing');
      equal([run.state, run.attempt, run.reason], ['FAILED', 2, 'out-of-attempts'], 'state, attempt and reason');
      equal(run.error.message, 'this job fails on purpose', 'error');
      const failed = await cloud.request('GET', '/failed?job=failing');
      equal(
        failed.json.items.map(({ runId }) => runId),
        [run.runId],
        'the failed runs of the job',
      );
    },
  },
  {
    title: 'a request without a signature is refused, and health is open',
    run: async (cloud) => {
      equal((await cloud.requestUnsigned('GET', '/jobs')).status, 403, 'status of /jobs');
      equal((await cloud.requestUnsigned('GET', '/health')).status, 200, 'status of /health');
    },
  },
  {
    title: 'a function outside the allow-list is refused',
    run: async (cloud) => {
      const answer = await cloud.request('POST', '/jobs', { target: target('team-of-others') });
      equal(answer.status, 400, 'status');
      equal(answer.json.errors[0]?.field, 'target.functionArn', 'the field');
    },
  },
  {
    title: 'a message that is no JSON ends in the dead-letter queue while its neighbours are answered',
    run: async (cloud) => {
      // Five deliveries of three minutes each are longer than this test; a function that starts cold takes a few seconds.
      await cloud.setVisibility('JobCreate', 6);
      const job = { jobId: 'neighbour', target: target('job-hello') };
      await cloud.send('JobCreate', 'this is no JSON');
      await cloud.send('JobCreate', { version: 1, requestId: 'stack-3', job });
      equal((await until('a reply', 60, () => cloud.reply('JobCreated', 'stack-3'))).ok, true, 'ok of the neighbour');
      const deadLetters = (await cloud.queueNames()).find((name) => name.includes('JobCreateDeadLetters'))!;
      await until('a dead letter', 90, async () => {
        const { ApproximateNumberOfMessages: count } = await cloud.attributesOf(deadLetters);
        return count === '1' || undefined;
      });
    },
  },
];

/** Of the app in examples/stack/construct-app.ts. */
export const OF_THE_CONSTRUCT: Check[] = [
  {
    title: 'jobs and notifications that an app adds by the construct are there, run, and tell',
    run: async (cloud) => {
      const { json } = await cloud.request('GET', '/jobs');
      const schedules = json.items.map(({ schedule }) => schedule).sort();
      equal(schedules, ['cron(0 3 * * ? *)', 'rate(1 minute)'], 'schedules of the jobs');
      const runs = await until('a run of the job of each minute', 100, async () => {
        const done = (await cloud.runsOf('often')).filter(({ state }) => state === 'DONE');
        return done.length > 0 ? done : undefined;
      });
      equal(runs[0]!.result, { hello: 'often' }, 'result');
      await until('the news', 60, async () => {
        const lines = await cloud.log('notifyprint');
        return lines.some(({ text }) => text.includes('news escapement.run.done of /jobs/often')) || undefined;
      });
    },
  },
];

const LIVING_SECONDS = 120;

/** A job of every second lives for two minutes, while two loops run at once. It goes on in what follows. */
export const WHILE_BUSY: Check[] = [
  {
    title: `a job of every second runs at each of its seconds for ${LIVING_SECONDS} s, also while two loops run at once`,
    run: async (cloud) => {
      await created(cloud, { jobId: 'each-second', target: target('job-hello'), schedule: 'rate(1 second)' });
      const from = Date.now();
      await wait(40 * SECOND);
      await cloud.startLoop();
      await wait((LIVING_SECONDS - 40) * SECOND);
      const to = Date.now();
      const runs = await settled(cloud, 'each-second', { from: from + 2 * SECOND, to: to - 5 * SECOND });
      for (const run of runs) {
        equal([run.state, run.attempt], ['DONE', 1], `state and attempt of the run of ${run.nominalAt}`);
        isTrue(Date.parse(run.startedAt) >= Date.parse(run.nominalAt), `${run.startedAt} is before ${run.nominalAt}`);
      }
      await checkNoAttemptTwice(cloud, 'each-second');
    },
  },
];

/** Beside the deployment that follows. */
export const WHILE_DEPLOYED: Check[] = [
  {
    title: 'while it lives a loop ticks several times',
    run: async (cloud) => {
      // The first two minutes went out when the job was created; from then on each tick sends what the next seconds need.
      await until('a loop of three ticks', 100, async () => {
        return (await cloud.loops()).find(({ ticks }) => ticks >= 3);
      });
    },
  },
];

export const ONCE_DELETED: Check[] = [
  {
    title: 'a job that was deleted starts nothing more',
    run: async (cloud) => {
      equal((await cloud.request('DELETE', '/jobs/each-second')).status, 204, 'status');
      const before = (await callsOf(cloud, 'each-second')).size;
      await wait(6 * SECOND);
      const after = (await callsOf(cloud, 'each-second')).size;
      // What had begun when it was deleted may still be told of.
      isTrue(after - before <= 2, `${after - before} calls after the deletion`);
    },
  },
];

const quickly = (maxAttempts: number) => ({ maxAttempts, backoff: { kind: 'fixed', seconds: 1 } });
