import { RUN_CASES } from '../domain/schedule/further-cases';
import { containing } from '../support/matchers';
import { Client } from './client';

let client: Client;
beforeAll(async () => (client = await Client.open()));
afterAll(() => client.close());

const preview = (parameters: Record<string, string>) =>
  client.send(`/schedules/preview?${new URLSearchParams(parameters).toString()}`);

test('a preview tells what a schedule means, when it runs, in both clocks, and what the clocks will do to it', async () => {
  const { status, headers, text, json } = await preview({
    expression: 'cron(30 1 * * ? *)',
    timezone: 'Europe/London',
    from: '2027-03-27T00:00:00Z',
    count: '2',
  });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json');
  expect(json).toEqual({
    expression: 'cron(30 1 * * ? *)',
    timezone: 'Europe/London',
    description: 'At 01:30 every day (Europe/London)',
    occurrences: ['2027-03-27T01:30:00Z', '2027-03-29T00:30:00Z'],
    local: ['2027-03-27T01:30:00+00:00', '2027-03-29T01:30:00+01:00'],
    skipped: [
      { localTime: '2027-03-28T01:30:00', gapAt: '2027-03-28T01:00:00Z' },
      { localTime: '2028-03-26T01:30:00', gapAt: '2028-03-26T01:00:00Z' },
    ],
    repeated: [{ localTime: '2027-10-31T01:30:00', firstAt: '2027-10-31T00:30:00Z', secondAt: '2027-10-31T01:30:00Z' }],
    warnings: [containing('does not exist'), containing('comes twice')],
  });
  const members = ['expression', 'timezone', 'description', 'occurrences', 'local', 'skipped', 'repeated', 'warnings'];
  expect(Object.keys(JSON.parse(text) as object)).toEqual(members);
});

test('by itself it shows five runs from now, in UTC', async () => {
  const { json } = await preview({ expression: '@hourly' });
  expect(json).toMatchObject({
    timezone: 'UTC',
    occurrences: [13, 14, 15, 16, 17].map((hour) => `2027-05-04T${hour}:00:00Z`),
    local: [13, 14, 15, 16, 17].map((hour) => `2027-05-04T${hour}:00:00+00:00`),
    warnings: [],
  });
});

test('a schedule that ends shows fewer', async () => {
  const { json } = await preview({ expression: 'cron(0 0 1 1 ? 2028,2030)' });
  expect(json).toMatchObject({ occurrences: ['2028-01-01T00:00:00Z', '2030-01-01T00:00:00Z'] });
  expect(json.warnings).toEqual([containing('these 2 runs')]);
});

test.each(RUN_CASES)('the API tells of $expression in $timezone after $from what the command line tells', async (c) => {
  const { json } = await preview({
    ...{ expression: c.expression, timezone: c.timezone, from: c.from, count: String(c.expected.length) },
    ...(c.gap === undefined ? {} : { dstGap: c.gap }),
    ...(c.overlap === undefined ? {} : { dstOverlap: c.overlap }),
    ...(c.anchor === undefined ? {} : { anchor: c.anchor }),
  });
  expect(json.occurrences).toEqual(c.expected);
});

test('nothing is created, and there is only reading', async () => {
  await preview({ expression: 'rate(1 second)' });
  expect((await client.send('/jobs')).json.items).toEqual([]);
  const answer = await client.post('/schedules/preview', '{}');
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect((await client.send('/schedules')).status).toBe(404);
});

describe('a preview is refused with the parameter named:', () => {
  const right = { expression: '@daily' };
  test.each([
    [{}, 'expression', 'is missing; it must be an expression such as cron(0 9 * * ? *)'],
    [{ expression: '' }, 'expression', 'is empty: write for example'],
    [
      { expression: 'rate(0 minutes)' },
      'expression',
      'value: 0 would never come round: write a whole number from 1 up',
    ],
    [{ expression: 'cron(0 22-2 * * ? *)' }, 'expression', 'hours: "22-2" is a range that runs backwards'],
    [
      { expression: 'at(2026-01-01T00:00:00)' },
      'expression',
      'names nothing after 2027-05-04T12:00:00Z: write a time or a year',
    ],
    [
      { expression: 'at(2027-06-01T09:00:00)', from: '2028-01-01T00:00:00Z' },
      'expression',
      'after 2028-01-01T00:00:00Z',
    ],
    [{ expression: 'cron(0 0 1 1 ? 2026)' }, 'expression', 'names nothing after'],
    [{ expression: `${'0,'.repeat(130)}0 * * * *` }, 'expression', 'has 269 characters, allowed are 1 to 256'],
    [
      { ...right, timezone: 'Mars/Phobos' },
      'timezone',
      'is not a time zone of the IANA data: write a name such as Europe/Berlin',
    ],
    [{ ...right, timezone: '' }, 'timezone', 'is empty'],
    [{ ...right, from: 'tomorrow' }, 'from', 'must be an instant with Z or an offset, such as'],
    [{ ...right, from: '2027-02-30T00:00:00Z' }, 'from', 'must be an instant'],
    [
      { ...right, from: '2027-01-01T00:00:00 02:00' },
      'from',
      'in a URL, + is written as %2B; got "2027-01-01T00:00:00 02:00"',
    ],
    [{ ...right, anchor: '1' }, 'anchor', 'must be an instant'],
    [{ ...right, count: '0' }, 'count', 'must be a whole number from 1 to 1000; got "0"'],
    [{ ...right, count: '1001' }, 'count', 'got "1001"'],
    [{ ...right, count: '' }, 'count', 'got ""'],
    [{ ...right, dstGap: 'jump' }, 'dstGap', 'must be one of skip, run-after; got "jump"'],
    [{ ...right, dstOverlap: '' }, 'dstOverlap', 'must be one of first, second, both; got ""'],
    [{ ...right, timeZone: 'UTC' }, 'timeZone', 'did you mean timezone?'],
  ] as [Record<string, string>, string, string][])('%j', async (parameters, field, says) => {
    const answer = await preview(parameters);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json.errors).toEqual([{ field, message: containing(says) }]);
  });

  test('everything that is wrong, an entry each', async () => {
    const wrong = {
      expression: 'x',
      timezone: 'PST',
      from: 'x',
      anchor: 'x',
      count: 'x',
      dstGap: 'x',
      dstOverlap: 'x',
    };
    const { json } = await preview(wrong);
    expect(json.errors.map(({ field }) => field).sort()).toEqual(Object.keys(wrong).sort());
  });
});

test('blanks that a form writes as + are read as blanks', async () => {
  const { json } = await client.send('/schedules/preview?expression=0+9+*+*+MON-FRI&count=1');
  expect(json.occurrences).toEqual(['2027-05-05T09:00:00Z']);
});
