import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionArn } from '../support/builders';
import { LocalProcess, Refusal, type Line } from '../support/local-process';
import { SmallDisk } from '../support/small-disk';

const HANDLERS = join(__dirname, 'handlers');
const BIN = join(__dirname, '../../bin/local.ts');
const MB = 1024 ** 2;

let directory: string;
let witness: string;
let systems: LocalProcess[];
let mute: ChildProcess | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'escapement-full-'));
  witness = join(directory, 'witness');
  systems = [];
});
afterEach(async () => {
  for (const system of systems) await system.end('SIGKILL');
  mute?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

async function start(data: string, through: readonly string[] = []) {
  const system = await LocalProcess.start(['--data', data, '--handlers', HANDLERS, '--json'], { through });
  systems.push(system);
  return system;
}

const aJob = (jobId: string, changes: object = {}) => ({
  jobId,
  target: { functionArn: functionArn('witness') },
  payload: { witness, lastsMs: 1 },
  ...changes,
});

const isDone =
  (jobId: string) =>
  ({ event, state, jobId: of }: Line) =>
    event === 'transition' && state === 'DONE' && of === jobId;

const disk = SmallDisk.mount(48);
afterAll(() => disk?.unmount());
const onSmallDisk = disk ? describe : describe.skip;

onSmallDisk('on a disk that fills up (skipped where this user may not mount one)', () => {
  const data = () => join(disk!.folder, 'data');
  afterEach(() => {
    disk!.makeRoom();
    rmSync(data(), { recursive: true, force: true });
  });

  test('what cannot be stored is answered 507, the rest is answered as ever, and with room it is stored again', async () => {
    const system = await start(data());
    expect((await system.request('POST', '/jobs', aJob('before', { delaySeconds: 3_600 }))).status).toBe(201);
    disk!.fill(2 * MB);
    const refused = await system.request('POST', '/jobs', aJob('refused'));
    expect(refused).toMatchObject({ status: 507, body: { title: 'Insufficient storage', status: 507 } });
    expect((refused.body as { detail: string }).detail).toMatch(/disk.*data is full.*Make room/);
    const bulk = await system.request('POST', '/jobs/bulk', { jobs: [aJob('refused-too')] });
    expect(bulk.body).toMatchObject({ failed: 1, results: [{ status: 507, errors: [{ field: 'body' }] }] });
    expect((await system.request('GET', '/jobs')).body).toMatchObject({ items: [{ jobId: 'before' }] });
    await system.line(({ event }) => event === 'disk-full');
    disk!.makeRoom();
    expect((await system.request('POST', '/jobs', aJob('after'))).status).toBe(201);
    await system.line(isDone('after'));
    expect(system.lines.map(({ event }) => event)).toContain('disk-has-room');
    expect(await system.end('SIGTERM')).toBe(0);
  });

  test('what was acknowledged before runs after a restart with room', async () => {
    const full = await start(data());
    await full.request('POST', '/jobs', aJob('at-work', { payload: { witness, lastsMs: 500 } }));
    await full.request('POST', '/jobs', aJob('due-while-full', { delaySeconds: 1 }));
    await full.line(({ state, jobId }) => state === 'STARTED' && jobId === 'at-work');
    disk!.fill(0);
    // Neither the start of the one nor the end of the other can be written down.
    await full.line(({ event, error }) => event === 'message-left' && error === 'NoRoomError');
    await full.end('SIGKILL');
    disk!.makeRoom();
    const again = await start(data());
    await again.line(isDone('at-work'));
    await again.line(isDone('due-while-full'));
    await again.end('SIGTERM');
  });

  test('it is not started, and says why in one line', async () => {
    await (await start(data())).end('SIGTERM');
    disk!.fill(2 * MB);
    const refusal = (await start(data()).catch((error: unknown) => error)) as Refusal;
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal.code).toBe(1);
    expect(refusal.errors).toMatch(/^The disk that holds \S* is full: .*\n$/);
  });
});

/** Files may have so many KB here: beyond that a write fails, as on a disk whose free room cannot be asked for. */
const LIMITED = ['bash', '-c', `trap '' XFSZ; ulimit -f 1500; exec "$0" "$@"`];

test('a write that fails ends the system with one message, and nothing of what was acknowledged is lost', async () => {
  const data = join(directory, 'data');
  const limited = await start(data, LIMITED);
  const acknowledged: string[] = [];
  const padding = 'x'.repeat(50_000);
  for (let index = 0, over = false; !over; index += 1) {
    const jobId = `job-${index}`;
    const payload = { witness, lastsMs: 1, padding };
    const answer = await limited.request('POST', '/jobs', aJob(jobId, { payload })).catch(() => undefined);
    if (answer?.status === 201) acknowledged.push(jobId);
    else over = true;
  }
  expect(await limited.ended).not.toBe(0);
  expect(limited.errors).toMatch(/The store in .*data could not be written: .*start again/);
  expect(limited.errors).not.toMatch(/\n\s+at /);
  expect(acknowledged.length).toBeGreaterThan(5);
  const again = await start(data);
  for (const jobId of acknowledged) {
    for (let states: unknown[] = []; states[0] !== 'DONE';) {
      const { status, body } = await again.request('GET', `/jobs/${jobId}/runs`);
      expect(status).toBe(200);
      states = (body as { items: { state: string }[] }).items.map(({ state }) => state);
      const seen = again.lines.length;
      if (states[0] !== 'DONE') await again.line((_, all) => all.length > seen);
    }
  }
  const started = readFileSync(witness, 'utf8').split('\n');
  expect(new Set(started).size).toBe(started.length);
  await again.end('SIGTERM');
});

const hasFullDevice = existsSync('/dev/full');
(hasFullDevice ? test : test.skip)(
  'where its output finds no room, the jobs go on, and that is told once',
  async () => {
    // Writing to this device fails as on a full disk; where there is none, this test is skipped.
    const data = join(directory, 'data');
    const first = await start(data);
    await first.request('POST', '/jobs', aJob('later', { delaySeconds: 1 }));
    await first.end('SIGTERM');
    const args = ['--import', 'tsx', BIN, '--port', '0', '--data', data, '--handlers', HANDLERS];
    const output = openSync('/dev/full', 'w');
    const system = (mute = spawn(process.execPath, args, { stdio: ['ignore', output, 'pipe'] }));
    closeSync(output);
    let errors = '';
    system.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const changes = watch(directory);
    while (!existsSync(witness) || !readFileSync(witness, 'utf8').includes('end')) await once(changes, 'change');
    changes.close();
    system.kill('SIGTERM');
    const [code] = (await once(system, 'close')) as [number | null];
    expect([code, errors]).toEqual([
      0,
      expect.stringMatching(/^The output is lost from here on, and the jobs go on: .*\n$/),
    ]);
  },
);
