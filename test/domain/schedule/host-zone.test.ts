import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import cases from './time-cases.json';

const script = `
  const { nextOccurrence, parseSchedule } = require('./src/domain/schedule/index.ts');
  const cases = require('./test/domain/schedule/time-cases.json').filter((c) => c.expected);
  const runs = cases.map(({ expression, timezone, from, anchor, expected }) => {
    const schedule = parseSchedule(expression, { timezone });
    let at = Date.parse(from);
    return expected.map(() => (at = nextOccurrence(schedule, at, { anchorAt: Date.parse(anchor ?? from) })));
  });
  console.log(JSON.stringify({ hours: new Date(0).getHours(), runs }));
`;

test.each([
  ['UTC', 0],
  ['America/New_York', 19],
  ['Australia/Lord_Howe', 10],
])('the cases come out the same in a process whose own time zone is %s', (TZ, hours) => {
  const output = execFileSync(process.execPath, ['--import', 'tsx', '--eval', script], {
    cwd: join(__dirname, '../../..'),
    env: { ...process.env, TZ },
    encoding: 'utf8',
  });
  const expected = cases.flatMap((c) => (c.expected === undefined ? [] : [c.expected.map((text) => Date.parse(text))]));
  expect(JSON.parse(output)).toEqual({ hours, runs: expected });
});
