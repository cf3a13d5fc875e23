/**
 * Messages that are under way while a new version is deployed. What stands in fixtures/v1 was written by a version that was out: it
 * is never changed, only added to, and has to be understood for as long as a queue may hold it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseActivation } from '../../src/messages/activation';
import { readCommand } from '../../src/messages/commands';
import { parseNotice } from '../../src/messages/notice';
import { parsePartWork } from '../../src/messages/part-work';
import { answerCommand, REPLY_OF } from '../../src/operations/answer-command';
import { deliverNotices } from '../../src/operations/deliver-notices';
import { runActivations } from '../../src/operations/run-activation';
import type { CommandName, ReceivedMessage } from '../../src/ports';
import { aJob, functionArn, HOUR, MINUTE, NOON } from '../support/builders';
import { World } from '../support/world';

const FOLDER = join(__dirname, 'fixtures', 'v1');
const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
const textOf = (name: string) => readFileSync(join(FOLDER, `${name}.json`), 'utf8');
const valueOf = (name: string) => JSON.parse(textOf(name)) as Record<string, unknown>;

const COMMANDS = ['job-create', 'job-delete', 'notify-create', 'notify-delete'] as const;
type Command = (typeof COMMANDS)[number];
const isCommand = (name: string): name is Command => (COMMANDS as readonly string[]).includes(name);
const isReply = (name: string) => /^(job|notify)-(created|deleted)/.test(name);

/** Messages that we send to ourselves. */
function parserOf(name: string): (body: string) => unknown {
  if (name.startsWith('activation')) return parseActivation;
  return { 'part-work': parsePartWork, notice: parseNotice }[name]!;
}

const own = names.filter((name) => !isCommand(name) && !isReply(name));
const commands = names.filter(isCommand);

test('there is a message of every kind', () => {
  expect(commands).toHaveLength(COMMANDS.length);
  expect(own.sort()).toEqual(['activation', 'activation-of-a-retry', 'notice', 'part-work']);
  expect(names.filter(isReply)).toEqual(expect.arrayContaining(Object.values(REPLY_OF)));
});

test.each(own)('%s of version 1 is understood whole', (name) => {
  expect(parserOf(name)(textOf(name))).toEqual(valueOf(name));
});

test.each(own)('%s may have got a member that this version does not know', (name) => {
  const newer = JSON.stringify({ ...valueOf(name), inventedLater: { any: 1 } });
  expect(parserOf(name)(newer)).toMatchObject(valueOf(name));
});

test.each(own)('%s of a version that is not known is left for one that knows it', (name) => {
  expect(parserOf(name)(JSON.stringify({ ...valueOf(name), version: 2 }))).toBeUndefined();
});

test.each(commands)('%s of version 1 is understood', (name) => {
  const { command, refused } = readCommand(name, textOf(name));
  expect(refused).toBeUndefined();
  expect(command).toMatchObject({ requestId: valueOf(name)['requestId'] });
});

test('a job of version 1 is what its sender asked for', () => {
  expect(readCommand('job-create', textOf('job-create')).command).toMatchObject({
    job: {
      jobId: 'nightly',
      schedule: { kind: 'expression', expression: 'cron(0 3 * * ? *)', timezone: 'Europe/London' },
      payload: '{ "id": 9007199254740993 }',
      retry: { maxAttempts: 3, backoff: { kind: 'fixed', seconds: 5 } },
    },
  });
});

test.each(commands)('%s of a version that is not known is refused, and both versions are named', (name) => {
  const { refused } = readCommand(name, JSON.stringify({ ...valueOf(name), version: 2 }));
  expect(refused!.errors).toEqual([{ field: 'version', message: 'must be 1, the only version there is; got 2' }]);
});

const received = (body: string): ReceivedMessage => ({
  messageId: 'm-1',
  receipt: 'r-1',
  body,
  receives: 1,
  sentAt: NOON,
});
const ofVersion2 = (name: string) => JSON.stringify({ ...valueOf(name), version: 2 });

describe('with the system behind them', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.open({ code: { 'job-report': () => 'done', 'notify-print': () => null } });
  });
  afterEach(() => world.close());

  async function answersTo(name: CommandName, text: string): Promise<unknown[]> {
    await answerCommand(name, received(text), world.ports);
    const queue = world.ports.replies[REPLY_OF[name]];
    const replies = await queue.receive(10);
    await queue.remove(replies.map(({ receipt }) => receipt));
    return replies.map(({ body }) => JSON.parse(body) as unknown);
  }

  /** The job that the messages of version 1 are about. */
  async function nightly() {
    const { generation: id } = valueOf('activation') as { generation: string };
    const job = aJob({ jobId: 'nightly', lifeId: id, generations: [{ id, startedAt: NOON - HOUR }] });
    await world.ports.jobs.put(job);
    await world.ports.code.put({ codeId: job.codeId, kind: 'job', functionArn: job.functionArn });
  }

  // A member more is no break for whoever reads it, so only what was there is held. Ids are derived, and stay what they were: a
  // command that is repeated after an upgrade changes nothing more.
  test.each(commands)('%s of version 1 gets the reply of version 1', async (name) => {
    if (name !== 'job-create') await nightly();
    expect(await answersTo(name, textOf(name))).toMatchObject([valueOf(REPLY_OF[name])]);
  });

  test('what is refused is answered in the form of version 1, and changes nothing', async () => {
    expect(await answersTo('job-create', ofVersion2('job-create'))).toMatchObject([valueOf('job-created-refused')]);
    expect((await world.ports.jobs.list({ limit: 10 })).items).toEqual([]);
  });

  test('an activation of version 1 runs its job', async () => {
    await nightly();
    expect(await world.untilOver(runActivations([received(textOf('activation'))], world.ports))).toEqual([]);
    expect(await world.runsOf('nightly')).toMatchObject([{ state: 'DONE', nominalAt: NOON }]);
  });

  test.each(['activation', 'part-work'])(
    '%s of a version that is not known ends in the dead-letter queue as it is, and harms no neighbour',
    async (name) => {
      await nightly();
      const { activations, deadActivations } = world.ports;
      await activations.send([{ body: ofVersion2(name) }, { body: textOf('activation') }]);
      const engine = world.start();
      await world.clock.advance(3 * HOUR);
      await world.stop(engine);
      // Each first tick of a minute looks at what lies there, which hides it for a while.
      await world.clock.advance(2 * MINUTE);
      expect((await deadActivations.receive(10)).map(({ body }) => body)).toEqual([ofVersion2(name)]);
      expect(await activations.receive(10)).toEqual([]);
      expect(await world.runsOf('nightly')).toMatchObject([{ state: 'DONE' }]);
    },
  );

  test('a notice of version 1 reaches the subscriber that it means', async () => {
    const { notifyId, lifeId, event } = valueOf('notice') as { notifyId: string; lifeId: string; event: unknown };
    const functionOf = functionArn('notify-print');
    await world.ports.code.put({ codeId: 'c1', kind: 'notification', functionArn: functionOf });
    await world.ports.notifications.put({
      jobId: 'nightly',
      notifyId,
      state: 'DONE',
      functionArn: functionOf,
      codeId: 'c1',
      lifeId,
      createdAt: NOON,
    });
    expect(await deliverNotices([received(textOf('notice'))], world.ports)).toEqual([]);
    expect(world.callsOf('notify-print').map((call) => call.event)).toEqual([event]);
  });

  test('a notice of a version that is not known comes again until its queue gives it up', async () => {
    expect(await deliverNotices([received(ofVersion2('notice'))], world.ports)).toEqual(['m-1']);
    expect(world.calls).toEqual([]);
  });
});
