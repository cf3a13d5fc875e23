import { setTimeout as wait } from 'node:timers/promises';
import type { Check } from './checks';
import { checkNoAttemptTwice, created, equal, finished, isTrue, SECOND, settled, target, until } from './looks';

/** What no consumer can read, for each queue that has one. JSON that is no command would be answered. */
const POISON: [queue: string, bodies: string[]][] = [
  ['RunningActivations', ['this is no JSON', '{ "version": 1 }']],
  ['NotifyingNotices', ['this is no JSON', '{ "version": 1 }']],
  ['CommandsJobCreate', ['this is no JSON']],
  ['CommandsJobDelete', ['this is no JSON']],
  ['CommandsNotifyCreate', ['this is no JSON']],
  ['CommandsNotifyDelete', ['this is no JSON']],
];

/** Deployed are five and ten: the runner hides what it left for a minute, the notifier for longer each time. */
const MAX_RECEIVES = 2;
/** Deployed are three minutes; a function that starts cold takes a few seconds. */
const COMMANDS_HIDDEN_SECONDS = 6;

/** Messages that cannot be read, and one that nobody takes. */
export const OF_MESSAGES: Check[] = [
  {
    title: 'what nobody can read ends in the dead letters of its queue, and its neighbours of the same batch are done',
    run: async (cloud) => {
      const queueOf = (name: string) => cloud.queueNamed(`${name}Queue`);
      const later = { target: target('job-hello'), delaySeconds: 600 };
      const notification = { state: 'DONE', target: target('notify-print') };
      for (const jobId of ['kept', 'removed']) await created(cloud, { jobId, ...later });
      await cloud.request('POST', '/jobs/kept/notifications', notification);

      // What lies in a queue when its mapping begins is one batch.
      for (const [name, bodies] of POISON) {
        const queue = await queueOf(name);
        await cloud.setMapping(queue, false);
        await cloud.setMaxReceives(queue, MAX_RECEIVES);
        if (name.startsWith('Commands')) await cloud.setVisibility(queue, COMMANDS_HIDDEN_SECONDS);
        for (const body of bodies) await cloud.send(queue, body);
      }
      await created(cloud, { jobId: 'beside', target: target('job-hello') });
      await cloud.request('POST', '/jobs/beside/notifications', notification);
      const commands: [name: string, replies: string, command: object][] = [
        ['CommandsJobCreate', 'CommandsJobCreated', { job: { jobId: 'by-queue', ...later } }],
        ['CommandsJobDelete', 'CommandsJobDeleted', { jobId: 'removed' }],
        ['CommandsNotifyCreate', 'CommandsNotifyCreated', { jobId: 'beside', notification }],
        ['CommandsNotifyDelete', 'CommandsNotifyDeleted', { jobId: 'kept' }],
      ];
      for (const [name, , command] of commands) {
        await cloud.send(await queueOf(name), { version: 1, requestId: `good-${name}`, ...command });
      }
      for (const [name] of POISON) {
        if (name !== 'NotifyingNotices') await cloud.setMapping(await queueOf(name), true);
      }

      for (const [name, replies] of commands) {
        const queue = await cloud.queueNamed(replies);
        const reply = await until(`an answer on ${replies}`, 60, () => cloud.reply(queue, `good-${name}`));
        equal(reply.ok, true, `ok on ${replies}`);
      }
      const { state, attempt } = await finished(cloud, 'beside');
      equal([state, attempt], ['DONE', 1], 'state and attempt');
      const notices = await queueOf('NotifyingNotices');
      await until(
        'the notice lies beside the poison',
        60,
        async () => (await cloud.countIn(notices)) >= 3 || undefined,
      );
      await cloud.setMapping(notices, true);
      await until('the news', 60, async () => {
        const lines = await cloud.log('notify-print');
        return lines.some(({ text }) => text.includes('news escapement.run.done of /jobs/beside')) || undefined;
      });

      for (const [name, { length }] of POISON) {
        const deadLetters = await cloud.queueNamed(`${name}DeadLetters`);
        await until(`the dead letters of ${name}`, 200, async () => {
          return (await cloud.countIn(deadLetters)) === length || undefined;
        });
      }
    },
  },
  {
    title: 'an activation that no runner took comes back from the dead letters, and runs once',
    run: async (cloud) => {
      const queue = await cloud.queueNamed('RunningHighActivationsQueue');
      await cloud.setMapping(queue, false);
      await cloud.setMaxReceives(queue, MAX_RECEIVES);
      await created(cloud, { jobId: 'untaken', target: target('job-hello'), priority: 'high' });
      await until('it is put aside', 30, async () => {
        await cloud.receiveInVain(queue);
        return (await cloud.countIn(queue)) === 0 || undefined;
      });
      await until('a first tick sends it again', 130, async () => (await cloud.countIn(queue)) === 1 || undefined);
      await cloud.setMapping(queue, true);
      const { state, attempt } = await finished(cloud, 'untaken');
      equal([state, attempt], ['DONE', 1], 'state and attempt');
      await checkNoAttemptTwice(cloud, 'untaken');
    },
  },
];

/** So long before it is due a recurring job rests in the index: creation itself sends what lies within 130 s. */
const IN_INDEX_SECONDS = 136;
/** A tick sends 15 s ahead; one that ends its loop, since nothing is due for two minutes, up to 10 s of what follows those. */
const OUT_BEFORE_DUE_SECONDS = 20;
const OUT_AFTER_DUE_SECONDS = 26;
const EVERY_SECONDS = 2;
const MOST_SENT_AHEAD = 8;

/** Of the loop. The job of the first goes on in the second. */
export const OF_LOOPS: Check[] = [
  {
    title: 'while its ticks fail and are refused a loop goes on, and what fell due meanwhile runs once or is recorded',
    run: async (cloud) => {
      const dueAt = (Math.ceil(Date.now() / SECOND / EVERY_SECONDS) * EVERY_SECONDS + IN_INDEX_SECONDS) * SECOND;
      const job = { target: target('job-hello'), schedule: `rate(${EVERY_SECONDS} seconds)`, start: iso(dueAt) };
      await created(cloud, { jobId: 'through', ...job });
      await created(cloud, { jobId: 'impatient', ...job, misfire: { graceSeconds: 5 } });
      await wait(dueAt - OUT_BEFORE_DUE_SECONDS * SECOND - Date.now());

      const scheduler = await cloud.functionName('Scheduler');
      const table = await cloud.setVariable(scheduler, 'JOBS_TABLE_NAME', 'no-such-table');
      await wait(dueAt - Date.now());
      await cloud.setThrottled(scheduler, true);
      await cloud.setVariable(scheduler, 'JOBS_TABLE_NAME', table);
      await wait(dueAt + OUT_AFTER_DUE_SECONDS * SECOND - Date.now());
      const sentAhead = (await cloud.runsOf('through')).length;
      await cloud.setThrottled(scheduler, false);
      const wellAt = Date.now();

      isTrue(sentAhead <= MOST_SENT_AHEAD, `${sentAhead} runs while no tick succeeded`);
      await until('a loop that failed ticks again', 60, async () => {
        return (await cloud.loops()).find(({ failures, hasRecovered }) => failures >= 3 && hasRecovered);
      });
      const range = { from: dueAt, to: wellAt, everySeconds: EVERY_SECONDS };
      for (const run of await settled(cloud, 'through', range)) {
        equal([run.state, run.attempt], ['DONE', 1], `state and attempt of the run of ${run.nominalAt}`);
      }
      const missed = (await settled(cloud, 'impatient', range)).filter(({ state }) => state === 'SKIPPED');
      equal([...new Set(missed.map(({ reason }) => reason))], ['misfire'], 'reasons of what was skipped');
      await checkNoAttemptTwice(cloud, 'through|impatient');
    },
  },
  {
    title: 'of loops that start at once and ticks that come late only the newest go on, and no run starts twice',
    run: async (cloud) => {
      const scheduler = await cloud.functionName('Scheduler');
      const from = Date.now();
      await Promise.all([1, 2, 3].map(() => cloud.startLoop()));
      const newest = Math.max(...(await cloud.loops()).map(({ startedAt }) => startedAt));
      const tick = (startedAt: number, isFirst: boolean) =>
        cloud.invoke(scheduler, { startedAt: iso(startedAt), isFirst });
      // Two more of the same instant, at once; then what comes late.
      await Promise.all([tick(newest, true), tick(newest, true)]);
      equal(await tick(newest - SECOND, false), { isFirst: false, done: true, reason: 'newer-loop' }, 'an older tick');
      equal(await tick(from - 200 * SECOND, true), { isFirst: false, done: true, reason: 'too-old' }, 'a late start');
      await until('all older loops have ended', 60, async () => {
        const running = (await cloud.loops()).filter(({ status }) => status === 'RUNNING');
        const last = Math.max(...running.map(({ startedAt }) => startedAt));
        return (running.length > 0 && running.every(({ startedAt }) => startedAt === last)) || undefined;
      });
      const runs = await settled(cloud, 'through', { from, to: Date.now(), everySeconds: EVERY_SECONDS });
      for (const run of runs) {
        equal([run.state, run.attempt], ['DONE', 1], `state and attempt of the run of ${run.nominalAt}`);
        isTrue(Date.parse(run.startedAt) >= Date.parse(run.nominalAt), `${run.startedAt} is before ${run.nominalAt}`);
      }
      await checkNoAttemptTwice(cloud, 'through|impatient');
    },
  },
];

/** Between two creations over HTTP, and between two by queue. */
const BETWEEN_CREATIONS_MS = 500;
/** What a runner had begun when it was ended waits for the end of its lease, which is a minute, and its message for the same. */
const CUT_OFF_SECONDS = 120;

interface NewJob {
  jobId: string;
  target: { functionArn: string };
}

/**
 * A change of the stack under load; `deploy` sets `tickSeconds` to 5. The emulator kills the processes of the functions that it
 * updates, in the middle of their work; on AWS they end it.
 */
export function whileDeployed(deploy: () => Promise<unknown>): Check {
  return {
    title:
      'a redeploy in the middle of a load loses nothing that was acknowledged, and no attempt calls its code twice',
    run: async (cloud) => {
      const acknowledged: string[] = [];
      let isDeploying = true;
      // One after the other: the emulator starts a process for each request that has to wait.
      const createWith = async (way: string, create: (job: NewJob) => Promise<void>) => {
        for (let number = 0; isDeploying; number++) {
          const jobId = `load-${way}-${number}`;
          // An API that is ended in the middle of a request acknowledges nothing.
          await create({ jobId, target: target('job-hello') }).then(
            () => acknowledged.push(jobId),
            () => {},
          );
          await wait(BETWEEN_CREATIONS_MS);
        }
      };
      const from = Date.now();
      await Promise.all([
        createWith('http', (job) => created(cloud, job)),
        createWith('queue', (job) => cloud.send('JobCreate', { version: 1, requestId: job.jobId, job })),
        deploy().finally(() => (isDeploying = false)),
      ]);
      const to = Date.now();
      equal(await cloud.variableOf(await cloud.functionName('Scheduler'), 'TICK_SECONDS'), '5', 'TICK_SECONDS');
      isTrue(acknowledged.length >= 10, `only ${acknowledged.length} jobs were created during the deployment`);

      await settled(cloud, 'each-second', { from, to, withinSeconds: CUT_OFF_SECONDS });
      const missing = new Set(acknowledged);
      await until('all that was acknowledged has run', CUT_OFF_SECONDS, async (isLast) => {
        for (const jobId of missing) {
          const [run] = await cloud.runsOf(jobId);
          if (run?.state === 'DONE') missing.delete(jobId);
        }
        if (isLast) equal([...missing], [], 'jobs without a run that is done');
        return missing.size === 0 || undefined;
      });
      await checkNoAttemptTwice(cloud, 'load-|each-second');
    },
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
