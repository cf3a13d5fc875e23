import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionArn } from '../support/builders';
import { LocalProcess, type Line } from '../support/local-process';

const HANDLERS = join(__dirname, 'handlers');
const became = (state: string, jobId?: string) => (line: Line) =>
  line.event === 'transition' && line['state'] === state && (jobId === undefined || line['jobId'] === jobId);

/** The local system as a person starts it: a process of its own. */
describe('npm start', () => {
  let directory: string;
  const data = () => join(directory, 'data');
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'escapement-start-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test('shows the example jobs fired, retried and notified, and creates, lists and deletes a job as the README says', async () => {
    const system = await LocalProcess.start(['--data', data(), '--json']);
    await system.line(became('DONE', 'example-heartbeat'));
    const { body } = await system.request('GET', '/jobs');
    const names = (body as { items: { jobId: string }[] }).items.map(({ jobId }) => jobId).sort();
    expect(names).toEqual(['example-delayed', 'example-flaky', 'example-heartbeat']);
    await system.line(became('DONE', 'example-flaky'));
    const flaky = system.lines.filter((line) => line['jobId'] === 'example-flaky' && line.event === 'transition');
    expect(flaky.map(({ state }) => state)).toEqual([
      'SCHEDULED',
      'STARTED',
      'RELEASED',
      'STARTED',
      'RELEASED',
      'STARTED',
      'DONE',
    ]);
    await system.line(({ event, line }) => event === 'output' && String(line).includes('escapement.run.done'));

    const job = { name: 'hello', target: { functionArn: functionArn('job-report') }, payload: { to: 'you' } };
    const created = await system.request('POST', '/jobs', job);
    expect(created.status).toBe(201);
    const { jobId } = created.body as { jobId: string };
    await system.line(became('DONE', jobId));
    expect((await system.request('GET', `/jobs/${jobId}`)).body).toMatchObject({ name: 'hello', state: 'COMPLETED' });
    expect((await system.request('DELETE', `/jobs/${jobId}`)).status).toBe(204);
    expect((await system.request('DELETE', `/jobs/${jobId}`)).status).toBe(204);
    expect((await system.request('GET', `/jobs/${jobId}`)).status).toBe(404);
    expect(await system.end('SIGINT')).toBe(0);
  });

  test('prints plain lines where it is no terminal, whatever else the environment says', async () => {
    const system = await LocalProcess.start(['--data', data()], { env: { CI: 'true' } });
    const line = await system.line(({ line: text }) => String(text).includes('DONE'));
    expect(String(line['line'])).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}DONE {7}[\x20-\x7e]+$/);
    await system.end('SIGTERM');
  });

  test('lets the examples rest where the handlers are others, and wakes them where they are back', async () => {
    const first = await LocalProcess.start(['--data', data(), '--json']);
    await first.line(became('DONE', 'example-heartbeat'));
    // What has begun goes on with its retries, also where its code is not any more.
    await first.line(became('DONE', 'example-flaky'));
    await first.end('SIGINT');
    const second = await LocalProcess.start(['--data', data(), '--handlers', HANDLERS, '--json']);
    expect((await second.request('GET', '/jobs/example-heartbeat')).body).toMatchObject({ state: 'PAUSED' });
    await second.line(became('SKIPPED', 'example-heartbeat'));
    expect(second.lines.filter(became('FAILED'))).toEqual([]);
    await second.end('SIGINT');
    const third = await LocalProcess.start(['--data', data(), '--json']);
    await third.line(became('DONE', 'example-heartbeat'));
    await third.end('SIGINT');
  });

  test('goes on after a restart where it was, and makes no examples when it has handlers of its own', async () => {
    const args = ['--data', data(), '--handlers', HANDLERS, '--json'];
    const first = await LocalProcess.start(args);
    expect((await first.request('GET', '/jobs')).body).toEqual({ items: [] });
    const job = {
      jobId: 'later',
      target: { functionArn: functionArn('witness') },
      payload: { witness: join(directory, 'witness'), lastsMs: 1 },
      delaySeconds: 3,
    };
    expect((await first.request('POST', '/jobs', job)).status).toBe(201);
    expect(await first.end('SIGINT')).toBe(0);
    const second = await LocalProcess.start(args);
    await second.line(became('DONE', 'later'));
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('lets what is at work finish when it is told to stop', async () => {
    const args = ['--data', data(), '--handlers', HANDLERS, '--json'];
    const first = await LocalProcess.start(args);
    const payload = { witness: join(directory, 'witness'), lastsMs: 1_000 };
    await first.request('POST', '/jobs', { jobId: 'slow', target: { functionArn: functionArn('witness') }, payload });
    await first.line(became('STARTED', 'slow'));
    expect(await first.end('SIGINT')).toBe(0);
    const second = await LocalProcess.start(args);
    const { body } = await second.request('GET', '/jobs/slow/runs');
    expect((body as { items: object[] }).items).toMatchObject([{ state: 'DONE', attempt: 1 }]);
    await second.end('SIGTERM');
  });

  test('takes a Ctrl-C that arrives twice for one', async () => {
    const first = await LocalProcess.start(['--data', data(), '--handlers', HANDLERS]);
    const payload = { witness: join(directory, 'witness'), lastsMs: 1_000 };
    await first.request('POST', '/jobs', { jobId: 'slow', target: { functionArn: functionArn('witness') }, payload });
    await first.line(({ line }) => String(line).includes('STARTED'));
    const ended = first.end('SIGINT');
    await first.line(({ line }) => String(line).startsWith('finishing what is at work'));
    void first.end('SIGINT');
    expect(await ended).toBe(0);
    expect(first.lines.some(({ line }) => String(line).includes('DONE'))).toBe(true);
  });

  test('ends quietly when nobody reads its output any more', async () => {
    const args = ['--import', 'tsx', join(__dirname, '../../bin/local.ts'), '--port', '0', '--data', data()];
    const system = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    system.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await once(system.stdout, 'data');
    system.stdout.destroy();
    const [code] = (await once(system, 'close')) as [number | null];
    expect([code, errors]).toEqual([0, '']);
  });

  test('refuses a second process on the same data, and says what to do', async () => {
    const first = await LocalProcess.start(['--data', data(), '--handlers', HANDLERS]);
    await expect(LocalProcess.start(['--data', data(), '--handlers', HANDLERS])).rejects.toThrow(/in use.*--data/s);
    expect((await first.request('GET', '/health')).status).toBe(200);
    await first.end('SIGTERM');
  });

  test('refuses what it cannot use, in one line without a stack', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    for (const [args, says] of [
      [['--handlers', join(directory, 'nowhere')], /handlers folder \S*nowhere does not exist.*--handlers DIR/],
      [['--handlers', file], /handlers folder \S*file is a file.*--handlers DIR/],
      [['--handlers', ''], /--handlers.*Name a folder/],
      [['--data', ''], /--data.*Name a folder/],
      [['--retention-days', '0'], /whole number from 1 to 365/],
      [['--data', file], /file/],
      [['--concurrency', '0'], /whole number from 1 to 1000/],
      [['--nonsense'], /unknown option/],
    ] as const) {
      const starting = LocalProcess.start(['--data', data(), ...args]);
      await expect(starting).rejects.toThrow(says);
      await expect(starting).rejects.not.toThrow(/\n\s+at /);
    }
  });

  test('answers neither another host name nor a page of another origin', async () => {
    const system = await LocalProcess.start(['--data', data(), '--handlers', HANDLERS]);
    const job = { target: { functionArn: functionArn('witness') } };
    const foreign = await system.request('POST', '/jobs', job, { origin: 'https://example.com' });
    expect(foreign.status).toBe(403);
    expect((await system.request('GET', '/jobs')).body).toEqual({ items: [] });
    await system.end('SIGTERM');
  });
});
