import { fitAttempts, type AttemptPage } from '../../src/domain/attempts';
import { withAttempt, type Run } from '../../src/domain/run';
import { aStartedRun, NOON } from '../support/builders';

const numbers = ({ records }: Pick<AttemptPage, 'records'>) => records.map(({ attempt }) => attempt);
const tried = (run: Run, attempt: number): Run => ({
  ...run,
  attempts: withAttempt(run, { attempt, startedAt: NOON, finishedAt: NOON, reason: 'attempt-failed' }),
});

test('ten attempts stay in the row, and nothing is kept beside it', () => {
  let run: Run = aStartedRun();
  for (let attempt = 1; attempt <= 10; attempt++) run = tried(run, attempt);
  expect(fitAttempts(run)).toEqual({ run, pages: [] });
});

test('of a hundred attempts the row has the latest few, and the pages beside it have the others, each once', () => {
  const pages: AttemptPage[] = [];
  let run: Run = aStartedRun();
  for (let attempt = 1; attempt <= 100; attempt++) {
    const fitted = fitAttempts(tried(run, attempt));
    run = fitted.run;
    pages.push(...fitted.pages);
    expect(run.attempts.length).toBeLessThanOrEqual(10);
  }
  const all = [...pages.flatMap(numbers), ...numbers({ records: run.attempts })];
  expect(all).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(pages.map(({ first }) => first)).toEqual(Array.from({ length: 18 }, (_, index) => index * 5));
  expect(run.attemptsBeside).toBe(90);
});

test('attempts that were not taken out of the row in time come to the same pages', () => {
  let run: Run = aStartedRun();
  for (let attempt = 1; attempt <= 11; attempt++) run = tried(run, attempt);
  const inTime = fitAttempts(run).pages;
  expect(fitAttempts(tried(run, 12)).pages).toEqual(inTime);
});
