import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionArn, HOUR, MINUTE } from '../support/builders';
import { freshFolder, removeFolder } from '../support/data-folder';
import { LocalProcess, type Line } from '../support/local-process';

const HANDLERS = join(__dirname, 'handlers');
const SHIFTED_CLOCK = join(__dirname, '../support/shifted-clock.cjs');

interface RunView {
  nominalAt: string;
  state: string;
  attempt: number;
  reason?: string;
  alsoCovers?: number;
}

let folder: string;
let system: LocalProcess;
let shiftMs: number;
const shiftFile = () => join(folder, 'shift');
const witness = () => join(folder, 'witness');

beforeEach(async () => {
  folder = freshFolder();
  shiftMs = 0;
  writeFileSync(witness(), '');
  writeFileSync(shiftFile(), '0');
  await start();
});
afterEach(async () => {
  await system.end('SIGKILL');
  removeFolder(folder);
});

async function start() {
  const args = ['--data', join(folder, 'data'), '--handlers', HANDLERS, '--json'];
  system = await LocalProcess.start(args, {
    nodeArgs: ['--require', SHIFTED_CLOCK],
    env: { SHIFTED_CLOCK_FILE: shiftFile() },
  });
}

function write(byMs: number) {
  shiftMs += byMs;
  writeFileSync(shiftFile(), String(shiftMs));
}

/** Sets the clock of the system, not of the machine. */
async function shift(byMs: number) {
  write(byMs);
  system.signal('SIGUSR2');
  await system.line((line) => line.event === 'clock-set' && line['shiftMs'] === shiftMs);
}

async function create(jobId: string, changes: object) {
  const payload = { witness: witness(), lastsMs: 1 };
  const job = { jobId, target: { functionArn: functionArn('witness') }, payload, ...changes };
  const { status, body } = await system.request('POST', '/jobs', job);
  expect([status, body]).toEqual([201, body]);
}

const became = (state: string, jobId: string) => (line: Line) =>
  line.event === 'transition' && line['state'] === state && line['jobId'] === jobId;

async function runsOf(jobId: string): Promise<RunView[]> {
  const { body } = await system.request('GET', `/jobs/${jobId}/runs?limit=100`);
  return (body as { items: RunView[] }).items;
}

/** Resolves once the runs of the job pass. */
async function runsUntil(jobId: string, passes: (runs: RunView[]) => boolean): Promise<RunView[]> {
  for (;;) {
    const seen = system.lines.length;
    const runs = await runsOf(jobId);
    if (passes(runs)) return runs;
    await system.line((_, all) => all.length > seen);
  }
}

function expectNoneEarly() {
  const started = system.lines.filter(({ event, state }) => event === 'transition' && state === 'STARTED');
  expect(started.length).toBeGreaterThan(0);
  for (const { jobId, latenessMs } of started) expect([jobId, Number(latenessMs) >= 0]).toEqual([jobId, true]);
}

const done = (runs: readonly RunView[]) => runs.filter(({ state }) => state === 'DONE').length;
/** Occurrences that are recorded as not run. */
const skipped = (runs: readonly RunView[]) =>
  runs.filter(({ reason }) => reason === 'misfire').reduce((sum, { alsoCovers = 0 }) => sum + 1 + alsoCovers, 0);

jest.setTimeout(60_000);

const everyHour = { schedule: 'rate(1 hour)' };

test('set forward by an hour, it runs what fell due in between, also what it had a timer for', async () => {
  await create('in-the-queue', { delaySeconds: 600 });
  await create('in-the-index', { delaySeconds: 1_800 });
  await create('later', { delaySeconds: 7_200 });
  await create('recurring', { schedule: 'rate(10 minutes)' });
  await shift(HOUR);
  await system.line(became('DONE', 'in-the-queue'));
  await system.line(became('DONE', 'in-the-index'));
  await system.line(became('DONE', 'recurring'));
  // The latest of what was missed runs, records tell of the others.
  await runsUntil('recurring', (runs) => done(runs) === 1 && skipped(runs) === 5);
  expect(await runsOf('later')).toEqual([]);
  expectNoneEarly();
});

test('set back by an hour, it goes on at once: what is due by the new clock runs, and nothing before it is', async () => {
  await create('before', {});
  await system.line(became('DONE', 'before'));
  await create('waits', { delaySeconds: 5 });
  await shift(-HOUR);
  await create('at-once', {});
  await system.line(became('DONE', 'at-once'));
  // Further away than a queue can delay, so that a tick has to find it.
  await create('by-a-tick', { delaySeconds: 1_000 });
  await shift(995_000);
  await system.line(became('DONE', 'by-a-tick'));
  expect(await runsOf('waits')).toEqual([]);
  await shift(HOUR);
  await system.line(became('DONE', 'waits'));
  expectNoneEarly();
});

test('set back by an hour while it is stopped, it does the same', async () => {
  await create('every-second', { schedule: 'rate(1 second)' });
  await system.line(became('DONE', 'every-second'));
  await system.end('SIGTERM');
  write(-HOUR);
  await start();
  await create('by-a-tick', { delaySeconds: 1_000 });
  await shift(995_000);
  await system.line(became('DONE', 'by-a-tick'));
  expectNoneEarly();
});

test('after a sleep of eight hours it does with what was missed as the policies say, and finishes what was at work', async () => {
  await create('latest', everyHour);
  await create('all', { ...everyHour, misfire: { policy: 'run-all', graceSeconds: 60 } });
  await create('none', { ...everyHour, misfire: { policy: 'skip', graceSeconds: 60 } });
  await create('one-off', { delaySeconds: 4 * 3_600 });
  await create('at-work', { payload: { witness: witness(), lastsMs: 1_000 } });
  await system.line(became('STARTED', 'at-work'));
  system.signal('SIGSTOP');
  const awake = shift(8 * HOUR + 10 * MINUTE);
  system.signal('SIGCONT');
  await awake;
  await system.line(became('DONE', 'one-off'));
  await system.line(became('DONE', 'at-work'));
  await runsUntil('latest', (runs) => done(runs) === 1 && skipped(runs) === 7);
  await runsUntil('all', (runs) => done(runs) === 8 && skipped(runs) === 0);
  await runsUntil('none', (runs) => done(runs) === 0 && skipped(runs) === 8);
  const [atWork] = await runsOf('at-work');
  const starts = readFileSync(witness(), 'utf8').match(/^start .*$/gm)!;
  expect(new Set(starts).size).toBe(starts.length);
  // Its lease ran out in the sleep, so that it may have been taken for lost; it is the only one that was.
  expect(atWork!.attempt).toBeLessThanOrEqual(2);
  expect(starts).toHaveLength(1 + 8 + 1 + atWork!.attempt);
  expectNoneEarly();
});
