import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { functionArn } from '../support/builders';
import { freshFolder, removeFolder } from '../support/data-folder';
import { LocalProcess, Refusal } from '../support/local-process';
import { SmallDisk } from '../support/small-disk';

const HANDLERS = join(__dirname, 'handlers');
/** Permissions do not bind root, so that another user starts the system then. */
const AS_PLAIN_USER = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
const [mayRead = process.execPath, ...mayReadArgs] = [
  ...AS_PLAIN_USER,
  process.execPath,
  '-e',
  `require('fs').accessSync(${JSON.stringify(HANDLERS)})`,
];
const canStart = spawnSync(mayRead, mayReadArgs).status === 0;

let folder: string;
const data = () => join(folder, 'data');
let systems: LocalProcess[];
beforeEach(() => {
  folder = freshFolder();
  chmodSync(folder, 0o755);
  systems = [];
});
afterEach(async () => {
  for (const system of systems) await system.end('SIGKILL');
  if (existsSync(data())) chmodSync(data(), 0o755);
  removeFolder(folder);
});

async function start(directory: string, through: readonly string[] = []) {
  const system = await LocalProcess.start(['--data', directory, '--handlers', HANDLERS, '--json'], { through });
  systems.push(system);
  return system;
}

async function refusal(directory: string, through: readonly string[] = []): Promise<Refusal> {
  const outcome: unknown = await start(directory, through).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Refusal);
  return outcome as Refusal;
}

const IN_ONE_LINE =
  /^The data folder \S+ cannot be used: [^\n]+ Give a folder that this user may write to \(--data DIR\)\.\n$/;

(canStart ? describe : describe.skip)(
  'a user who may only read (skipped where no such user can start the system)',
  () => {
    test.each([
      ['the data folder', () => data(), 0o555],
      ['the folder that it would be made in', () => folder, 0o555],
      ['the store', () => join(data(), 'store.mdb'), 0o444],
      ['the lock of the store', () => join(data(), 'store.mdb-lock'), 0o444],
    ])('is told so in one line: %s', async (what, path, mode) => {
      if (!what.includes('made in')) await (await start(data())).end('SIGTERM');
      if (existsSync(data())) {
        chmodSync(data(), 0o777);
        for (const name of readdirSync(data())) chmodSync(join(data(), name), 0o666);
      }
      chmodSync(path(), mode);
      const { code, errors } = await refusal(data(), AS_PLAIN_USER);
      expect([code, errors]).toEqual([1, expect.stringMatching(IN_ONE_LINE)]);
      chmodSync(path(), 0o777);
      await start(data(), AS_PLAIN_USER);
    });
  },
);

const disk = SmallDisk.mount(48);
afterAll(() => disk?.unmount());
(disk ? test : test.skip)(
  'a disk that is read-only is told so in one line (skipped where none may be mounted)',
  async () => {
    const directory = join(disk!.folder, 'data');
    await (await start(directory)).end('SIGTERM');
    disk!.remount('ro');
    const { code, errors } = await refusal(directory);
    expect([code, errors]).toEqual([1, expect.stringMatching(IN_ONE_LINE)]);
    disk!.remount('rw');
    await start(directory);
    for (const system of systems) await system.end('SIGTERM');
  },
);

test('of two systems that start in the same instant one lives, and a third has its place once it is killed', async () => {
  const outcomes = await Promise.allSettled([start(data()), start(data())]);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Refusal] : []));
  expect([systems.length, refused.length]).toEqual([1, 1]);
  expect(refused[0]!.code).toBe(1);
  expect(refused[0]!.errors).toMatch(
    /^The data folder \S+ is in use by process \d+\. Stop that one first.*--data DIR\)\.\n$/,
  );
  const job = { jobId: 'kept', target: { functionArn: functionArn('witness') }, delaySeconds: 3_600 };
  expect((await systems[0]!.request('POST', '/jobs', job)).status).toBe(201);
  await systems[0]!.end('SIGKILL');
  const third = await start(data());
  expect((await third.request('GET', '/jobs/kept')).status).toBe(200);
});
