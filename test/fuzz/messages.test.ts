import fc from 'fast-check';
import { answerCommands } from '../../lambdas/commands';
import { currentGeneration } from '../../src/domain/job';
import { parseActivation } from '../../src/messages/activation';
import { parseNotice } from '../../src/messages/notice';
import { parsePartWork } from '../../src/messages/part-work';
import type { Reply } from '../../src/messages/commands';
import { REPLY_OF } from '../../src/operations/answer-command';
import { deliverNotices } from '../../src/operations/deliver-notices';
import { runActivations } from '../../src/operations/run-activation';
import { tick } from '../../src/operations/tick';
import type { CommandName, Queue, ReceivedMessage } from '../../src/ports';
import { sqsEvent } from '../lambdas/recorded-events';
import { functionArn, NOON } from '../support/builders';
import { runs } from '../support/property-runs';
import { check } from './check';
import { Inputs } from './inputs';
import { textOf, treeOf, type Tree } from './json-tree';
import { expectGoesOn } from './http-rules';
import { mutated } from './odd-json';
import { JOBS } from './requests';
import { StandingWorld } from './standing-world';

const inputs = new Inputs();
const LONG_MS = 1_800_000;
const BATCH = 9;

/** Texts much like one of these, some of them cut off. */
function oddTexts(valid: readonly object[]): fc.Arbitrary<string> {
  const cut = fc.option(fc.nat(200), { freq: 12, nil: undefined });
  return fc
    .tuple(mutated(valid.map(treeOf) as [Tree, ...Tree[]]), cut)
    .map(([tree, at]) => (at === undefined ? textOf(tree) : textOf(tree).slice(0, at)).toWellFormed());
}

const batchOf = (texts: fc.Arbitrary<string>) => fc.array(texts, { minLength: 1, maxLength: BATCH, size: 'max' });
const batchesOf = (texts: fc.Arbitrary<string>) =>
  fc.array(batchOf(texts), { minLength: 1, maxLength: 30, size: 'max' });

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function inWorld(work: (world: StandingWorld) => Promise<void>): Promise<void> {
  const world = await StandingWorld.open();
  try {
    await work(world);
    await expectGoesOn(world);
  } finally {
    await world.close();
  }
}

describe('commands', () => {
  const head = { version: 1, requestId: 'r-1' };
  const notification = { state: 'DONE', target: { functionArn: functionArn('notify-me') } };
  const valid: Record<CommandName, readonly object[]> = {
    'job-create': JOBS.map((job) => ({ ...head, job })),
    'job-delete': [{ ...head, jobId: 'standing' }],
    'notify-create': [{ ...head, jobId: 'standing', notification }],
    'notify-delete': [
      { ...head, jobId: 'standing' },
      { ...head, jobId: '*', notifyId: 'x', lifeId: 'y' },
    ],
  };

  test.each(Object.entries(valid) as [CommandName, object[]][])(
    '%s: what can be read is answered, what cannot comes again, and neither harms its neighbour',
    async (name, bodies) => {
      const property = fc.asyncProperty(batchesOf(oddTexts(bodies)), (batches) =>
        inWorld(async ({ client: { ports, world } }) => {
          for (const [batch, texts] of batches.entries()) {
            inputs.count('commands', texts.length);
            const good = JSON.stringify({ ...valid[name][0], requestId: `good-${batch}` });
            const left = await world.untilOver(answerCommands(name, sqsEvent(...texts, good), ports));
            const unreadable = texts.flatMap((text, i) => (isJson(text) ? [] : [{ itemIdentifier: `m${i}` }]));
            expect(left.batchItemFailures).toEqual(unreadable);
            const replies = (await taken(ports.replies[REPLY_OF[name]])).map((body) => JSON.parse(body) as Reply);
            for (const { version, ok, errors = [] } of replies) {
              expect([version, ok]).toEqual([1, errors.length === 0]);
              expect(errors.filter(({ field, message }) => !field || !message)).toEqual([]);
            }
            const answered = replies.filter(({ requestId }) => requestId === `good-${batch}`);
            if (name !== 'job-create' && name !== 'job-delete') expect(answered.length).toBeGreaterThan(0);
            else expect(answered).toHaveLength(1);
          }
        }),
      );
      await check(property, runs(6));
    },
    LONG_MS,
  );
});

/** The bodies of what lies in a queue, which is empty then. */
async function taken(queue: Queue): Promise<string[]> {
  const all: string[] = [];
  for (let some = await queue.receive(10); some.length > 0; some = await queue.receive(10)) {
    all.push(...some.map(({ body }) => body));
    await queue.remove(some.map(({ receipt }) => receipt));
  }
  return all;
}

const received = (bodies: readonly string[], sentAt: number): ReceivedMessage[] =>
  bodies.map((body, i) => ({ messageId: `m${i}`, receipt: `r${i}`, body, receives: 1, sentAt }));

/** `:generation` stands for that of the job "hourly". */
const filledIn = async (texts: readonly string[], { client }: StandingWorld) => {
  const { id } = currentGeneration((await client.ports.jobs.read('hourly'))!)!;
  return texts.map((text) => text.replaceAll(':generation', id));
};

const activation = {
  version: 1,
  jobId: 'hourly',
  generation: ':generation',
  origin: 'scheduled',
  nominalAt: NOON,
  dueAt: NOON,
  sequence: 1,
};
const ACTIVATIONS = [
  activation,
  { ...activation, origin: 'manual', sequence: 3, waits: 2, isQueued: true, returns: 3, waitingSince: NOON },
  { ...activation, origin: 'backfill', priority: 'high', previous: { jobId: 'standing', runId: 'x' }, returns: 9 },
  { ...activation, jobId: 'absent', waitingSince: NOON - 120_000 },
  { version: 1, kind: 'part', groupId: 'g', partId: '0', waitingSince: NOON, isReminder: true },
];
const isForRunner = (body: string) => Boolean(parseActivation(body) ?? parsePartWork(body));

describe('activations', () => {
  test(
    'what can be read is done with, what cannot comes again, and the run beside it is done',
    async () => {
      const property = fc.asyncProperty(batchesOf(oddTexts(ACTIVATIONS)), (batches) =>
        inWorld(async (world) => {
          const { ports } = world.client;
          for (const [batch, texts] of batches.entries()) {
            inputs.count('activations', texts.length);
            const jobId = `good-${batch}`;
            await world.client.post('/jobs', JSON.stringify({ ...JOBS[3], jobId }));
            const good = (await ports.activations.receive(10)).map(({ body }) => body);
            const odd = await filledIn(texts, world);
            const messages = received([...odd, ...good], ports.clock.now());
            const left = await world.client.world.untilOver(runActivations(messages, ports));
            expect(left).toEqual(odd.flatMap((body, i) => (isForRunner(body) ? [] : [`m${i}`])));
            expect((await world.client.world.runsOf(jobId)).map(({ state }) => state)).toEqual(['DONE']);
          }
        }),
      );
      await check(property, runs(10));
    },
    LONG_MS,
  );

  test(
    'in the dead-letter queue: what can be read leaves it, what cannot stays, and what lies beside it is sent again',
    async () => {
      const property = fc.asyncProperty(batchesOf(oddTexts(ACTIVATIONS)), (batches) =>
        inWorld(async (world) => {
          const { ports, world: inner } = world.client;
          for (const [batch, texts] of batches.entries()) {
            inputs.count('dead letters', texts.length);
            const jobId = `good-${batch}`;
            await world.client.post('/jobs', JSON.stringify({ ...JOBS[3], jobId }));
            const good = (await ports.activations.receive(10)).map(({ body }) => body);
            const odd = await filledIn(texts, world);
            const before = inner.notes.length;
            await ports.deadActivations.send([...odd, ...good].map((body) => ({ body })));
            await inner.untilOver(tick({ loopStartedAt: ports.clock.now(), isFirst: true }, ports));
            await inner.clock.advance(3_600_000);
            const stay = (await taken(ports.deadActivations)).sort();
            expect(stay).toEqual(odd.filter((body) => !isForRunner(body)).sort());
            expect(inner.notes.slice(before).filter(({ what }) => what === 'dead-letters-not-sent-again')).toEqual([]);
            await world.client.run();
            expect((await inner.runsOf(jobId)).map(({ state }) => state)).toEqual(['DONE']);
          }
        }),
      );
      await check(property, runs(10));
    },
    LONG_MS,
  );
});

describe('notices', () => {
  const event = { specversion: '1.0', id: 'x:3', source: '/jobs/standing', subject: 'x', type: 'escapement.run.done' };
  const notice = { version: 1, jobId: 'standing', lifeId: ':life', state: 'DONE', event };
  const valid = [notice, { ...notice, notifyId: 'x', heldBackSince: NOON }];

  test(
    'what can be read is delivered, what cannot comes again, and the subscriber hears of what lies beside it',
    async () => {
      const property = fc.asyncProperty(batchesOf(oddTexts(valid)), (batches) =>
        inWorld(async (world) => {
          const { ports, world: inner } = world.client;
          const { lifeId } = (await ports.jobs.read('standing'))!;
          for (const [batch, texts] of batches.entries()) {
            inputs.count('notices', texts.length);
            const odd = texts.map((text) => text.replaceAll(':life', lifeId));
            const good = JSON.stringify({ ...notice, lifeId, event: { ...event, id: `good-${batch}` } });
            const left = await inner.untilOver(deliverNotices(received([...odd, good], ports.clock.now()), ports));
            expect(left).toEqual(odd.flatMap((body, i) => (parseNotice(body) ? [] : [`m${i}`])));
            const heard = inner.callsOf('notify-me').filter(({ event: { id } }) => id === `good-${batch}`);
            expect(heard).toHaveLength(1);
          }
        }),
      );
      await check(property, runs(8));
    },
    LONG_MS,
  );
});
