import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/adapters/local/database';
import { LocalRunStore } from '../../src/adapters/local/run-store';
import { startLocalSystem, type LocalSystem } from '../../src/local/system';
import { Terminal } from '../../src/local/terminal';
import { DAY, functionArn } from '../support/builders';
import { freshFolder, removeFolder } from '../support/data-folder';

interface Line {
  event: string;
  [field: string]: unknown;
}

let folder: string;
let system: LocalSystem | undefined;
let url: string;
let lines: Line[];
let heard: () => void;

beforeEach(() => {
  folder = freshFolder();
  lines = [];
  heard = () => {};
  mkdirSync(join(folder, 'handlers'));
  handler('quick', 'module.exports = () => null;');
});
afterEach(async () => {
  await system?.stop();
  system = undefined;
  removeFolder(folder);
});

function handler(name: string, text: string) {
  writeFileSync(join(folder, 'handlers', `${name}.cjs`), text);
}

async function start(options: { concurrency: number; retentionDays: number }) {
  const write = (line: string) => {
    lines.push(JSON.parse(line) as Line);
    heard();
  };
  system = await startLocalSystem({
    port: 0,
    dataDirectory: join(folder, 'data'),
    handlersDirectory: join(folder, 'handlers'),
    hasExamples: false,
    terminal: new Terminal({ mode: 'json', hasColour: false, write, now: () => Date.now() }),
    onListening: (at) => (url = at),
    onFault: (fault) => {
      throw fault;
    },
    ...options,
  });
}

async function post(path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(201);
}

/** The first line, past or to come, that passes. */
async function line(passes: (line: Line) => boolean): Promise<Line> {
  for (;;) {
    const found = lines.find(passes);
    if (found) return found;
    await new Promise<void>((resolve) => (heard = resolve));
  }
}

const became = (jobId: string, state: string) => (line: Line) =>
  line.event === 'transition' && line['jobId'] === jobId && line['state'] === state;

test('a subscriber is called while a long job has the only place for jobs', async () => {
  const released = join(folder, 'released');
  handler(
    'long',
    `const { existsSync } = require('node:fs');
     module.exports = async () => {
       while (!existsSync(${JSON.stringify(released)})) await new Promise((resolve) => setTimeout(resolve, 5));
     };`,
  );
  handler('tell', 'module.exports = ({ type }) => console.log(type);');
  await start({ concurrency: 1, retentionDays: 3 });
  await post('/jobs', { jobId: 'long', target: { functionArn: functionArn('long') }, delaySeconds: 1 });
  await post('/jobs/long/notifications', { state: 'STARTED', target: { functionArn: functionArn('tell') } });
  await line(({ event, line }) => event === 'output' && line === 'escapement.run.started');
  expect(lines.filter(became('long', 'DONE'))).toEqual([]);
  expect(lines.filter(({ event }) => event === 'not-notified')).toEqual([]);
  writeFileSync(released, '');
  await line(became('long', 'DONE'));
});

test('the record of a run is kept for the days that were asked for', async () => {
  await start({ concurrency: 1, retentionDays: 2 });
  await post('/jobs', { jobId: 'once', target: { functionArn: functionArn('quick') } });
  await line(became('once', 'DONE'));
  await system!.stop();
  system = undefined;
  const database = await openDatabase(join(folder, 'data'));
  const { items } = await new LocalRunStore(database, { shards: 4 }).list({ jobId: 'once', limit: 10 });
  await database.close();
  expect(items.map(({ expiresAt, nominalAt }) => expiresAt - nominalAt)).toEqual([2 * DAY]);
});

test('no line of the journal has a word of a payload, a result or an error of a user', async () => {
  const marker = 'nobody-may-read-this';
  handler('tells', `module.exports = () => ({ result: '${marker}' });`);
  handler('fails', `module.exports = () => { throw Object.assign(new Error('${marker}'), { name: '${marker}' }); };`);
  await start({ concurrency: 1, retentionDays: 3 });
  const job = (jobId: string) => ({
    jobId,
    name: marker,
    payload: marker,
    target: { functionArn: functionArn(jobId) },
    retry: { maxAttempts: 1 },
  });
  await post('/jobs', { ...job('tells'), delaySeconds: 1 });
  await post('/jobs/tells/notifications', { state: 'DONE', target: { functionArn: functionArn('fails') } });
  await post('/jobs', job('fails'));
  await line(became('fails', 'FAILED'));
  await line(became('tells', 'DONE'));
  await line(({ event }) => event === 'not-notified');
  // Its own output, to which its errors go too, is for the code to answer for.
  const journal = lines.filter(({ event }) => event !== 'output');
  expect(journal.filter((each) => JSON.stringify(each).includes(marker))).toEqual([]);
});
