import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KillLoad } from '../support/kill-load';
import { LocalProcess } from '../support/local-process';

/** `npm run check:long` kills a hundred times. */
const KILLS = Number(process.env['ESCAPEMENT_KILLS'] ?? 10);
/** The same seed kills at the same numbers of lines; what the system does by then is its own affair. */
const SEED = Number(process.env['ESCAPEMENT_SEED'] ?? Date.now() % 1_000_000);
/** The latest kill comes after so many lines of the journal, when most of a round's work is over. */
const MOST_LINES = 80;
const MOST_TURNS = 30;
const CONCURRENCY = 20;

interface RunView {
  runId: string;
  nominalAt: string;
  state: string;
  attempt: number;
  attempts: { attempt: number; reason: string }[];
  alsoCovers?: number;
}

/** Pseudo-random numbers in [0, 1): a multiplication of which the upper bits are mixed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (Math.imul(state ^ (state >>> 15), 2_246_822_519) >>> 0) / 2 ** 32;
  };
}

const isOver = ({ state }: { state: string }) => !['SCHEDULED', 'STARTED', 'RELEASED'].includes(state);

/** kill -9 of the real process while it works, over and over on one store, with a witness outside of it. */
describe(`a system that is killed ${KILLS} times at random moments while it works (ESCAPEMENT_SEED=${SEED})`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-kill-'));
  const witness = join(directory, 'witness');
  const args = ['--data', join(directory, 'data'), '--handlers', join(__dirname, 'handlers'), '--json'];
  const load = new KillLoad(witness);
  const runs = new Map<string, RunView[]>();
  const listeningMs: number[] = [];
  const firstAttemptMs: number[] = [];
  let system: LocalProcess;
  const groupStates: string[] = [];
  let witnessed: string[];

  const start = async () =>
    (system = await LocalProcess.start([...args, '--concurrency', String(CONCURRENCY)], {
      env: { NOTICE_WITNESS: witness },
    }));

  async function restart() {
    const startedAt = performance.now();
    await start();
    const listeningAt = performance.now();
    listeningMs.push(listeningAt - startedAt);
    await system.line(({ event, state }) => event === 'transition' && state === 'STARTED');
    firstAttemptMs.push(performance.now() - listeningAt);
  }

  async function get<Body>(path: string): Promise<Body> {
    const { status, body } = await system.request('GET', path);
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}`);
    return body;
  }

  async function runsOf(jobId: string): Promise<RunView[]> {
    const all: RunView[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const from: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const page: { items: RunView[]; cursor?: string } = await get(`/jobs/${jobId}/runs?limit=100${from}`);
      all.push(...page.items);
      cursor = page.cursor;
    }
    return all;
  }

  /** Asks again with each line of the journal. */
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    for (let seen = system.lines.length; !(await isSo()); seen = system.lines.length) {
      await system.line((_, all) => all.length > seen);
    }
  }

  async function untilOver(jobId: string) {
    await until(async () => {
      const all = await runsOf(jobId);
      runs.set(jobId, all);
      if (all.length === 0 || !all.every(isOver)) return false;
      // A list shows the latest attempts of a run; one that was killed more often has others beside its row.
      runs.set(jobId, await Promise.all(all.map(({ runId }) => get<RunView>(`/jobs/${jobId}/runs/${runId}`))));
      return true;
    });
  }

  beforeAll(async () => {
    const random = randomOf(SEED);
    writeFileSync(witness, '');
    await start();
    await load.prepare(system);
    for (let kill = 1; kill <= KILLS; kill++) {
      const lines = system.lines.length + 1 + Math.floor(random() * MOST_LINES);
      const creating = load.round(system, kill);
      await system.line((_, all) => all.length >= lines);
      for (let turns = random() * MOST_TURNS; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      await system.end('SIGKILL');
      await Promise.allSettled(creating);
      await restart();
    }
    for (const { jobId } of load.jobs) await untilOver(jobId);
    const batches = [...load.batches, ...load.cancelledBatches];
    for (const path of [...load.chains.map((id) => `/chains/${id}`), ...batches.map((id) => `/batches/${id}`)]) {
      const state = async () => (await get<{ state: string }>(path)).state;
      await until(async () => (await state()) !== 'RUNNING');
      groupStates.push(await state());
    }
    // The job of each second keeps the journal going while notices are waited for.
    const done = [...runs.values()].flat().filter(({ state }) => state === 'DONE');
    await until(async () => {
      const noticed = new Set(readFileSync(witness, 'utf8').split('\n'));
      return done.every(({ runId }) => noticed.has(`notice ${runId}`));
    });
    await system.request('POST', '/jobs/every-second/pause', { reason: 'the end', by: 'the test' });
    await untilOver('every-second');
    witnessed = readFileSync(witness, 'utf8').trim().split('\n');
  }, 30_000 * KILLS);

  afterAll(async () => {
    await system.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
    const shown = (name: string, all: number[]) => {
      const sorted = [...all].sort((a, b) => a - b).map((ms) => ms.toFixed(0));
      return `${name}: median ${sorted[Math.floor(sorted.length / 2)]} ms, longest ${sorted.at(-1)} ms\n`;
    };
    process.stdout.write(
      shown('from the start to listening', listeningMs) + shown('from listening to the first attempt', firstAttemptMs),
    );
  });

  const linesOf = (what: string) => witnessed.filter((line) => line.startsWith(`${what} `));
  /** The number of the last line of the witness that begins and ends so; -1 where there is none. */
  const lastLine = (what: string, label: string) =>
    witnessed.findLastIndex((line) => line.startsWith(`${what} `) && line.endsWith(` ${label}`));
  const firstLine = (what: string, label: string) =>
    witnessed.findIndex((line) => line.startsWith(`${what} `) && line.endsWith(` ${label}`));

  test('lost none of what it had acknowledged: each job ran to its end, once', () => {
    expect(load.jobs.length).toBeGreaterThanOrEqual(20);
    for (const { jobId, fails } of load.jobs) {
      const states = runs.get(jobId)!.map(({ state }) => state);
      expect([jobId, states]).toEqual([jobId, [fails ? 'FAILED' : 'DONE']]);
    }
  });

  test('ran again only what was in flight, as a new attempt', () => {
    const starts = linesOf('start').map((line) => line.split(' ').slice(0, 3).join(' '));
    expect(new Set(starts).size).toBe(starts.length);
    const failing = new Set(load.jobs.filter(({ fails }) => fails).map(({ jobId }) => jobId));
    let lost = 0;
    for (const [jobId, [run]] of [...runs].filter(([id]) => id !== 'every-second')) {
      const reasons = run!.attempts.map(({ reason }) => reason);
      const inFlight = reasons.filter((reason) => reason === 'attempt-lost').length;
      lost += inFlight;
      const own = starts.filter((line) => line.startsWith(`start ${run!.runId} `)).length;
      // An attempt that was lost may have been lost before its code began.
      expect([jobId, own <= run!.attempt, own >= run!.attempt - inFlight]).toEqual([jobId, true, true]);
      if (!failing.has(jobId)) expect([jobId, run!.attempt]).toEqual([jobId, 1 + inFlight]);
    }
    process.stdout.write(`${load.jobs.length} jobs, ${lost} attempts that were in flight ran again\n`);
    expect(lost).toBeLessThanOrEqual(KILLS * CONCURRENCY);
  });

  test('ran nothing any more of what it had acknowledged as deleted or cancelled', () => {
    const labels = linesOf('deleted').map((line) => line.split(' ')[1]!);
    expect(labels.length).toBe(load.deleted.length + load.cancelledBatches.length);
    expect(labels.length).toBeGreaterThanOrEqual(2);
    for (const label of labels) {
      const started = witnessed.filter(
        (line) => line.startsWith('start ') && (line.endsWith(` ${label}`) || line.includes(` ${label}-`)),
      );
      expect([label, started]).toEqual([label, []]);
    }
  });

  test('brought every chain and batch to its end, and the jobs of a chain in their order', () => {
    expect(load.chains.length).toBeGreaterThan(0);
    for (const label of linesOf('created')
      .map((line) => line.split(' ')[1]!)
      .filter((each) => each.startsWith('chain-'))) {
      for (const step of [1, 2]) {
        const [ended, next] = [firstLine('end', `${label}-${step}`), firstLine('start', `${label}-${step + 1}`)];
        expect([label, step, ended >= 0 && ended < next]).toEqual([label, step, true]);
      }
      expect([label, lastLine('end', `${label}-3`) >= 0]).toEqual([label, true]);
    }
    expect(groupStates).toEqual([
      ...load.chains.map(() => 'DONE'),
      ...load.batches.map(() => 'DONE'),
      ...load.cancelledBatches.map(() => 'CANCELLED'),
    ]);
  });

  test('ran or recorded every second of the recurring job', () => {
    const records = runs.get('every-second')!;
    const covered = new Set<number>();
    for (const { nominalAt, alsoCovers = 0 } of records) {
      for (let before = 0; before <= alsoCovers; before++) covered.add(Date.parse(nominalAt) - before * 1000);
    }
    const instants = [...covered].sort((a, b) => a - b);
    expect(instants.length).toBeGreaterThan(KILLS / 2);
    expect(instants.at(-1)! - instants[0]!).toBe((instants.length - 1) * 1000);
    expect(new Set(records.map(({ state }) => state))).not.toContain('FAILED');
  });
});
