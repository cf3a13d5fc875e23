import { createJournal } from '../../lambdas/journal';
import { METRICS, type Measures } from '../../lambdas/metrics';
import type { Run } from '../../src/domain/run';
import { aJob, aStartedRun } from '../support/builders';

const MARKER = 'nobody-may-read-this';

let lines: string[];

beforeEach(() => {
  process.env['POWERTOOLS_DEV'] = 'true';
  lines = [];
  jest.spyOn(console, 'info').mockImplementation((line: string) => void lines.push(line));
});

test('a transition is one line with ids and the reason, and nothing that a user wrote', () => {
  const error = { type: MARKER, message: MARKER };
  const run = aStartedRun({ reason: 'claimed', result: MARKER, error });

  createJournal('runner').transition(run, aJob({ name: MARKER, payload: JSON.stringify(MARKER) }));

  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    service: 'runner',
    message: 'run',
    jobId: run.jobId,
    runId: run.runId,
    sequence: 2,
    state: 'STARTED',
    attempt: 1,
    reason: 'claimed',
  });
  expect(lines[0]).not.toContain(MARKER);
  expect(lines[0]).not.toContain('_aws');
});

test.each<[Partial<Run>, Measures]>([
  [{ state: 'STARTED', latenessMs: 12 }, { LatenessMs: 12 }],
  [{ state: 'DONE' }, { RunsDone: 1, RunsFailed: 0 }],
  [{ state: 'FAILED' }, { RunsDone: 0, RunsFailed: 1 }],
  [{ state: 'SKIPPED', alsoCovers: 4 }, { RunsSkipped: 5 }],
  [{ state: 'CANCELLED' }, { RunsCancelled: 1 }],
])('the line of a run that is %j carries %j for the stack', (changes, measures) => {
  createJournal('runner', 'Escapement-prod').transition({ ...aStartedRun(), ...changes }, aJob());
  const names = Object.keys(measures) as (keyof Measures)[];
  expect(JSON.parse(lines[0]!)).toMatchObject({
    message: 'run',
    Stack: 'Escapement-prod',
    ...measures,
    _aws: {
      Timestamp: expect.any(Number) as number,
      CloudWatchMetrics: [
        {
          Namespace: 'Escapement',
          Dimensions: [['Stack']],
          Metrics: names.map((name) => ({ Name: name, Unit: METRICS[name] })),
        },
      ],
    },
  });
});

test('a line that tells of nothing countable carries no metric', () => {
  const journal = createJournal('runner', 'Escapement-prod');
  journal.transition({ ...aStartedRun(), state: 'RELEASED' }, aJob());
  journal.note('swept', { sentAgain: 1 });
  expect(lines.join()).not.toContain('_aws');
});
