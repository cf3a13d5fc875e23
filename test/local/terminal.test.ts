import { transition } from '../../src/domain/run';
import { scheduledRun } from '../../src/domain/activation';
import { Terminal, type TerminalMode } from '../../src/local/terminal';
import { aJob, anActivation, aStartedRun, NOON, RETENTION_MS, SECOND } from '../support/builders';

const lines: string[] = [];
const flushes: (() => void)[] = [];
const terminal = (mode: TerminalMode = 'lines', hasColour = false) =>
  new Terminal({
    mode,
    hasColour,
    write: (line) => lines.push(line),
    now: () => NOON,
    soon: (flush) => flushes.push(flush),
  });
beforeEach(() => {
  lines.length = 0;
  flushes.length = 0;
});
/** Without the clock, which shows the time of whoever looks at it. */
const shown = () => lines.map((line) => line.replace(/\d\d:\d\d:(\d\d\.\d{3})/g, 'hh:mm:$1'));
const job = aJob({ name: 'report' });
const scheduledAt = (seconds: number) =>
  scheduledRun(anActivation({ nominalAt: NOON + seconds * SECOND, dueAt: NOON + seconds * SECOND }), RETENTION_MS);

describe('the terminal', () => {
  test('shows each transition in one line', () => {
    const screen = terminal();
    const run = aStartedRun({ latenessMs: 3 });
    screen.transition(run, job);
    screen.transition(transition(run, 'DONE', NOON + 12, { finishedAt: NOON + 12 }), job);
    expect(shown()).toEqual([
      'hh:mm:00.000  STARTED    report  attempt 1, 3 ms after it was due',
      'hh:mm:00.000  DONE       report  attempt 1, took 12 ms',
    ]);
  });

  test('says what went wrong, in the first line of its words', () => {
    const error = { type: 'Error', message: 'no handler for "absent"\n    at nowhere' };
    const run = transition(aStartedRun(), 'FAILED', NOON, { reason: 'function-not-found', error });
    terminal().transition(run, job);
    expect(shown()).toEqual([
      'hh:mm:00.000  FAILED     report  function-not-found, was due hh:mm:00.000: no handler for "absent"',
    ]);
  });

  test('shows occurrences that are sent together in one line', async () => {
    const screen = terminal();
    for (const seconds of [1, 2, 3]) screen.transition(scheduledAt(seconds), job);
    screen.transition(scheduledAt(9), aJob({ name: 'other' }));
    await Promise.resolve();
    expect(shown()).toEqual([
      'hh:mm:00.000  SCHEDULED  report  3 runs, from hh:mm:01.000 to hh:mm:03.000',
      'hh:mm:00.000  SCHEDULED  other  for hh:mm:09.000',
    ]);
  });

  test('shows what is skipped together in one line for each reason', () => {
    const screen = terminal();
    for (const [seconds, reason] of [
      [1, 'paused'],
      [2, 'paused'],
      [3, 'misfire'],
    ] as const) {
      screen.transition(transition(scheduledAt(seconds), 'SKIPPED', NOON, { reason }), job);
    }
    expect(lines).toEqual([]);
    for (const flush of flushes) flush();
    expect(shown()).toEqual([
      'hh:mm:00.000  SKIPPED    report  2 runs (paused), from hh:mm:01.000 to hh:mm:02.000',
      'hh:mm:00.000  SKIPPED    report  misfire, was due hh:mm:03.000',
    ]);
  });

  test('is silent where it is asked to be, and speaks JSON where that is asked', () => {
    terminal('quiet').transition(aStartedRun(), job);
    terminal('quiet').note('tick-failed', {});
    expect(lines).toEqual([]);
    terminal('json').transition(aStartedRun(), job);
    expect(JSON.parse(lines[0]!)).toMatchObject({ event: 'transition', jobId: 'report', state: 'STARTED', attempt: 1 });
  });

  test('has colours only where they are wanted', () => {
    terminal('lines', true).transition(aStartedRun(), job);
    expect(lines[0]).toContain('\u001b[');
    terminal('lines', false).transition(aStartedRun(), job);
    expect(lines[1]).not.toContain('\u001b[');
  });
});
