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

const FOLDER = join(__dirname, 'fixtures', 'v1');
const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
const textOf = (name: string) => readFileSync(join(FOLDER, `${name}.json`), 'utf8');
const valueOf = (name: string) => JSON.parse(textOf(name)) as Record<string, unknown>;

const COMMANDS = ['job-create', 'job-delete', 'notify-create', 'notify-delete'] as const;
type Command = (typeof COMMANDS)[number];
const isCommand = (name: string): name is Command => (COMMANDS as readonly string[]).includes(name);

/** Messages that we send to ourselves. */
function parserOf(name: string): (body: string) => unknown {
  if (name.startsWith('activation')) return parseActivation;
  return { 'part-work': parsePartWork, notice: parseNotice }[name]!;
}

const own = names.filter((name) => !isCommand(name));
const commands = names.filter(isCommand);

test('there is a message of every kind', () => {
  expect(commands).toHaveLength(COMMANDS.length);
  expect(own.sort()).toEqual(['activation', 'activation-of-a-retry', 'notice', 'part-work']);
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

test.each(commands)('%s of a version that is not known is answered with what is known', (name) => {
  const { refused } = readCommand(name, JSON.stringify({ ...valueOf(name), version: 2 }));
  expect(refused!.errors).toEqual([{ field: 'version', message: expect.stringContaining('must be 1') as string }]);
});
