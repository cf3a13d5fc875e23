import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionArn } from '../support/builders';
import { LocalProcess, type Line } from '../support/local-process';

/** `npm run check:long` kills a hundred times. */
const KILLS = Number(process.env['ESCAPEMENT_KILLS'] ?? 10);
const JOBS = 20 * KILLS;
const CONCURRENCY = 20;

interface RunView {
  runId: string;
  state: string;
  attempt: number;
  attempts?: { attempt: number; reason: string }[];
  reason?: string;
}

/** kill -9 of the real process while it works, over and over on one store, with a witness outside of it. */
describe(`a system that is killed ${KILLS} times while it works on ${JOBS} jobs`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-kill-'));
  const witness = join(directory, 'witness');
  const args = ['--data', join(directory, 'data'), '--handlers', join(__dirname, 'handlers'), '--json'];
  const start = () => LocalProcess.start([...args, '--concurrency', String(CONCURRENCY)]);
  const acknowledged: { jobId: string; fails: boolean }[] = [];
  const runs = new Map<string, RunView[]>();
  const recoveriesMs: number[] = [];
  let system: LocalProcess;

  const create = async (index: number) => {
    const fails = index % 10 === 0;
    const body = {
      jobId: `job-${index}`,
      target: { functionArn: functionArn('witness') },
      payload: { witness, fails, lastsMs: index % 7 === 0 ? 300 : 20 },
      ...(index % 3 === 0 ? { delaySeconds: 1 + (index % 11) } : {}),
      // Each kill may cost an attempt: they are many, so that only those that always fail end as FAILED.
      retry: { maxAttempts: fails ? 3 : 40, backoff: { kind: 'fixed', seconds: 1 } },
    };
    const answer = await system.request('POST', '/jobs', body);
    if (answer.status !== 201) throw new Error(`job ${index} was refused: ${JSON.stringify(answer.body)}`);
    acknowledged.push({ jobId: body.jobId, fails });
  };
  const isOver = ({ event, state }: Line) => event === 'transition' && ['DONE', 'FAILED'].includes(String(state));

  beforeAll(async () => {
    writeFileSync(witness, '');
    system = await start();
    let index = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      // New jobs come in while others run; a few of them at the very moment of the kill.
      const upTo = (JOBS / KILLS) * kill;
      const creating: Promise<void>[] = [];
      for (; index < upTo; index++) creating.push(create(index));
      await Promise.allSettled(creating.slice(0, -3));
      await system.line((line, all) => line.event === 'transition' && all.filter(isOver).length >= 3 + (kill % 5));
      await system.end('SIGKILL');
      await Promise.allSettled(creating);
      const killedAt = performance.now();
      system = await start();
      const readyAt = performance.now();
      const again = await system.line(({ event, state }) => event === 'transition' && state === 'STARTED');
      recoveriesMs.push(performance.now() - readyAt);
      expect(again.state).toBe('STARTED');
      expect(readyAt).toBeGreaterThan(killedAt);
    }
    for (const { jobId } of acknowledged) {
      for (;;) {
        const { body } = await system.request('GET', `/jobs/${jobId}/runs`);
        const { items } = body as { items: RunView[] };
        if (items.length > 0 && items.every(({ state }) => state === 'DONE' || state === 'FAILED')) {
          runs.set(jobId, items);
          break;
        }
        const seen = system.lines.length;
        await system.line((_, all) => all.length > seen);
      }
    }
  }, 24_000 * KILLS);

  afterAll(async () => {
    await system.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
    const shown = recoveriesMs.map((ms) => ms.toFixed(0)).join(', ');
    process.stdout.write(`ms from listening to the first attempt after each kill: ${shown}\n`);
  });

  test('lost none of what it had acknowledged: each job ran to its end, once', () => {
    expect(acknowledged.length).toBeGreaterThan(JOBS - 4 * KILLS);
    for (const { jobId, fails } of acknowledged) {
      const states = runs.get(jobId)!.map(({ state }) => state);
      expect([jobId, states]).toEqual([jobId, [fails ? 'FAILED' : 'DONE']]);
    }
  });

  test('ran again only what was in flight, as a new attempt', () => {
    const started = new Map<string, number[]>();
    for (const line of readFileSync(witness, 'utf8').trim().split('\n')) {
      const [what, runId, attempt] = line.split(' ') as [string, string, string];
      if (what === 'start') started.set(runId, [...(started.get(runId) ?? []), Number(attempt)]);
    }
    let lost = 0;
    for (const [run] of runs.values()) {
      const attempts = started.get(run!.runId) ?? [];
      expect(new Set(attempts).size).toBe(attempts.length);
      const inFlight = run!.attempts?.filter(({ reason }) => reason === 'attempt-lost').length ?? 0;
      lost += inFlight;
      // An attempt that was lost may have been lost before its code began.
      expect(attempts.length).toBeLessThanOrEqual(run!.attempt);
      expect(attempts.length).toBeGreaterThanOrEqual(run!.attempt - inFlight);
    }
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThanOrEqual(KILLS * CONCURRENCY);
  });
});
