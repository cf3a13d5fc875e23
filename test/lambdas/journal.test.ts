import { createJournal } from '../../lambdas/journal';
import { aJob, aStartedRun } from '../support/builders';

const MARKER = 'nobody-may-read-this';

test('a transition is one line with ids and the reason, and nothing that a user wrote', () => {
  process.env['POWERTOOLS_DEV'] = 'true';
  const lines: string[] = [];
  jest.spyOn(console, 'info').mockImplementation((line: string) => void lines.push(line));
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
});
